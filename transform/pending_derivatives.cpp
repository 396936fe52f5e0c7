// Derivatives of globals, written one after the other: those of recursive ones call themselves.
#include "transform/pending_derivatives.h"

#include <algorithm>

#include <fmt/format.h>

namespace transform {

using namespace lang;

const Global* PendingDerivatives::derivativeOf(Translation& code, const Global& global,
                                               std::vector<bool> mask) {
  auto [known, isNew] = known_.try_emplace({&global, mask}, nullptr);
  if (!isNew)
    return known->second;
  std::string stem = fmt::format("{}_{}", global.name, suffix_);
  known->second = code.make.declare(freshGlobalName(code.make.module, stem));
  items_.push_back({&global, std::move(mask), known->second});
  if (!global.function)
    code.fail(code.make.range, fmt::format("`@{}`", global.name));
  return known->second;
}

std::optional<PendingDerivatives::Item> PendingDerivatives::next() {
  if (items_.empty())
    return std::nullopt;
  Item item = std::move(items_.front());
  items_.pop_front();
  return item;
}

namespace {

bool holdsParameters(const Type* type) {
  return type->kind == TypeKind::Variable || (type->result && holdsParameters(type->result)) ||
         std::ranges::any_of(type->parts, holdsParameters);
}

} // namespace

const OperatorRow& rowOf(const OperatorTable& operators, Derivative derivative) {
  return **std::ranges::find(operators.all(), derivative, &OperatorRow::derivative);
}

bool isGeneric(const Function& function, const Typing& typing) {
  return holdsParameters(typing.result(function)) ||
         std::ranges::any_of(function.parameters, [&](const Var* parameter) {
           return holdsParameters(typing.of(*parameter));
         });
}

} // namespace transform

// Derivatives of globals, written one after the other: those of recursive ones call themselves.
#include "transform/differentiate/pending_derivatives.h"

#include "lang/ir/differentiable.h"
#include "lang/ir/walk.h"
#include "lang/op/op.h"

#include <algorithm>
#include <unordered_set>

#include <fmt/format.h>

namespace transform {

using namespace lang;

const Global* PendingDerivatives::derivativeOf(Translation& code, const Global& global,
                                               std::vector<bool> mask) {
  auto [known, isNew] = known_.try_emplace({&global, mask}, nullptr);
  if (!isNew)
    return known->second;
  std::string stem = fmt::format("{}_{}", global.name, suffix_);
  known->second = code.make.declare(code.types.names.fresh(stem));
  items_.push_back({&global, std::move(mask), known->second, code.make.range});
  if (!global.function)
    code.fail(code.make.range, lang::words("`{}`", lang::globalName(global.name)));
  return known->second;
}

std::optional<PendingDerivatives::Item> PendingDerivatives::next() {
  if (items_.empty())
    return std::nullopt;
  Item item = std::move(items_.front());
  items_.pop_front();
  return item;
}

bool holdsParameters(const Type* type) {
  return type->kind == TypeKind::Variable || (type->result && holdsParameters(type->result)) ||
         std::ranges::any_of(type->parts, holdsParameters);
}

const OperatorRow& rowOf(const OperatorTable& operators, Derivative derivative) {
  return **std::ranges::find(operators.all(), derivative, &OperatorRow::derivative);
}

bool hasUnwritten(const Module& module) {
  bool found = false;
  walk(
      module, [](const Binding&) {},
      [&](const Operand& operand) {
        const auto* op = operand.value->as<OperatorRef>();
        found |= op && op->row->action == Action::Expand;
      });
  return found;
}

bool callsItself(const Global& global) {
  bool found = false;
  if (!global.function)
    return false;
  walk(
      *global.function->body, [](const Binding&) {},
      [&](const Operand& operand) { found |= operand.value == &global; });
  return found;
}

namespace {

/// What depends on given parameters, in one walk: uses come after what they depend on.
class Dependence {
public:
  Dependence(const Typing& typing, const Function& function, const std::vector<bool>& mask)
      : typing_(typing) {
    for (size_t i = 0; i < mask.size(); ++i)
      if (mask[i])
        varied_.insert(function.parameters[i]);
  }

  bool isVaried(const Expr& atom) const { return varied_.contains(&atom); }

  void add(const Binding& binding) {
    const Expr& value = *binding.value;
    if (const auto* literal = value.as<Function>())
      for (const Var* parameter : literal->parameters)
        addIf(*parameter, true);
    if (const auto* match = value.as<Match>())
      for (const Arm& arm : match->arms)
        forEachPatternVar(*arm.pattern,
                          [&](const Var& var) { addIf(var, isVaried(*match->scrutinee.value)); });
    bool isReached = false;
    forEachOperandWithin(value, [&](const Expr& atom) { isReached |= isVaried(atom); });
    addIf(*binding.var, isReached);
  }

private:
  void addIf(const Var& var, bool isReached) {
    const Type* type = typing_.of(var);
    if (isReached && (holdsFloats(type) || holdsFunctions(type)))
      varied_.insert(&var);
  }

  const Typing& typing_;
  std::unordered_set<const Expr*> varied_;
};

std::vector<bool> variedInCircle(const Translation& code, const Global& global,
                                 std::vector<bool> mask) {
  for (bool isMore = callsItself(global); isMore;) {
    isMore = false;
    Dependence dependence(code.typing, *global.function, mask);
    walk(
        *global.function->body,
        [&](const Binding& binding) {
          dependence.add(binding);
          const auto* call = binding.value->as<Call>();
          if (!call || call->callee.value != &global)
            return;
          for (size_t i = 0; i < mask.size(); ++i) {
            const Expr& argument = *call->arguments[i].value;
            bool isNew = !mask[i] && code.useful.isParameter(global, i) &&
                         holdsFloats(code.typeOf(argument)) && dependence.isVaried(argument);
            mask[i] = mask[i] || isNew;
            isMore |= isNew;
          }
        },
        [](const Operand&) {});
  }
  return mask;
}

} // namespace

const std::vector<bool>& PendingDerivatives::varied(const Translation& code, const Global& global,
                                                    const std::vector<bool>& mask) {
  auto [found, isNew] = varied_.try_emplace({&global, mask});
  if (isNew)
    found->second = variedInCircle(code, global, mask);
  return found->second;
}

bool isGeneric(const Function& function, const Typing& typing) {
  return holdsParameters(typing.result(function)) ||
         std::ranges::any_of(function.parameters, [&](const Var* parameter) {
           return holdsParameters(typing.of(*parameter));
         });
}

} // namespace transform

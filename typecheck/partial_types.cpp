// Dimensions are compared from the back.
#include "typecheck/partial_types.h"

#include "lang/op/relation.h"
#include "runtime/short_names.h"

#include <algorithm>
#include <fmt/format.h>

namespace typecheck {

namespace {

/// A size of the declaration with what its names are.
const Dim* atUse(const Dim* form, std::span<const std::pair<const Dim*, const Dim*>> names,
                 Unifier& unifier) {
  return unifier.types().substitute(form, [&](const Dim* name) {
    auto found = std::ranges::find(names, name, &std::pair<const Dim*, const Dim*>::first);
    return found == names.end() ? name : found->second;
  });
}

} // namespace

bool fits(const lang::PartialTensor& partial, const Type& type,
          std::span<const std::pair<const Dim*, const Dim*>> names, Unifier& unifier) {
  if (!type.isTensor() || (partial.dtype.bits > 0 && partial.dtype != type.dtype))
    return type.isError();
  size_t given = type.shape.size(), wanted = partial.shape.size();
  if (given < wanted || (given > wanted && !partial.hasLeading))
    return false;
  for (size_t i = 0; i < wanted; ++i) {
    const Dim* form = atUse(partial.shape[i], names, unifier);
    if (!unifier.dims().unify(form, type.shape[given - wanted + i]))
      return false;
  }
  return true;
}

std::vector<ToldSize> clashes(const lang::PartialTensor& partial, const Type& type,
                              std::span<const std::pair<const Dim*, const Dim*>> names,
                              Unifier& unifier) {
  std::vector<ToldSize> found;
  size_t wanted = partial.shape.size();
  for (size_t i = 0; type.isTensor() && i < std::min(wanted, type.shape.size()); ++i) {
    const Dim* declared = partial.shape[wanted - 1 - i];
    const Dim* known = unifier.dims().resolve(atUse(declared, names, unifier));
    if (declared->hasSymbol &&
        lang::matchDims(known, type.shape[type.shape.size() - 1 - i]) == lang::DimMatch::Different)
      found.push_back({declared, known});
  }
  return found;
}

namespace {

/// The names in what is declared of a parameter.
std::vector<const Dim*> declaredSizes(const lang::Var& parameter, TypeContext& types) {
  if (parameter.annotation)
    return namedDims(parameter.annotation);
  return parameter.partial ? namedDims(types.tensor(parameter.partial->shape, runtime::Float32))
                           : std::vector<const Dim*>{};
}

} // namespace

void tellSize(lang::Diagnostic& report, const lang::Function& function,
              std::span<const lang::Operand> arguments, size_t i, ToldSize size, Unifier& unifier) {
  std::string text =
      fmt::format("`{}` is {}", lang::dimText(size.declared), lang::dimText(size.known));
  auto wanted = namedDims(unifier.types().dimension(size.declared));
  for (size_t j = 0; j < arguments.size() && j < function.parameters.size(); ++j) {
    auto names = declaredSizes(*function.parameters[j], unifier.types());
    auto tells = [&](const Dim* name) { return std::ranges::count(names, name) > 0; };
    if (j == i || std::ranges::none_of(wanted, tells))
      continue;
    report.label(arguments[j].range, text + " by this");
    return;
  }
  report.note(text + " by the other arguments");
}

std::string partialText(const lang::PartialTensor& partial) {
  std::string text =
      partial.dtype.bits > 0 ? std::string(runtime::shortDTypeName(partial.dtype)) : "_";
  text += partial.hasLeading ? "[.." : "[";
  for (size_t i = 0; i < partial.shape.size(); ++i)
    text += fmt::format("{}{}", i > 0 || partial.hasLeading ? ", " : "",
                        lang::dimText(partial.shape[i]));
  return text + "]";
}

} // namespace typecheck

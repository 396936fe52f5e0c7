// Dimensions are compared from the back.
#include "typecheck/partial_types.h"

#include "lang/types/short_names.h"

#include <algorithm>
#include <fmt/format.h>

namespace typecheck {

bool fits(const lang::PartialTensor& partial, const Type& type,
          std::span<const std::pair<const Dim*, const Dim*>> names, Unifier& unifier) {
  if (!type.isTensor() || (partial.dtype.bits > 0 && partial.dtype != type.dtype))
    return type.isError();
  size_t given = type.shape.size(), wanted = partial.shape.size();
  if (given < wanted || (given > wanted && !partial.hasLeading))
    return false;
  for (size_t i = 0; i < wanted; ++i) {
    const Dim* form = unifier.types().substitute(partial.shape[i], [&](const Dim* name) {
      auto found = std::ranges::find(names, name, &std::pair<const Dim*, const Dim*>::first);
      return found == names.end() ? name : found->second;
    });
    if (!unifier.dims().unify(form, type.shape[given - wanted + i]))
      return false;
  }
  return true;
}

std::string partialText(const lang::PartialTensor& partial) {
  std::string text =
      partial.dtype.bits > 0 ? std::string(lang::shortDTypeName(partial.dtype)) : "_";
  text += partial.hasLeading ? "[.." : "[";
  for (size_t i = 0; i < partial.shape.size(); ++i)
    text += fmt::format("{}{}", i > 0 || partial.hasLeading ? ", " : "",
                        lang::dimText(partial.shape[i]));
  return text + "]";
}

} // namespace typecheck

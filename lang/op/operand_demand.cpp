// The words for an operand that is not what the relation wants.
#include "lang/op/operand_demand.h"

#include <fmt/format.h>

namespace lang {

std::string demandProblem(std::string_view operand, std::string_view op, const Type* wanted,
                          const Type* given) {
  return fmt::format("`{}` of `{}` must be `{}` here, but it is `{}`", operand, op,
                     typeText(wanted), typeText(given));
}

} // namespace lang

// The words for an operand that is not what the relation wants.
#include "lang/op/operand_demand.h"

#include "lang/op/op.h"

#include <fmt/format.h>

namespace lang {

std::string demandProblem(const OperatorRow& row, size_t i, const Type* wanted, const Type* given) {
  return fmt::format("`{}` of `{}` must be `{}` here, but it is `{}`", row.operand(i).name,
                     row.name, typeText(wanted), typeText(given));
}

} // namespace lang

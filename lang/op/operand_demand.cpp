// The words for an operand that is not what the relation wants.
#include "lang/op/operand_demand.h"

namespace lang {

Words demandProblem(std::string_view operand, std::string_view op, const Type* wanted,
                    const Type* given) {
  return runtime::words("`{}` of `{}` must be `{}` here, but it is `{}`", operand, op, wanted,
                        given);
}

} // namespace lang

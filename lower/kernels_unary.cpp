// Loops of the functions of one operand on own types. Those of analysis have no meaning on
// integers; planning casts their operands.
#include "lower/kernels.h"
#include "lower/scalar_ops.h"

namespace lower {

ApplyKernel unaryKernel(ScalarFunction function, Element operand) {
  return function == ScalarFunction::Reinterpret ? castKernel(operand, operand)
                                                 : loopFor<1>(function, operand);
}

} // namespace lower

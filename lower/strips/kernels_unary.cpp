// Loops of the functions of one operand on own types. Those of analysis have no meaning on
// integers; planning casts their operands. Whole numbers stay what they are when rounded.
#include "lower/strips/kernels.h"
#include "lower/strips/scalar_ops.h"

namespace lower {

ApplyKernel unaryKernel(ScalarFunction function, Element operand) {
  bool moves =
      function == ScalarFunction::Reinterpret || (isRounding(function) && !isFloat(operand));
  return moves ? castKernel(operand, operand) : loopFor<1>(function, operand);
}

} // namespace lower

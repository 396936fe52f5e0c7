// Loops of the functions of one operand on own types. Those of analysis have no meaning on
// integers; planning casts their operands. Whole numbers stay what they are when rounded.
#include "lower/elements/kernels.h"
#include "lower/elements/made_small.h"
#include "lower/elements/scalar_ops.h"
#include "lower/elements/wide_registers.h"

namespace lower {

namespace {

template <ScalarFunction function>
BATON_WIDE void wideLoop(std::byte* out, const std::byte* const* in, size_t count) {
  auto* result = reinterpret_cast<float*>(out);
  auto* a = reinterpret_cast<const float*>(in[0]);
  for (size_t j = 0; j < count; ++j)
    result[j] = stripApplied<function>(a[j], a[j], a[j]);
}

/// The loop of a function that takes many steps.
ApplyKernel wideKernel(ScalarFunction function) {
  switch (function) {
  case ScalarFunction::Exp:
    return wideLoop<ScalarFunction::Exp>;
  case ScalarFunction::Tanh:
    return wideLoop<ScalarFunction::Tanh>;
  case ScalarFunction::Sigmoid:
    return wideLoop<ScalarFunction::Sigmoid>;
  default:
    return nullptr;
  }
}

} // namespace

ApplyKernel unaryKernel(ScalarFunction function, Element operand) {
  if (!isMadeSmall && operand == Element::Float32 && wideKernel(function) && hasWideRegisters())
    return wideKernel(function);
  bool moves =
      function == ScalarFunction::Reinterpret || (isRounding(function) && !isFloat(operand));
  return moves ? castKernel(operand, operand) : loopFor<1>(function, operand);
}

} // namespace lower

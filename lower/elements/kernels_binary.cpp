// Loops of the functions of two and three operands on own types.
#include "lower/elements/kernels.h"
#include "lower/elements/scalar_ops.h"

namespace lower {

namespace {

template <typename Bits>
void selectLoop(std::byte* out, const std::byte* const* in, size_t count) {
  auto* result = reinterpret_cast<Bits*>(out);
  auto* condition = reinterpret_cast<const uint8_t*>(in[0]);
  auto *a = reinterpret_cast<const Bits*>(in[1]), *b = reinterpret_cast<const Bits*>(in[2]);
  for (size_t j = 0; j < count; ++j)
    result[j] = condition[j] != 0 ? a[j] : b[j];
}

ApplyKernel selectKernel(Element element) {
  switch (elementBytes(element)) {
  case 1:
    return selectLoop<uint8_t>;
  case 2:
    return selectLoop<uint16_t>;
  case 4:
    return selectLoop<uint32_t>;
  default:
    return selectLoop<uint64_t>;
  }
}

} // namespace

ApplyKernel unaryKernel(ScalarFunction function, Element operand);

Element computeElement(ScalarFunction function, Element element) {
  using enum ScalarFunction;
  bool moves = function == Select || function == Reinterpret;
  bool isShared = element == Element::UInt32 && !hangsOnSign(function);
  return moves || isShared || function == FixedPointMultiply ? element : wideElement(element);
}

ApplyKernel applyKernel(ScalarFunction function, Element operand) {
  if (function == ScalarFunction::Select)
    return selectKernel(operand);
  if (function == ScalarFunction::FixedPointMultiply)
    return operand == Element::Int32 ? loopOn<3, int32_t>(function) : nullptr;
  if (tensor::scalarFunctionArity(function) == 1)
    return unaryKernel(function, operand);
  return loopFor<2>(function, operand);
}

} // namespace lower

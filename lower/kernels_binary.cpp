// Loops of the functions of two operands, of Select and of FixedPointMultiply, on own types.
#include "lower/kernels.h"
#include "lower/scalar_ops.h"

namespace lower {

namespace {

using enum ScalarFunction;

template <ScalarFunction function, typename T>
void binaryLoop(std::byte* out, const std::byte* const* in, size_t count) {
  auto* result = reinterpret_cast<T*>(out);
  auto *a = reinterpret_cast<const T*>(in[0]), *b = reinterpret_cast<const T*>(in[1]);
  for (size_t j = 0; j < count; ++j)
    result[j] = narrow<T>(applyBinary<function, Compute<T>>(widen(a[j]), widen(b[j])));
}

template <ScalarFunction function, typename T>
void compareLoop(std::byte* out, const std::byte* const* in, size_t count) {
  auto* result = reinterpret_cast<uint8_t*>(out);
  auto *a = reinterpret_cast<const T*>(in[0]), *b = reinterpret_cast<const T*>(in[1]);
  for (size_t j = 0; j < count; ++j)
    result[j] = applyTest<function>(widen(a[j]), widen(b[j]));
}

template <ScalarFunction function, typename T>
void logicLoop(std::byte* out, const std::byte* const* in, size_t count) {
  auto* result = reinterpret_cast<T*>(out);
  auto *a = reinterpret_cast<const T*>(in[0]), *b = reinterpret_cast<const T*>(in[1]);
  for (size_t j = 0; j < count; ++j)
    result[j] = narrow<T>(Compute<T>(applyTest<function>(widen(a[j]), widen(b[j]))));
}

template <typename Bits>
void selectLoop(std::byte* out, const std::byte* const* in, size_t count) {
  auto* result = reinterpret_cast<Bits*>(out);
  auto* condition = reinterpret_cast<const uint8_t*>(in[0]);
  auto *a = reinterpret_cast<const Bits*>(in[1]), *b = reinterpret_cast<const Bits*>(in[2]);
  for (size_t j = 0; j < count; ++j)
    result[j] = condition[j] != 0 ? a[j] : b[j];
}

void fixedPointLoop(std::byte* out, const std::byte* const* in, size_t count) {
  auto* result = reinterpret_cast<int32_t*>(out);
  auto* a = reinterpret_cast<const int32_t*>(in[0]);
  auto* b = reinterpret_cast<const int32_t*>(in[1]);
  auto* c = reinterpret_cast<const int32_t*>(in[2]);
  for (size_t j = 0; j < count; ++j)
    result[j] = fixedPointMultiply(a[j], b[j], c[j]);
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

template <typename T>
ApplyKernel bitKernel(ScalarFunction function) {
  if constexpr (std::is_integral_v<Compute<T>>)
    switch (function) {
    case LeftShift:
      return binaryLoop<LeftShift, T>;
    case RightShift:
      return binaryLoop<RightShift, T>;
    case BitAnd:
      return binaryLoop<BitAnd, T>;
    case BitOr:
      return binaryLoop<BitOr, T>;
    case BitXor:
      return binaryLoop<BitXor, T>;
    default:
      break;
    }
  return nullptr;
}

template <typename T>
ApplyKernel arithmeticKernel(ScalarFunction function) {
  switch (function) {
  case Add:
    return binaryLoop<Add, T>;
  case Subtract:
    return binaryLoop<Subtract, T>;
  case Multiply:
    return binaryLoop<Multiply, T>;
  case Divide:
    return binaryLoop<Divide, T>;
  case FloorDivide:
    return binaryLoop<FloorDivide, T>;
  case FloorMod:
    return binaryLoop<FloorMod, T>;
  case TruncDivide:
    return binaryLoop<TruncDivide, T>;
  case TruncMod:
    return binaryLoop<TruncMod, T>;
  case Power:
    return binaryLoop<Power, T>;
  case Maximum:
    return binaryLoop<Maximum, T>;
  case Minimum:
    return binaryLoop<Minimum, T>;
  default:
    return bitKernel<T>(function);
  }
}

template <typename T>
ApplyKernel testKernel(ScalarFunction function) {
  switch (function) {
  case LogicalAnd:
    return logicLoop<LogicalAnd, T>;
  case LogicalOr:
    return logicLoop<LogicalOr, T>;
  case LogicalXor:
    return logicLoop<LogicalXor, T>;
  case Equal:
    return compareLoop<Equal, T>;
  case NotEqual:
    return compareLoop<NotEqual, T>;
  case Less:
    return compareLoop<Less, T>;
  case LessEqual:
    return compareLoop<LessEqual, T>;
  case Greater:
    return compareLoop<Greater, T>;
  default:
    return compareLoop<GreaterEqual, T>;
  }
}

} // namespace

ApplyKernel unaryKernel(ScalarFunction function, Element operand);

ApplyKernel applyKernel(ScalarFunction function, Element operand) {
  if (operand == Element::Real)
    return realApplyKernel(function);
  if (function == Select)
    return selectKernel(operand);
  if (function == FixedPointMultiply)
    return operand == Element::Int32 ? fixedPointLoop : nullptr;
  if (lang::scalarFunctionArity(function) == 1)
    return unaryKernel(function, operand);
  return withOwnElement(operand, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return function >= LogicalAnd ? testKernel<T>(function) : arithmeticKernel<T>(function);
  });
}

} // namespace lower

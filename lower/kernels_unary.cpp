// Loops of the functions of one operand on own types. On integers the functions of analysis are
// computed in double; planning casts their operands, so they are not here.
#include "lower/kernels.h"
#include "lower/scalar_ops.h"

#include <cstring>

namespace lower {

namespace {

using enum ScalarFunction;

/// A loop over `T` whose body is a template argument, so that it is inlined.
template <auto function, typename T>
void unaryLoop(std::byte* out, const std::byte* const* in, size_t count) {
  auto* result = reinterpret_cast<T*>(out);
  auto* a = reinterpret_cast<const T*>(in[0]);
  for (size_t j = 0; j < count; ++j)
    result[j] = narrow<T>(function(widen(a[j])));
}

template <auto test, typename T>
void testLoop(std::byte* out, const std::byte* const* in, size_t count) {
  auto* result = reinterpret_cast<uint8_t*>(out);
  auto* a = reinterpret_cast<const T*>(in[0]);
  for (size_t j = 0; j < count; ++j)
    result[j] = test(widen(a[j]));
}

template <typename T>
void copyLoop(std::byte* out, const std::byte* const* in, size_t count) {
  std::memmove(out, in[0], count * sizeof(T));
}

template <typename T>
Compute<T> logicalNot(const Compute<T>& a) {
  return Compute<T>(a == 0);
}

template <typename T>
bool finite(const T& a) {
  return a - a == 0;
}

template <typename T>
bool infinite(const T& a) {
  return !isNan(a) && !finite(a);
}

template <typename T>
ApplyKernel signKernel(ScalarFunction function) {
  using C = Compute<T>;
  switch (function) {
  case Negative:
    return unaryLoop<applySign<Negative, C>, T>;
  case Abs:
    return unaryLoop<applySign<Abs, C>, T>;
  case Sign:
    return unaryLoop<applySign<Sign, C>, T>;
  case LogicalNot:
    return unaryLoop<logicalNot<T>, T>;
  case IsNan:
    return testLoop<isNan<C>, T>;
  case IsFinite:
    return testLoop<finite<C>, T>;
  case IsInf:
    return testLoop<infinite<C>, T>;
  case Reinterpret:
    return copyLoop<T>;
  case BitNot:
    if constexpr (std::is_integral_v<C>)
      return unaryLoop<applySign<BitNot, C>, T>;
    return nullptr;
  default:
    return nullptr;
  }
}

template <typename T>
ApplyKernel analysisKernel(ScalarFunction function) {
  using C = Compute<T>;
  switch (function) {
  case Floor:
    return unaryLoop<applyRounding<Floor, C>, T>;
  case Ceil:
    return unaryLoop<applyRounding<Ceil, C>, T>;
  case Trunc:
    return unaryLoop<applyRounding<Trunc, C>, T>;
  case Round:
    return unaryLoop<applyRounding<Round, C>, T>;
  case RoundEven:
    return unaryLoop<applyRounding<RoundEven, C>, T>;
  case Exp:
    return unaryLoop<applyExponential<Exp, C>, T>;
  case Log:
    return unaryLoop<applyExponential<Log, C>, T>;
  case Log2:
    return unaryLoop<applyExponential<Log2, C>, T>;
  case Log10:
    return unaryLoop<applyExponential<Log10, C>, T>;
  case Sqrt:
    return unaryLoop<applyExponential<Sqrt, C>, T>;
  case Rsqrt:
    return unaryLoop<applyExponential<Rsqrt, C>, T>;
  case Erf:
    return unaryLoop<applyExponential<Erf, C>, T>;
  case Sigmoid:
    return unaryLoop<applyExponential<Sigmoid, C>, T>;
  default:
    return nullptr;
  }
}

template <typename T>
ApplyKernel trigonometricKernel(ScalarFunction function) {
  using C = Compute<T>;
  switch (function) {
  case Sin:
    return unaryLoop<applyTrigonometric<Sin, C>, T>;
  case Cos:
    return unaryLoop<applyTrigonometric<Cos, C>, T>;
  case Tan:
    return unaryLoop<applyTrigonometric<Tan, C>, T>;
  case Sinh:
    return unaryLoop<applyTrigonometric<Sinh, C>, T>;
  case Cosh:
    return unaryLoop<applyTrigonometric<Cosh, C>, T>;
  case Tanh:
    return unaryLoop<applyTrigonometric<Tanh, C>, T>;
  case Asin:
    return unaryLoop<applyTrigonometric<Asin, C>, T>;
  case Acos:
    return unaryLoop<applyTrigonometric<Acos, C>, T>;
  case Atan:
    return unaryLoop<applyTrigonometric<Atan, C>, T>;
  case Asinh:
    return unaryLoop<applyTrigonometric<Asinh, C>, T>;
  case Acosh:
    return unaryLoop<applyTrigonometric<Acosh, C>, T>;
  case Atanh:
    return unaryLoop<applyTrigonometric<Atanh, C>, T>;
  default:
    return nullptr;
  }
}

} // namespace

ApplyKernel unaryKernel(ScalarFunction function, Element operand) {
  return withOwnElement(operand, [&](auto tag) -> ApplyKernel {
    using T = typename decltype(tag)::type;
    ApplyKernel kernel = signKernel<T>(function);
    if constexpr (std::is_floating_point_v<Compute<T>>) {
      if (!kernel)
        kernel = analysisKernel<T>(function);
      if (!kernel)
        kernel = trigonometricKernel<T>(function);
    }
    return kernel;
  });
}

} // namespace lower

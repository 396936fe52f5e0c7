// The scalar functions of lang/scalar_functions.def on numbers: integers, float, double, and any
// type of reals whose functions are found by argument-dependent lookup.
//
// Nothing here traps or is undefined: integers wrap (signed ones compute as unsigned), a zero
// divisor gives 0 (the engine reports it separately), shifts may pass the width.
#pragma once

#include "lang/tensor_expr.h"

#include <cmath>
#include <cstdint>
#include <type_traits>

namespace lower {

using lang::ScalarFunction;

/// Arithmetic on an integer type without promotion to a signed int that could overflow.
template <typename T>
using Wrapping = std::conditional_t<(sizeof(T) < 4), uint32_t, std::make_unsigned_t<T>>;

template <typename T>
T integerDivide(T a, T b) {
  if (b == 0)
    return 0;
  if constexpr (std::is_signed_v<T>)
    if (b == T(-1))
      return T(Wrapping<T>(0) - Wrapping<T>(a));
  return T(a / b);
}

template <typename T>
T integerRemainder(T a, T b) {
  if (b == 0)
    return 0;
  if constexpr (std::is_signed_v<T>)
    if (b == T(-1))
      return 0;
  return T(a % b);
}

template <typename T>
T integerPower(T base, T exponent) {
  if (exponent < 0)
    return base == T(1) ? T(1) : base == T(-1) ? (exponent % 2 == 0 ? T(1) : T(-1)) : T(0);
  Wrapping<T> result = 1, square = Wrapping<T>(base);
  for (auto left = Wrapping<T>(exponent); left != 0; left >>= 1) {
    if (left & 1u)
      result *= square;
    square *= square;
  }
  return T(result);
}

template <ScalarFunction function, typename T>
T integerBinary(T a, T b) {
  using enum ScalarFunction;
  using W = Wrapping<T>;
  constexpr unsigned width = sizeof(T) * 8;
  if constexpr (function == Add)
    return T(W(a) + W(b));
  else if constexpr (function == Subtract)
    return T(W(a) - W(b));
  else if constexpr (function == Multiply)
    return T(W(a) * W(b));
  else if constexpr (function == Divide || function == TruncDivide)
    return integerDivide(a, b);
  else if constexpr (function == TruncMod)
    return integerRemainder(a, b);
  else if constexpr (function == FloorDivide) {
    T quotient = integerDivide(a, b), rest = integerRemainder(a, b);
    return T(W(quotient) - W(rest != 0 && (rest < 0) != (b < 0)));
  } else if constexpr (function == FloorMod) {
    T rest = integerRemainder(a, b);
    return rest != 0 && (rest < 0) != (b < 0) ? T(W(rest) + W(b)) : rest;
  } else if constexpr (function == Power)
    return integerPower(a, b);
  else if constexpr (function == Maximum)
    return a > b ? a : b;
  else if constexpr (function == Minimum)
    return a < b ? a : b;
  else if constexpr (function == LeftShift)
    return std::make_unsigned_t<T>(b) >= width ? T(0) : T(W(a) << b);
  else if constexpr (function == RightShift)
    return std::make_unsigned_t<T>(b) < width ? T(a >> b) : a < 0 ? T(-1) : T(0);
  else if constexpr (function == BitAnd)
    return T(a & b);
  else if constexpr (function == BitOr)
    return T(a | b);
  else {
    static_assert(function == BitXor);
    return T(a ^ b);
  }
}

template <typename T>
bool isNan(const T& a) {
  return a != a;
}

template <ScalarFunction function, typename T>
T realBinary(const T& a, const T& b) {
  using enum ScalarFunction;
  using std::floor, std::trunc, std::fmod, std::pow;
  if constexpr (function == Add)
    return a + b;
  else if constexpr (function == Subtract)
    return a - b;
  else if constexpr (function == Multiply)
    return a * b;
  else if constexpr (function == Divide)
    return a / b;
  else if constexpr (function == FloorDivide)
    return floor(T(a / b));
  else if constexpr (function == TruncDivide)
    return trunc(T(a / b));
  else if constexpr (function == TruncMod)
    return fmod(a, b);
  else if constexpr (function == FloorMod) {
    T rest = fmod(a, b);
    return rest != 0 && (rest < 0) != (b < 0) ? T(rest + b) : rest;
  } else if constexpr (function == Power)
    return pow(a, b);
  else if constexpr (function == Maximum)
    return a > b || isNan(a) ? a : b;
  else {
    static_assert(function == Minimum);
    return a < b || isNan(a) ? a : b;
  }
}

/// Arithmetic, Maximum, Minimum, and on integers shifts and bits.
template <ScalarFunction function, typename T>
T applyBinary(const T& a, const T& b) {
  if constexpr (std::is_integral_v<T>)
    return integerBinary<function, T>(a, b);
  else
    return realBinary<function, T>(a, b);
}

/// Comparison, and logic on any type.
template <ScalarFunction function, typename T>
bool applyTest(const T& a, const T& b) {
  using enum ScalarFunction;
  if constexpr (function == Equal)
    return a == b;
  else if constexpr (function == NotEqual)
    return a != b;
  else if constexpr (function == Less)
    return a < b;
  else if constexpr (function == LessEqual)
    return a <= b;
  else if constexpr (function == Greater)
    return a > b;
  else if constexpr (function == GreaterEqual)
    return a >= b;
  else if constexpr (function == LogicalAnd)
    return bool(int(a != 0) & int(b != 0));
  else if constexpr (function == LogicalOr)
    return bool(int(a != 0) | int(b != 0));
  else {
    static_assert(function == LogicalXor);
    return (a != 0) != (b != 0);
  }
}

/// Negative, Abs, Sign on any type; BitNot on integers.
template <ScalarFunction function, typename T>
T applySign(const T& a) {
  using enum ScalarFunction;
  if constexpr (function == Negative) {
    if constexpr (std::is_integral_v<T>)
      return T(Wrapping<T>(0) - Wrapping<T>(a));
    else
      return -a;
  } else if constexpr (function == Abs) {
    using std::fabs;
    if constexpr (std::is_integral_v<T>)
      return a < 0 ? T(Wrapping<T>(0) - Wrapping<T>(a)) : a;
    else
      return fabs(a);
  } else if constexpr (function == Sign) {
    return a > 0 ? T(1) : a < 0 ? T(-1) : a;
  } else {
    static_assert(function == BitNot);
    return T(~a);
  }
}

/// The functions that round to whole numbers, of floats.
template <ScalarFunction function, typename T>
T applyRounding(const T& a) {
  using enum ScalarFunction;
  using std::floor, std::ceil, std::trunc, std::round, std::nearbyint;
  if constexpr (function == Floor)
    return floor(a);
  else if constexpr (function == Ceil)
    return ceil(a);
  else if constexpr (function == Trunc)
    return trunc(a);
  else if constexpr (function == Round)
    return round(a);
  else {
    static_assert(function == RoundEven);
    return nearbyint(a);
  }
}

/// Exponentials, roots and error function, of floats.
template <ScalarFunction function, typename T>
T applyExponential(const T& a) {
  using enum ScalarFunction;
  using std::exp, std::log, std::log2, std::log10, std::sqrt, std::erf;
  if constexpr (function == Exp)
    return exp(a);
  else if constexpr (function == Log)
    return log(a);
  else if constexpr (function == Log2)
    return log2(a);
  else if constexpr (function == Log10)
    return log10(a);
  else if constexpr (function == Sqrt)
    return sqrt(a);
  else if constexpr (function == Rsqrt)
    return T(1) / sqrt(a);
  else if constexpr (function == Erf)
    return erf(a);
  else {
    static_assert(function == Sigmoid);
    return T(1) / (T(1) + exp(T(-a)));
  }
}

/// Circular and hyperbolic functions and their inverses, of floats.
template <ScalarFunction function, typename T>
T applyTrigonometric(const T& a) {
  using enum ScalarFunction;
  using std::asin, std::acos, std::atan, std::asinh, std::acosh, std::atanh;
  using std::sin, std::cos, std::tan, std::sinh, std::cosh, std::tanh;
  if constexpr (function == Sin)
    return sin(a);
  else if constexpr (function == Cos)
    return cos(a);
  else if constexpr (function == Tan)
    return tan(a);
  else if constexpr (function == Sinh)
    return sinh(a);
  else if constexpr (function == Cosh)
    return cosh(a);
  else if constexpr (function == Tanh)
    return tanh(a);
  else if constexpr (function == Asin)
    return asin(a);
  else if constexpr (function == Acos)
    return acos(a);
  else if constexpr (function == Atan)
    return atan(a);
  else if constexpr (function == Asinh)
    return asinh(a);
  else if constexpr (function == Acosh)
    return acosh(a);
  else {
    static_assert(function == Atanh);
    return atanh(a);
  }
}

/// round(a * b * 2^(c - 31)), halves up, in 64 bits or more; wraps to int32.
inline int32_t fixedPointMultiply(int32_t a, int32_t b, int32_t c) {
  int64_t product = int64_t(a) * b;
  int64_t right = int64_t(31) - c;
  if (right <= 0)
    return right > -64 ? int32_t(uint64_t(product) << -right) : 0;
  if (right > 63)
    return 0;
  int64_t whole = product >> (right - 1);
  return int32_t((whole >> 1) + (whole & 1));
}

} // namespace lower

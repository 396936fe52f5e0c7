// The scalar functions of runtime/scalar_functions.def on the numbers of the reference.
//
// A whole number of any type is kept in an int64: extended by its sign or by zeros, and of uint64
// the bits. A float is kept as an R, which is double for the program's own types and a real of many
// digits under `--precision`; a double is rounded to its type after every function.
#pragma once

#include "runtime/dtype.h"
#include "runtime/half.h"
#include "runtime/scalar_meaning.h"

#include <cmath>
#include <cstring>
#include <stdexcept>

namespace runtime {

/// Holds every whole number, and sums and differences of two.
__extension__ typedef __int128 Wide;

/// The number of an integer type or bool with these bits.
inline int64_t wrap(DType dtype, uint64_t bits) {
  unsigned unused = 64 - dtype.bits;
  return dtype.isSigned() ? int64_t(bits << unused) >> unused : int64_t(bits << unused >> unused);
}

inline Wide wideOf(DType dtype, int64_t whole) {
  return dtype.isSigned() ? Wide(whole) : Wide(uint64_t(whole));
}

/// `value` rounded to a float type, halves to even.
inline double rounded(DType dtype, double value) {
  if (dtype.bits == 64)
    return value;
  if (dtype.bits == 32)
    return float(value);
  float odd = floatRoundedToOdd(value);
  return dtype.code == DTypeCode::BFloat ? double(float(BHalf(odd))) : double(float(Half(odd)));
}

/// A whole number as a float; those of 16 bits by way of float32.
inline double floatOf(DType dtype, Wide whole) {
  return dtype.bits == 64 ? double(whole) : rounded(dtype, float(whole));
}

/// A float as a whole number: truncated, as near as the type goes, and 0 for NaN.
template <typename R>
int64_t wholeOf(DType dtype, const R& value) {
  using std::trunc;
  if (!(value == value))
    return 0;
  Wide high = (Wide(1) << (dtype.bits - (dtype.isSigned() ? 1 : 0))) - 1;
  Wide low = dtype.isSigned() ? -high - 1 : 0;
  R whole = trunc(value);
  if (whole >= R(std::ldexp(1.0, dtype.bits - (dtype.isSigned() ? 1 : 0))))
    return wrap(dtype, uint64_t(high));
  if (whole <= R(double(low)))
    return wrap(dtype, uint64_t(low));
  return whole < 0 ? int64_t(whole) : int64_t(uint64_t(whole));
}

/// Whether the function is one of integers and bool alone.
inline bool isOfBits(ScalarFunction function) {
  switch (function) {
#define SCALAR_FUNCTION(name, ...)                                                                 \
  case ScalarFunction::name:                                                                       \
    return !HasMeaning<ScalarFunction::name, double> && HasMeaning<ScalarFunction::name, int64_t>;
#include "runtime/scalar_functions.def"
#undef SCALAR_FUNCTION
  }
  return false;
}

/// One function of floats. Those that make a quotient whole take that of float32 for types of at
/// most 32 bits.
template <ScalarFunction function, typename R>
R realValue(DType dtype, const R& a, const R& b) {
  using enum ScalarFunction;
  if constexpr (std::is_same_v<R, double> && (function == FloorDivide || function == TruncDivide))
    if (dtype.bits <= 32)
      return applied<function>(float(a), float(b));
  if constexpr (HasMeaning<function, R>)
    return R(applied<function>(a, b));
  throw std::logic_error("a function of bits on floats");
}

/// A function of floats of type `dtype`, not rounded to it yet; 0 or 1 where the result is bool.
template <typename R>
R realFunction(ScalarFunction function, DType dtype, const R& a, const R& b) {
  switch (function) {
#define SCALAR_FUNCTION(name, ...)                                                                 \
  case ScalarFunction::name:                                                                       \
    return realValue<ScalarFunction::name>(dtype, a, b);
#include "runtime/scalar_functions.def"
#undef SCALAR_FUNCTION
  }
  throw std::logic_error("no scalar function");
}

/// A function of whole numbers of type `dtype`, whose divisor is not zero; the result of type
/// `dtype` or bool is what wrap() makes of it. Functions of analysis are computed in double.
uint64_t wholeFunction(ScalarFunction function, DType dtype, int64_t a, int64_t b, int64_t c);

} // namespace runtime

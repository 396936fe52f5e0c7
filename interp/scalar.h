// The scalar functions of lang/scalar_functions.def on numbers: what each of them means.
//
// A whole number of any type is kept in an int64: extended by its sign or by zeros, and of uint64
// the bits. A float is kept as an R, which is double for the program's own types and a real of many
// digits under `--precision`; a double is rounded to its type after every function.
#pragma once

#include "lang/tensor_expr.h"
#include "runtime/half.h"

#include <cmath>
#include <cstring>

namespace interp {

using lang::ScalarFunction;
using runtime::DType;

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
  float odd = runtime::floatRoundedToOdd(value);
  return dtype.code == runtime::DTypeCode::BFloat ? double(float(runtime::BHalf(odd)))
                                                  : double(float(runtime::Half(odd)));
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

/// Comparison, and logic on any type: non-zero is true.
template <typename T>
bool testFunction(ScalarFunction function, const T& a, const T& b) {
  using enum ScalarFunction;
  switch (function) {
  case Equal:
    return a == b;
  case NotEqual:
    return a != b;
  case Less:
    return a < b;
  case LessEqual:
    return a <= b;
  case Greater:
    return a > b;
  case GreaterEqual:
    return a >= b;
  case LogicalAnd:
    return a != 0 && b != 0;
  case LogicalOr:
    return a != 0 || b != 0;
  case LogicalXor:
    return (a != 0) != (b != 0);
  case LogicalNot:
    return a == 0;
  case IsNan:
    return a != a;
  case IsInf:
    return a == a && a - a != a - a;
  default:
    return a - a == a - a;
  }
}

/// Whether the value is that of testFunction.
inline bool isTest(ScalarFunction function) {
  using enum ScalarFunction;
  return (function >= LogicalAnd && function <= GreaterEqual) ||
         (function >= IsNan && function <= IsInf);
}

/// Whether a zero second operand is a fault on integers.
inline bool divides(ScalarFunction function) {
  return function >= ScalarFunction::Divide && function <= ScalarFunction::TruncMod &&
         function != ScalarFunction::Power;
}

/// Whether the function is one of integers and bool alone.
inline bool isOfBits(ScalarFunction function) {
  using enum ScalarFunction;
  return (function >= LeftShift && function <= BitXor) || function == BitNot ||
         function == FixedPointMultiply;
}

/// Exponentials, roots, circular and hyperbolic functions, and their inverses.
template <typename R>
R analysisFunction(ScalarFunction function, const R& a) {
  using enum ScalarFunction;
  using namespace std;
  switch (function) {
  case Exp:
    return exp(a);
  case Log:
    return log(a);
  case Log2:
    return log2(a);
  case Log10:
    return log10(a);
  case Sqrt:
    return sqrt(a);
  case Rsqrt:
    return R(1) / sqrt(a);
  case Sin:
    return sin(a);
  case Cos:
    return cos(a);
  case Tan:
    return tan(a);
  case Sinh:
    return sinh(a);
  case Cosh:
    return cosh(a);
  case Tanh:
    return tanh(a);
  case Asin:
    return asin(a);
  case Acos:
    return acos(a);
  case Atan:
    return atan(a);
  case Asinh:
    return asinh(a);
  case Acosh:
    return acosh(a);
  case Atanh:
    return atanh(a);
  case Erf:
    return erf(a);
  default:
    return R(1) / (R(1) + exp(R(-a)));
  }
}

/// The functions of one float that are exact.
template <typename R>
R roundingFunction(ScalarFunction function, const R& a) {
  using enum ScalarFunction;
  using namespace std;
  switch (function) {
  case Negative:
    return -a;
  case Abs:
    return fabs(a);
  case Sign:
    return a > 0 ? R(1) : a < 0 ? R(-1) : a;
  case Floor:
    return floor(a);
  case Ceil:
    return ceil(a);
  case Trunc:
    return trunc(a);
  case Round:
    return round(a);
  case RoundEven: {
    R whole = round(a);
    bool isHalfway = fabs(R(a - trunc(a))) == R(0.5);
    return isHalfway ? R(R(2) * round(R(a / R(2)))) : whole;
  }
  default:
    return analysisFunction(function, a);
  }
}

/// The quotient before it is made whole: that of float32 for types of at most 32 bits.
inline double quotient(DType dtype, double a, double b) {
  return dtype.bits <= 32 ? double(float(a / b)) : a / b;
}
template <typename R>
R quotient(DType, const R& a, const R& b) {
  return a / b;
}

/// A function of floats of type `dtype`, not rounded to it yet.
template <typename R>
R realFunction(ScalarFunction function, DType dtype, const R& a, const R& b) {
  using enum ScalarFunction;
  using namespace std;
  switch (function) {
  case Add:
    return a + b;
  case Subtract:
    return a - b;
  case Multiply:
    return a * b;
  case Divide:
    return a / b;
  case FloorDivide:
    return floor(quotient(dtype, a, b));
  case TruncDivide:
    return trunc(quotient(dtype, a, b));
  case TruncMod:
    return fmod(a, b);
  case FloorMod: {
    R rest = fmod(a, b);
    return rest != 0 && (rest < 0) != (b < 0) ? R(rest + b) : rest;
  }
  case Power:
    return pow(a, b);
  case Maximum:
    return a > b || a != a ? a : b;
  case Minimum:
    return a < b || a != a ? a : b;
  default:
    return roundingFunction(function, a);
  }
}

/// A function of whole numbers of type `dtype`, whose divisor is not zero; the result of type
/// `dtype` is what wrap() makes of it.
uint64_t wholeFunction(ScalarFunction function, DType dtype, int64_t a, int64_t b);

/// round(a * b * 2^(c - 31)), halves up.
int64_t fixedPointMultiply(int64_t a, int64_t b, int64_t c);

} // namespace interp

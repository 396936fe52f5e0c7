// Functions made of ln x: x = 2^e m with sqrt(1/2) <= m < sqrt(2), and ln m from f = m - 1, which
// is exact, by a polynomial.
#include "codegen/math/logarithm_parts.h"

#include "codegen/math/exponential_parts.h"
#include "codegen/math/functions.h"

#include <limits>

namespace codegen::functions {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

MathValue logarithm32(MathValue x) {
  MathValue isTiny = x < 0x1p-126;
  LogarithmParts parts = logarithmParts(select(isTiny, x * 0x1p23, x));
  MathValue exponent = parts.exponent - select(isTiny, 23, constant(x, 0));
  MathValue f = parts.mantissa - 1;
  MathValue square = f * f;
  // ln(1 + f) = f - f^2 / 2 + f^3 P(f), with an error of 2^-27.3.
  MathValue cubic = polynomial(f, {0.333333313, -0.250008225, 0.200012594, -0.166233465,
                                   0.142010823, -0.131595448, 0.127655908, -0.0764096826});
  MathValue rest = multiplyAdd(square * f, cubic, exponent * -2.12194440e-4);
  rest = multiplyAdd(square, -0.5, rest);
  return ofPositive(x, multiplyAdd(exponent, 0.693359375, f + rest));
}

/// ln(1 + f) = f - f^2 / 2 + s (f^2 / 2 + R(s^2)) with s = f / (2 + f), since ln(1 + f) is twice
/// the inverse hyperbolic tangent of s.
MathValue logarithm64(MathValue x) {
  MathValue isTiny = x < 0x1p-1022;
  LogarithmParts parts = logarithmParts(select(isTiny, x * 0x1p52, x));
  MathValue exponent = parts.exponent - select(isTiny, 52, constant(x, 0));
  MathValue f = parts.mantissa - 1;
  MathValue s = f / (2 + f);
  MathValue square = s * s;
  // Its error is 2^-59.5.
  MathValue rest =
      square * polynomial(square, {0.6666666666666734, 0.39999999999416397, 0.2857142874211776,
                                   0.2222219859311253, 0.1818356358964674, 0.15314063347107615,
                                   0.14795871661532517});
  MathValue half = f * f * 0.5;
  MathValue low = multiplyAdd(s, half + rest, exponent * 1.90821492927058770002e-10);
  return ofPositive(x, multiplyAdd(exponent, 6.93147180369123816490e-01, f - (half - low)));
}

} // namespace

LogarithmParts logarithmParts(MathValue x) {
  bool narrow = isNarrow(x);
  unsigned digits = mantissaBits(x);
  // From sqrt(1/2) on the exponent of the sum is that of the power below x, with its bias.
  const uint64_t rootOfHalf = narrow ? 0x3f3504f3 : 0x3fe6a09e667f3bcd;
  const uint64_t one = narrow ? 0x3f800000 : 0x3ff0000000000000;
  MathValue sum = bitsOf(x) + wholeConstant(x, one - rootOfHalf);
  MathValue mantissa =
      floatOf((sum & wholeConstant(x, (uint64_t(1) << digits) - 1)) + wholeConstant(x, rootOfHalf));
  // A whole number in the low bits of a float this large is one more than it.
  const double large = narrow ? 0x1p23 : 0x1p52;
  MathValue biased = floatOf((sum >> digits) | bitsOf(constant(x, large)));
  return {biased - (large + (narrow ? 127 : 1023)), mantissa};
}

MathValue wideLogarithm2(MathValue x) {
  LogarithmParts parts = logarithmParts(x);
  MathValue s = (parts.mantissa - 1) / (parts.mantissa + 1);
  MathValue series =
      polynomial(s * s, {2.88539008177785, 0.9617966941136258, 0.5770779422638882,
                         0.41220926388468687, 0.31990518097872284, 0.28290808175326715});
  return multiplyAdd(s, series, parts.exponent);
}

MathValue ofPositive(MathValue x, MathValue result) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  MathValue ofOthers = select(x == 0, -infinity, constant(x, nan));
  return select(0 < x, select(x < infinity, result, x), ofOthers);
}

MathValue logarithm(MathValue x) {
  return isNarrow(x) ? logarithm32(x) : logarithm64(x);
}

MathValue logarithm2(MathValue x) {
  return ofPositive(x, toFloat32(wideLogarithm2(toFloat64(x))));
}

MathValue logarithm10(MathValue x) {
  return ofPositive(x, toFloat32(wideLogarithm2(toFloat64(x)) * 0.30102999566398120));
}

} // namespace codegen::functions

// Functions made of ln x: x = 2^e m with sqrt(1/2) <= m < sqrt(2), and ln m from f = m - 1, which
// is exact, by a polynomial.
#include "codegen/math/logarithm_parts.h"

#include "codegen/math/functions.h"

namespace codegen::functions {

namespace {

MathValue logarithm32(MathValue x) {
  auto [exponent, mantissa] = logarithmPartsOfTiny(x);
  MathValue f = mantissa - 1;
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
  auto [exponent, mantissa] = logarithmPartsOfTiny(x);
  MathValue f = mantissa - 1;
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

LogarithmParts logarithmPartsOfTiny(MathValue x) {
  bool narrow = isNarrow(x);
  MathValue isTiny = x < (narrow ? 0x1p-126 : 0x1p-1022);
  LogarithmParts parts = logarithmParts(select(isTiny, x * (narrow ? 0x1p23 : 0x1p52), x));
  MathValue more = select(isTiny, double(mantissaBits(x)), constant(x, 0));
  return {parts.exponent - more, parts.mantissa};
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
  MathValue ofOthers = select(x == 0, -infinity, constant(x, nan));
  return select(0 < x, select(x < infinity, result, x), ofOthers);
}

MathValue logarithm(MathValue x) {
  return isNarrow(x) ? logarithm32(x) : logarithm64(x);
}

MathPair pairLogarithm(MathValue x) {
  auto [exponent, mantissa] = logarithmPartsOfTiny(x);
  MathValue zero = constant(x, 0);
  // ln m = 2 s + s^3 (2/3 + s^2 P(s^2)) with s = (m - 1) / (m + 1).
  MathPair s = quotient({mantissa - 1, zero}, exactSum(mantissa, constant(x, 1)));
  MathPair square = s * s;
  MathValue tail =
      polynomial(square.high, {0.3999999999999998, 0.28571428571443847, 0.2222222221778751,
                               0.18181818844342032, 0.15384558400894063, 0.13336265676694575,
                               0.1167575494788353, 0.11981980728352061});
  MathPair third = orderedSum(constant(x, 0.6666666666666666), square.high * tail);
  third.low = third.low + 3.700743415417188e-17;
  MathPair cubic = s * (square * third);
  MathPair whole = orderedSum(exponent * 0x1.62e42fefa38p-1, s.high + s.high);
  whole.low = whole.low + multiplyAdd(exponent, 5.497923018708371e-14, s.low + s.low);
  return whole + cubic;
}

namespace {

/// A logarithm to another base than e, of which the inverse of its natural logarithm is given.
MathValue ofBase64(MathValue x, PairConstant inverse) {
  MathPair result = pairLogarithm(x) * pairOf(x, inverse);
  return ofPositive(x, result.high + result.low);
}

} // namespace

MathValue logarithm2(MathValue x) {
  if (!isNarrow(x))
    return ofBase64(x, {1.4426950408889634, 2.0355273740931033e-17});
  return ofPositive(x, toFloat32(wideLogarithm2(toFloat64(x))));
}

MathValue logarithm10(MathValue x) {
  if (!isNarrow(x))
    return ofBase64(x, {0.4342944819032518, 1.098319650216765e-17});
  return ofPositive(x, toFloat32(wideLogarithm2(toFloat64(x)) * 0.30102999566398120));
}

} // namespace codegen::functions

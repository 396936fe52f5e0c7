// Inverse trigonometric functions: arguments are brought to [0, 1/2] or [0, 1], where there is a
// polynomial. Those of float32 are computed in float64.
#include "codegen/math/float_bits.h"
#include "codegen/math/functions.h"
#include "codegen/math/pair.h"

namespace codegen::functions {

namespace {

constexpr PairConstant halfPi{1.5707963267948966, 6.123233995736766e-17};
constexpr PairConstant quarterPi{0.7853981633974483, 3.061616997868383e-17};

/// The arcsine of |x|, which is s + rest: of |x| up to 1/2, and with s = sqrt((1 - |x|) / 2) half
/// of what is missing to a right angle.
struct ArcsineParts {
  MathValue isLarge;
  MathValue s;
  MathValue rest;
};

/// Of a float64, with the digits that a result of float32 needs.
ArcsineParts arcsineParts32(MathValue wide) {
  MathValue size = absolute(wide);
  MathValue isLarge = 0.5 < size;
  MathValue square = select(isLarge, (1 - size) * 0.5, size * size);
  MathValue s = select(isLarge, squareRoot(square), size);
  // Its error is 2^-31.7.
  MathValue series =
      polynomial(square, {0.16666659991855803, 0.07500504154241026, 0.044516960909754356,
                          0.03180767079293503, 0.01443878160239499, 0.03751621033498482});
  return {isLarge, s, s * square * series};
}

ArcsineParts arcsineParts64(MathValue x) {
  MathValue size = absolute(x);
  MathValue isLarge = 0.5 < size;
  MathValue square = select(isLarge, (1 - size) * 0.5, size * size);
  MathValue zero = constant(x, 0);
  MathPair root = squareRoot(MathPair{square, zero});
  MathValue s = select(isLarge, root.high, size);
  // Its error is 2^-59.8.
  MathValue series = polynomial(
      square, {0.1666666666666676, 0.0749999999997081, 0.04464285717464568, 0.03038194270472493,
               0.02237221510425298, 0.017351609480289288, 0.013980855335051964, 0.01139859620098674,
               0.010782180729418564, 0.003698589673492188, 0.02172767357433196,
               -0.021029269784620688, 0.03264844516856902});
  MathValue low = select(isLarge, root.low, zero);
  return {isLarge, s, multiplyAdd(s * square, series, low)};
}

MathValue arcsineOf(MathValue x, const ArcsineParts& parts) {
  MathValue large = halfPi.high - (2 * parts.s - (halfPi.low - 2 * parts.rest));
  return copySign(select(parts.isLarge, large, parts.s + parts.rest), x);
}

MathValue arccosineOf(MathValue x, const ArcsineParts& parts) {
  MathValue twice = 2 * parts.s + 2 * parts.rest;
  MathValue ofNegative = 2 * halfPi.high - (2 * parts.s - (2 * halfPi.low - 2 * parts.rest));
  MathValue small = halfPi.high - (copySign(parts.s, x) - (halfPi.low - copySign(parts.rest, x)));
  return select(parts.isLarge, select(x < 0, ofNegative, twice), small);
}

/// In float64, with the digits that a result of float32 needs.
MathValue arctangent32(MathValue size) {
  MathValue isLarge = 1 < size;
  MathValue s = select(isLarge, 1 / size, size);
  MathValue square = s * s;
  // Its error is 2^-28.5.
  MathValue series =
      polynomial(square, {-0.3333329909357161, 0.19998548402241248, -0.14264242831662766,
                          0.1095219164503805, -0.08403467584147857, 0.05795789517264118,
                          -0.03117815439035764, 0.010914775976747632, -0.0017936607615385595});
  MathValue angle = multiplyAdd(s * square, series, s);
  return select(isLarge, halfPi.high - angle, angle);
}

/// That of s more than a multiple of a quarter of pi, with |s| up to the tangent of an eighth of
/// it.
MathValue arctangent64(MathValue size) {
  MathValue isMiddle = 0.4142135623730950 < size;
  MathValue isLarge = 2.414213562373095 < size;
  MathValue above = select(isLarge, -1, select(isMiddle, size - 1, size));
  MathValue below = select(isLarge, size, select(isMiddle, size + 1, 1));
  MathValue s = above / below;
  MathValue square = s * s;
  // Its error is 2^-59.4.
  MathValue series = polynomial(
      square, {-0.333333333333332, 0.1999999999995365, -0.1428571428019598, 0.11111110783274236,
               -0.09090897750373066, 0.07692060070899302, -0.06663102397073115, 0.05847877691775667,
               -0.05039255538222648, 0.03806341218433187, -0.017906074868563552});
  MathValue zero = constant(size, 0);
  MathValue high = select(isLarge, halfPi.high, select(isMiddle, quarterPi.high, zero));
  MathValue low = select(isLarge, halfPi.low, select(isMiddle, quarterPi.low, zero));
  return high + (s + multiplyAdd(s * square, series, low));
}

} // namespace

MathValue arcsine(MathValue x) {
  if (!isNarrow(x))
    return arcsineOf(x, arcsineParts64(x));
  MathValue wide = toFloat64(x);
  return toFloat32(arcsineOf(wide, arcsineParts32(wide)));
}

MathValue arccosine(MathValue x) {
  if (!isNarrow(x))
    return arccosineOf(x, arcsineParts64(x));
  MathValue wide = toFloat64(x);
  return toFloat32(arccosineOf(wide, arcsineParts32(wide)));
}

MathValue arctangent(MathValue x) {
  MathValue size = absolute(x);
  MathValue angle = isNarrow(x) ? toFloat32(arctangent32(toFloat64(size))) : arctangent64(size);
  return copySign(angle, x);
}

} // namespace codegen::functions

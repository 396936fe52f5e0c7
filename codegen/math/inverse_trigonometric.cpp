// Inverse trigonometric functions: arguments are brought to [0, 1/2] or [0, 1], where there is a
// polynomial. Those of float32 are computed in float64.
#include "codegen/math/functions.h"

namespace codegen::functions {

namespace {

constexpr double halfPi = 1.5707963267948966;

/// The arcsine of |x|, which is s + s P(s^2): of |x| up to 1/2, and with s = sqrt((1 - |x|) / 2)
/// twice that is missing to a right angle.
struct ArcsineParts {
  MathValue isLarge;
  MathValue angle;
};

ArcsineParts arcsineParts(MathValue wide) {
  MathValue size = absolute(wide);
  MathValue isLarge = 0.5 < size;
  MathValue square = select(isLarge, (1 - size) * 0.5, size * size);
  MathValue s = select(isLarge, squareRoot(square), size);
  MathValue rest =
      polynomial(square, {0.16666659991855803, 0.07500504154241026, 0.044516960909754356,
                          0.03180767079293503, 0.01443878160239499, 0.03751621033498482});
  return {isLarge, multiplyAdd(s * square, rest, s)};
}

} // namespace

MathValue arcsine(MathValue x) {
  ArcsineParts parts = arcsineParts(toFloat64(x));
  MathValue large = halfPi - (parts.angle + parts.angle);
  return copySign(toFloat32(select(parts.isLarge, large, parts.angle)), x);
}

MathValue arccosine(MathValue x) {
  MathValue wide = toFloat64(x);
  ArcsineParts parts = arcsineParts(wide);
  MathValue twice = parts.angle + parts.angle;
  MathValue large = select(wide < 0, 2 * halfPi - twice, twice);
  return toFloat32(select(parts.isLarge, large, halfPi - copySign(parts.angle, wide)));
}

MathValue arctangent(MathValue x) {
  MathValue size = toFloat64(absolute(x));
  MathValue isLarge = 1 < size;
  MathValue s = select(isLarge, 1 / size, size);
  MathValue square = s * s;
  MathValue rest =
      polynomial(square, {-0.3333329909357161, 0.19998548402241248, -0.14264242831662766,
                          0.1095219164503805, -0.08403467584147857, 0.05795789517264118,
                          -0.03117815439035764, 0.010914775976747632, -0.0017936607615385595});
  MathValue angle = multiplyAdd(s * square, rest, s);
  return copySign(toFloat32(select(isLarge, halfPi - angle, angle)), x);
}

} // namespace codegen::functions

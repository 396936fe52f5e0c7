// Inverse hyperbolic functions: those of float32 by logarithms in float64, which lose no digits
// that count but near zero, where the function is its argument.
#include "codegen/math/functions.h"
#include "codegen/math/logarithm_parts.h"

#include <limits>

namespace codegen::functions {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double ln2 = 0.69314718055994531;

/// Odd functions of float32 differ from their argument by less than a tenth of a unit below this.
constexpr double nearZero = 0x1p-13;

} // namespace

MathValue inverseHyperbolicSine(MathValue x) {
  MathValue size = absolute(x);
  MathValue wide = toFloat64(size);
  MathValue root = squareRoot(multiplyAdd(wide, wide, 1));
  MathValue far = toFloat32(wideLogarithm2(wide + root) * ln2);
  MathValue isFar = (nearZero <= size) & (size < infinity);
  return copySign(select(isFar, far, size), x);
}

MathValue inverseHyperbolicCosine(MathValue x) {
  MathValue wide = toFloat64(x);
  MathValue root = squareRoot((wide - 1) * (wide + 1));
  MathValue result = toFloat32(wideLogarithm2(wide + root) * ln2);
  return select(x < 1, nan, select(x < infinity, result, x));
}

MathValue inverseHyperbolicTangent(MathValue x) {
  MathValue size = absolute(x);
  MathValue wide = toFloat64(size);
  MathValue far = toFloat32(wideLogarithm2((1 + wide) / (1 - wide)) * (ln2 / 2));
  MathValue ofOthers = select(size == 1, infinity, constant(x, nan));
  MathValue result = select(size < 1, far, ofOthers);
  return copySign(select(size < nearZero, size, result), x);
}

} // namespace codegen::functions

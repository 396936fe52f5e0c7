// Inverse hyperbolic functions, by logarithms. Those of float32 are computed in float64, which
// loses no digits that count but near zero, where the function is its argument; those of float64 by
// logarithms of twice the digits.
#include "codegen/math/functions.h"
#include "codegen/math/logarithm_parts.h"

namespace codegen::functions {

namespace {

constexpr double ln2 = 0.6931471805599453;

/// Odd functions of float32 differ from their argument by less than a tenth of a unit below this.
constexpr double nearZero = 0x1p-13;

MathValue sine32(MathValue size) {
  MathValue wide = toFloat64(size);
  MathValue root = squareRoot(multiplyAdd(wide, wide, 1));
  return select(nearZero <= size, toFloat32(wideLogarithm2(wide + root) * ln2), size);
}

MathValue cosine32(MathValue x) {
  MathValue wide = toFloat64(x);
  MathValue root = squareRoot((wide - 1) * (wide + 1));
  return toFloat32(wideLogarithm2(wide + root) * ln2);
}

MathValue tangent32(MathValue size) {
  MathValue wide = toFloat64(size);
  MathValue far = toFloat32(wideLogarithm2((1 + wide) / (1 - wide)) * (ln2 / 2));
  return select(size < nearZero, size, far);
}

/// ln(1 + u) for u >= 0, and ln(2 size) where size is so large that u would overflow or not differ
/// from it.
MathValue ofLarge(MathValue size, const MathPair& u) {
  MathValue isLarge = 0x1p28 < size;
  MathValue zero = constant(size, 0);
  MathPair sum = exactSum(constant(size, 1), u.high);
  MathPair result = pairLogarithm(select(isLarge, size, sum.high));
  MathPair more{select(isLarge, ln2, zero), select(isLarge, zero, (sum.low + u.low) / sum.high)};
  MathPair both = result + more;
  return both.high + both.low;
}

MathValue sine64(MathValue size) {
  MathValue square = size * size;
  MathValue more = square / (1 + squareRoot(1 + square));
  return ofLarge(size, exactSum(size, more));
}

MathValue cosine64(MathValue x) {
  MathValue more = x - 1;
  MathPair root = squareRoot(MathPair{more + more, constant(x, 0)} + exactProduct(more, more));
  MathPair sum = exactSum(more, root.high);
  return ofLarge(x, {sum.high, sum.low + root.low});
}

MathValue tangent64(MathValue size) {
  MathPair twice{size + size, constant(size, 0)};
  return 0.5 * ofLarge(size, quotient(twice, exactSum(constant(size, 1), -size)));
}

} // namespace

MathValue inverseHyperbolicSine(MathValue x) {
  MathValue size = absolute(x);
  MathValue result = isNarrow(x) ? sine32(size) : sine64(size);
  return copySign(select(size < infinity, result, size), x);
}

MathValue inverseHyperbolicCosine(MathValue x) {
  MathValue result = isNarrow(x) ? cosine32(x) : cosine64(x);
  return select(x < 1, nan, select(x < infinity, result, x));
}

MathValue inverseHyperbolicTangent(MathValue x) {
  MathValue size = absolute(x);
  MathValue result = isNarrow(x) ? tangent32(size) : tangent64(size);
  MathValue ofOthers = select(size == 1, infinity, constant(x, nan));
  return copySign(select(size < 1, result, ofOthers), x);
}

} // namespace codegen::functions

// a^b as 2^(b log2 |a|), with the cases that C has: a negative a has powers of whole b alone, and
// whatever is to the power of 0 is 1, as are all powers of 1.
#include "codegen/math/exponential_parts.h"
#include "codegen/math/functions.h"
#include "codegen/math/logarithm_parts.h"

namespace codegen::functions {

namespace {

/// A logarithm of size, also where that is no finite positive number; `result` where it is one.
MathValue ofLimits(MathValue size, MathValue result) {
  return select(size == 0, -infinity, select(size < infinity, result, size));
}

MathValue magnitude32(MathValue a, MathValue b) {
  MathValue size = toFloat64(absolute(a));
  MathValue logarithm = ofLimits(size, wideLogarithm2(size));
  // Where float32 has long been 0 or infinite.
  MathValue exponent = atLeast(atMost(toFloat64(b) * logarithm, 160), -160);
  MathValue shifted = exponent + rounderOf(exponent);
  MathValue f = exponent - (shifted - rounderOf(exponent));
  // 2^f with an error of 2^-29.
  MathValue power = polynomial(f, {1.00000000055488, 0.6931472057692345, 0.24022646887393767,
                                   0.055503287083994796, 0.009618489110833598,
                                   0.0013399958738863336, 0.00015345823020600073});
  return toFloat32(power * powerOfTwo(power, bitsOf(shifted)));
}

MathValue magnitude64(MathValue a, MathValue b) {
  MathValue size = absolute(a);
  MathPair logarithm = pairLogarithm(size);
  logarithm.high = ofLimits(size, logarithm.high);
  // From here on all powers are 0 or infinite, or 1 those of 1.
  MathValue bounded = atLeast(atMost(b, 0x1p65), -0x1p65);
  MathPair product = exactProduct(bounded, logarithm.high);
  MathValue low = multiplyAdd(bounded, logarithm.low, product.low);
  low = select(absolute(product.high) < 800, low, constant(low, 0));
  MathValue exponent = atLeast(atMost(product.high, 710), -746);
  return scaled(exponentialParts(exponent, low));
}

} // namespace

MathValue power(MathValue a, MathValue b) {
  MathValue size = isNarrow(a) ? magnitude32(a, b) : magnitude64(a, b);
  MathValue isWhole = floorOf(b) == b;
  MathValue half = b * 0.5;
  MathValue isOdd = isWhole & (floorOf(half) != half);
  MathValue result = select(isOdd, copySign(size, a), size);
  MathValue isNone = (a < 0) & (-infinity < a) & !isWhole;
  result = select(isNone, nan, result);
  MathValue isOne = (b == 0) | (a == 1) | ((a == -1) & (absolute(b) == infinity));
  return select(isOne, 1, result);
}

} // namespace codegen::functions

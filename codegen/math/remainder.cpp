// Remainders, exact for all operands: the quotient is taken off in parts of few bits, so that each
// product with the divisor is exact.
#include "codegen/math/functions.h"

#include <limits>

namespace codegen::functions {

namespace {

/// Of two float32 in float64, where quotients are below 2^277: 28 bits at a time.
MathValue remainder32(MathValue a, MathValue b) {
  MathValue rest = toFloat64(absolute(a));
  MathValue divisor = toFloat64(absolute(b));
  for (double scale = 0x1p252; scale >= 1; scale *= 0x1p-28) {
    MathValue part = divisor * scale;
    rest = multiplyAdd(-floorOf(rest / part), part, rest);
  }
  return toFloat32(rest);
}

} // namespace

MathValue truncatedRemainder(MathValue a, MathValue b) {
  MathValue size = remainder32(a, b);
  // Of an infinite b it is a.
  constexpr double infinity = std::numeric_limits<double>::infinity();
  MathValue isAll = (absolute(b) == infinity) & (absolute(a) < infinity);
  return copySign(select(isAll, absolute(a), size), a);
}

MathValue floorRemainder(MathValue a, MathValue b) {
  MathValue rest = truncatedRemainder(a, b);
  MathValue isOther = (rest < 0) ^ (b < 0);
  return select((rest != constant(rest, 0)) & isOther, rest + b, rest);
}

} // namespace codegen::functions

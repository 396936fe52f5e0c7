// Remainders, exact for all operands. The quotient of two float32 is taken off in parts of few
// bits, so that each product with the divisor is exact in float64. That of two float64 may have
// 2098 bits: there a is a whole number times 2^n of what b is a whole number of, and 2^n is reduced
// while it is made by squares.
#include "codegen/math/float_bits.h"
#include "codegen/math/functions.h"
#include "codegen/math/pair.h"

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

/// A positive float64 as a whole number from 2^52 to 2^53 times 2^-52 times a power of two, which
/// is times 2^-54 where the number is subnormal.
struct Scaled {
  MathValue whole;
  MathValue power;
  MathValue isTiny;
  /// Of the power, with what is missing to it.
  MathValue exponent;
};

Scaled scaledWhole(MathValue size) {
  MathValue isTiny = size < 0x1p-1022;
  MathValue bits = bitsOf(select(isTiny, size * 0x1p54, size));
  MathValue large = bitsOf(constant(size, 0x1p52));
  MathValue digits = bits & wholeConstant(bits, (uint64_t(1) << 52) - 1);
  MathValue exponent = floatOf((bits >> 52) | large);
  return {floatOf(digits | large), floatOf(bits ^ digits), isTiny,
          select(isTiny, exponent - 54, exponent)};
}

/// Whole numbers that count modulo another one, from 2^52 to 2^53; at most half of it in size.
class Residues {
public:
  explicit Residues(MathValue modulus) : modulus_(modulus), half_(modulus * 0.5) {}

  /// Of a whole number that is less than twice the modulus.
  MathValue reduced(MathValue a) const {
    MathValue above = select(half_ < a, a - modulus_, a);
    return select(a < -half_, a + modulus_, above);
  }

  /// The quotient is off by less than one, so what is left is exact.
  MathValue product(MathValue a, MathValue b) const {
    MathPair all = exactProduct(a, b);
    MathPair off = exactProduct(roundEven(all.high / modulus_), modulus_);
    return reduced((all.high - off.high) + (all.low - off.low));
  }

private:
  MathValue modulus_;
  MathValue half_;
};

MathValue remainder64(MathValue a, MathValue b) {
  MathValue size = absolute(a);
  Scaled above = scaledWhole(size), below = scaledWhole(absolute(b));
  Residues residues(below.whole);
  // n in the low bits, of which the highest ones are at most 32.
  MathValue n = bitsOf((above.exponent - below.exponent) + rounderOf(size));
  MathValue power = powerOfTwo(size, n >> 6);
  for (unsigned bit = 6; bit-- > 0;) {
    power = residues.product(power, power);
    MathValue isSet = (n << (63 - bit)) < wholeConstant(n, 0);
    power = select(isSet, residues.reduced(power + power), power);
  }
  MathValue rest = residues.product(power, residues.reduced(above.whole));
  rest = select(rest < 0, rest + below.whole, rest) * 0x1p-52 * below.power;
  rest = select(below.isTiny, rest * 0x1p-54, rest);
  // Also where an operand is 0, infinite or NaN.
  MathValue isNone = !((size < infinity) & (b != constant(b, 0)) & (b == b));
  return select(isNone, constant(size, nan), select(size < absolute(b), size, rest));
}

} // namespace

MathValue truncatedRemainder(MathValue a, MathValue b) {
  MathValue size = isNarrow(a) ? remainder32(a, b) : remainder64(a, b);
  // Of an infinite b it is a.
  MathValue isAll = (absolute(b) == infinity) & (absolute(a) < infinity);
  return copySign(select(isAll, absolute(a), size), a);
}

MathValue floorRemainder(MathValue a, MathValue b) {
  MathValue rest = truncatedRemainder(a, b);
  MathValue isOther = (rest < 0) ^ (b < 0);
  return select((rest != constant(rest, 0)) & isOther, rest + b, rest);
}

} // namespace codegen::functions

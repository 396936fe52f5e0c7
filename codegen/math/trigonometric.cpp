// Sine, cosine and tangent over the whole range. Of float32, in float64: x / pi = k + f with whole
// k and |f| <= 1/2, and a polynomial for sin(pi f). Of float64: x = k pi / 2 + r, and polynomials
// for sine and cosine of r.
#include "codegen/math/float_bits.h"
#include "codegen/math/functions.h"
#include "codegen/math/quarter_turns.h"

namespace codegen::functions {

namespace {

/// k, whose parity is the lowest bit, and f.
struct HalfTurns {
  MathValue whole;
  MathValue rest;
};

/// 1 / pi in three parts, the first two of at most 29 bits, of which products with a float32 are
/// exact in float64. For larger arguments the digits are left out that give even numbers alone.
struct InversePi {
  /// Exclusive.
  double most;
  double high, middle, low;
};

constexpr InversePi inversePi[] = {
    {0x1p50, 0x1.45f306cp-2, 0x1.c9c882ap-30, 0x1.4fe13abe8fa9ap-60},
    {0x1p76, 0x1.b939104p-27, 0x1.4a7f09dp-55, 0x1.7d1f534ddc0dbp-85},
    {0x1p102, 0x1.529fc26p-53, 0x1.57d1f53p-81, 0x1.377036d8a5665p-111},
    {0x1p128, 0x1.d5f47d4p-79, 0x1.a6ee06cp-108, 0x1.b14acc9e21c82p-136},
};

MathValue partOf(MathValue size, double InversePi::*part) {
  MathValue chosen = constant(size, inversePi[3].*part);
  for (int row = 2; row >= 0; --row)
    chosen = select(size < inversePi[row].most, inversePi[row].*part, chosen);
  return chosen;
}

/// Of x / pi + offset for a float32 x, which is there as a float64.
HalfTurns halfTurns32(MathValue x, double offset) {
  MathValue size = absolute(x);
  MathValue high = x * partOf(size, &InversePi::high);
  MathValue middle = x * partOf(size, &InversePi::middle);
  MathValue low = x * partOf(size, &InversePi::low);
  MathValue turns = high + middle;
  MathValue shifted = (offset == 0 ? turns : turns + offset) + rounderOf(x);
  MathValue whole = shifted - rounderOf(x);
  MathValue rest = (high - (offset == 0 ? whole : whole - offset)) + middle + low;
  return {bitsOf(shifted), rest};
}

/// sin(pi f), with an error of 2^-35.
MathValue sineOfTurn32(MathValue f) {
  return f * polynomial(f * f, {3.141592653523186, -5.167712762079923, 2.5501632390359332,
                                -0.5992513142094429, 0.08204639912142872, -0.007022024796052402});
}

MathValue sine32(MathValue x, double offset) {
  HalfTurns turns = halfTurns32(toFloat64(x), offset);
  MathValue size = sineOfTurn32(turns.rest);
  return toFloat32(floatOf(bitsOf(size) ^ (turns.whole << 63)));
}

/// x - x^3 / 6 + x^5 P(x^2), with an error of 2^-68.
MathPair sineOfRest(const MathPair& rest) {
  MathValue x = rest.high;
  MathValue square = x * x;
  MathValue cubic = square * x;
  MathValue tail =
      polynomial(square, {0.00833333333333333, -0.0001984126984126168, 2.7557319217144996e-06,
                          -2.5052105590493182e-08, 1.605844428800413e-10, -7.582201798944926e-13});
  // Its derivative is 1 - x^2 / 2.
  MathValue low = multiplyAdd(square * -0.5, rest.low, rest.low);
  MathValue fifth = multiplyAdd(cubic * square, tail, low);
  return orderedSum(x, multiplyAdd(cubic, -1.0 / 6, fifth));
}

/// 1 - x^2 / 2 + x^4 P(x^2), with an error of 2^-64.
MathPair cosineOfRest(const MathPair& rest) {
  MathValue x = rest.high;
  MathValue square = x * x;
  MathValue tail = polynomial(square, {0.0416666666666666, -0.001388888888887447,
                                       2.48015872896669e-05, -2.7557314399261344e-07,
                                       2.0875728993361067e-09, -1.1359917269349526e-11});
  MathPair first = orderedSum(constant(x, 1), square * -0.5);
  MathValue low = multiplyAdd(x, -rest.low, first.low);
  return orderedSum(first.high, multiplyAdd(square * square, tail, low));
}

/// Sine of k + offset quarter turns and the rest.
MathValue sine64(const QuarterTurns& turns, uint64_t offset) {
  MathPair sine = sineOfRest(turns.rest), cosine = cosineOfRest(turns.rest);
  MathValue whole = turns.whole + wholeConstant(turns.whole, offset);
  MathValue isOdd = wholeConstant(whole, 0) != (whole & wholeConstant(whole, 1));
  MathValue size = select(isOdd, cosine.high + cosine.low, sine.high + sine.low);
  return floatOf(bitsOf(size) ^ ((whole >> 1) << 63));
}

/// An odd function of x from that of |x|; where x is small it is x.
MathValue ofSigned(MathValue x, MathValue ofSize) {
  MathValue isNegative = bitsOf(x) < wholeConstant(x, 0);
  MathValue result = select(isNegative, -ofSize, ofSize);
  return select(absolute(x) < 0x1p-27, x, result);
}

MathValue tangent64(const QuarterTurns& turns) {
  MathPair sine = sineOfRest(turns.rest), cosine = cosineOfRest(turns.rest);
  MathValue isOdd = wholeConstant(turns.whole, 0) != (turns.whole & wholeConstant(turns.whole, 1));
  MathPair above{select(isOdd, -cosine.high, sine.high), select(isOdd, -cosine.low, sine.low)};
  MathPair below{select(isOdd, sine.high, cosine.high), select(isOdd, sine.low, cosine.low)};
  MathPair result = quotient(above, below);
  return result.high + result.low;
}

} // namespace

MathValue sine(MathValue x) {
  return isNarrow(x) ? sine32(x, 0) : ofSigned(x, sine64(quarterTurns(absolute(x)), 0));
}

MathValue cosine(MathValue x) {
  return isNarrow(x) ? sine32(x, 0.5) : sine64(quarterTurns(absolute(x)), 1);
}

MathValue tangent(MathValue x) {
  if (!isNarrow(x))
    return ofSigned(x, tangent64(quarterTurns(absolute(x))));
  MathValue rest = halfTurns32(toFloat64(x), 0).rest;
  return toFloat32(sineOfTurn32(rest) / sineOfTurn32(0.5 - absolute(rest)));
}

} // namespace codegen::functions

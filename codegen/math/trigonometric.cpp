// Sine, cosine and tangent over the whole range: x / pi = k + f with whole k and |f| <= 1/2, and a
// polynomial for sin(pi f).
#include "codegen/math/functions.h"

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
  // Adding it leaves no digits behind the point, and whole numbers in the low bits.
  constexpr double rounder = 0x1.8p52;
  MathValue size = absolute(x);
  MathValue high = x * partOf(size, &InversePi::high);
  MathValue middle = x * partOf(size, &InversePi::middle);
  MathValue low = x * partOf(size, &InversePi::low);
  MathValue turns = high + middle;
  MathValue shifted = (offset == 0 ? turns : turns + offset) + rounder;
  MathValue whole = shifted - rounder;
  MathValue rest = (high - (offset == 0 ? whole : whole - offset)) + middle + low;
  return {bitsOf(shifted), rest};
}

/// sin(pi f), with an error of 2^-35.
MathValue sineOfTurn32(MathValue f) {
  return f * polynomial(f * f, {3.141592653523186, -5.167712762079923, 2.5501632390359332,
                                -0.5992513142094429, 0.08204639912142872, -0.007022024796052402});
}

MathValue sineOf32(MathValue x, double offset) {
  HalfTurns turns = halfTurns32(toFloat64(x), offset);
  MathValue size = sineOfTurn32(turns.rest);
  return toFloat32(floatOf(bitsOf(size) ^ (turns.whole << 63)));
}

} // namespace

MathValue sine(MathValue x) {
  return sineOf32(x, 0);
}

MathValue cosine(MathValue x) {
  return sineOf32(x, 0.5);
}

MathValue tangent(MathValue x) {
  MathValue rest = halfTurns32(toFloat64(x), 0).rest;
  return toFloat32(sineOfTurn32(rest) / sineOfTurn32(0.5 - absolute(rest)));
}

} // namespace codegen::functions

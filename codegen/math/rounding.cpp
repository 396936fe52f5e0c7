// Functions of a few instructions, in terms of what every back end has.
#include "codegen/math/functions.h"

namespace codegen::functions {

MathValue truncated(MathValue x) {
  return copySign(floorOf(absolute(x)), x);
}

MathValue roundedAway(MathValue x) {
  MathValue size = absolute(x);
  MathValue whole = floorOf(size);
  return copySign(whole + select(0.5 <= size - whole, 1, constant(x, 0)), x);
}

MathValue sign(MathValue x) {
  return select(0 < x, 1, select(x < 0, -1, x));
}

MathValue maximum(MathValue a, MathValue b) {
  MathValue ofEqual = select((a == 0) & (b == 0), a + b, b);
  return select((b < a) | (a != a), a, ofEqual);
}

MathValue minimum(MathValue a, MathValue b) {
  MathValue ofEqual = select((a == 0) & (b == 0), -(-a - b), b);
  return select((a < b) | (a != a), a, ofEqual);
}

} // namespace codegen::functions

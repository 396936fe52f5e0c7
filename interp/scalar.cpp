// Functions of whole numbers, in 128 bits.
#include "interp/scalar.h"

namespace interp {

namespace {

Wide floorQuotient(Wide a, Wide b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

uint64_t power(Wide base, Wide exponent) {
  if (exponent < 0)
    return base == 1 ? 1 : base == -1 ? (exponent % 2 == 0 ? 1 : uint64_t(-1)) : 0;
  uint64_t result = 1, square = uint64_t(base);
  for (auto left = uint64_t(exponent); left != 0; left >>= 1) {
    if (left & 1u)
      result *= square;
    square *= square;
  }
  return result;
}

uint64_t shifted(ScalarFunction function, DType dtype, Wide a, Wide b) {
  bool isWithin = b >= 0 && b < dtype.bits;
  if (function == ScalarFunction::LeftShift)
    return isWithin ? uint64_t(a) << int(b) : 0;
  return uint64_t(isWithin ? a >> int(b) : a < 0 ? -1 : 0);
}

/// A function that whole numbers have by way of floats.
uint64_t byFloat(ScalarFunction function, DType dtype, Wide a) {
  double value = analysisFunction(function, double(a));
  return dtype.isBool() ? value != 0 : uint64_t(wholeOf(dtype, value));
}

/// Functions of one operand, and of bits.
uint64_t signFunction(ScalarFunction function, DType dtype, Wide a, Wide b) {
  using enum ScalarFunction;
  switch (function) {
  case LeftShift:
  case RightShift:
    return shifted(function, dtype, a, b);
  case BitAnd:
    return uint64_t(a) & uint64_t(b);
  case BitOr:
    return uint64_t(a) | uint64_t(b);
  case BitXor:
    return uint64_t(a) ^ uint64_t(b);
  case BitNot:
    return ~uint64_t(a);
  case Negative:
    return uint64_t(-a);
  case Abs:
    return uint64_t(a < 0 ? -a : a);
  case Sign:
    return uint64_t(a > 0 ? 1 : a < 0 ? -1 : 0);
  case Floor:
  case Ceil:
  case Trunc:
  case Round:
  case RoundEven:
    return uint64_t(a);
  default:
    return byFloat(function, dtype, a);
  }
}

} // namespace

uint64_t wholeFunction(ScalarFunction function, DType dtype, int64_t left, int64_t right) {
  using enum ScalarFunction;
  Wide a = wideOf(dtype, left), b = wideOf(dtype, right);
  switch (function) {
  case Add:
    return uint64_t(a) + uint64_t(b);
  case Subtract:
    return uint64_t(a) - uint64_t(b);
  case Multiply:
    return uint64_t(a) * uint64_t(b);
  case Divide:
  case TruncDivide:
    return uint64_t(a / b);
  case FloorDivide:
    return uint64_t(floorQuotient(a, b));
  case FloorMod:
    return uint64_t(a - floorQuotient(a, b) * b);
  case TruncMod:
    return uint64_t(a % b);
  case Power:
    return power(a, b);
  case Maximum:
    return uint64_t(a > b ? a : b);
  case Minimum:
    return uint64_t(a < b ? a : b);
  default:
    return signFunction(function, dtype, a, b);
  }
}

int64_t fixedPointMultiply(int64_t a, int64_t b, int64_t c) {
  Wide product = Wide(a) * b;
  int64_t shift = 31 - c;
  if (shift <= 0)
    return shift > -64 ? int64_t(uint64_t(product) << -shift) : 0;
  return shift > 100 ? 0 : int64_t((product + (Wide(1) << (shift - 1))) >> shift);
}

} // namespace interp

// Sums by Knuth and Dekker, products by Veltkamp's and Dekker's splitting.
#include "codegen/math/pair.h"

namespace codegen::functions {

namespace {

/// Two parts of at most 26 digits each.
MathPair split(MathValue a) {
  MathValue scaled = a * 0x1.000002p27;
  MathValue high = scaled - (scaled - a);
  return {high, a - high};
}

} // namespace

MathPair pairOf(MathValue like, PairConstant value) {
  return {constant(like, value.high), constant(like, value.low)};
}

MathPair exactSum(MathValue a, MathValue b) {
  MathValue sum = a + b;
  MathValue ofB = sum - a;
  return {sum, (a - (sum - ofB)) + (b - ofB)};
}

MathPair orderedSum(MathValue a, MathValue b) {
  MathValue sum = a + b;
  return {sum, b - (sum - a)};
}

MathPair exactProduct(MathValue a, MathValue b) {
  MathValue product = a * b;
  MathPair x = split(a), y = split(b);
  MathValue rest = multiplyAdd(x.high, y.high, -product);
  rest = multiplyAdd(x.high, y.low, rest);
  rest = multiplyAdd(x.low, y.high, rest);
  return {product, multiplyAdd(x.low, y.low, rest)};
}

MathPair operator+(const MathPair& a, const MathPair& b) {
  MathPair sum = exactSum(a.high, b.high);
  return orderedSum(sum.high, sum.low + (a.low + b.low));
}

MathPair operator*(const MathPair& a, const MathPair& b) {
  MathPair product = exactProduct(a.high, b.high);
  MathValue rest = multiplyAdd(a.high, b.low, product.low);
  return orderedSum(product.high, multiplyAdd(a.low, b.high, rest));
}

MathPair quotient(const MathPair& a, const MathPair& b) {
  MathValue first = a.high / b.high;
  MathPair product = exactProduct(first, b.high);
  MathValue rest = (a.high - product.high) - product.low;
  rest = multiplyAdd(-first, b.low, rest + a.low);
  return orderedSum(first, rest / b.high);
}

MathPair squareRoot(const MathPair& a) {
  MathValue root = squareRoot(a.high);
  MathPair square = exactProduct(root, root);
  MathValue rest = ((a.high - square.high) - square.low) + a.low;
  // The number beside the root keeps 0 from being divided by 0.
  return {root, rest / (root + root + 0x1p-1000)};
}

} // namespace codegen::functions

// Sums of two float64 with twice the digits of one, for what must be known better than it is
// rounded in the end. Nothing here needs a fused multiply-add: products are split into exact ones.
#pragma once

#include "codegen/math/builder.h"

namespace codegen::functions {

/// high + low, where low is at most half a unit in the last place of high.
struct MathPair {
  MathValue high;
  MathValue low;
};

/// A number of twice the digits.
struct PairConstant {
  double high;
  double low;
};

MathPair pairOf(MathValue like, PairConstant value);

/// Exact, for any two.
MathPair exactSum(MathValue a, MathValue b);
/// Exact where |a| >= |b| or a is 0.
MathPair orderedSum(MathValue a, MathValue b);
/// Exact where nothing overflows or underflows.
MathPair exactProduct(MathValue a, MathValue b);

MathPair operator+(const MathPair& a, const MathPair& b);
MathPair operator*(const MathPair& a, const MathPair& b);
MathPair quotient(const MathPair& a, const MathPair& b);
/// Of a number that is 0 or not below 2^-1000.
MathPair squareRoot(const MathPair& a);

} // namespace codegen::functions

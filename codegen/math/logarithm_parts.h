// What functions with logarithms in them share.
#pragma once

#include "codegen/math/float_bits.h"
#include "codegen/math/pair.h"

namespace codegen::functions {

/// x = 2^exponent mantissa, with sqrt(1/2) <= mantissa < sqrt(2).
struct LogarithmParts {
  MathValue exponent;
  MathValue mantissa;
};

/// Of a positive number that is neither subnormal nor infinite.
LogarithmParts logarithmParts(MathValue x);

/// Of any finite positive number.
LogarithmParts logarithmPartsOfTiny(MathValue x);

/// The binary logarithm of such a float64, with an error of 2^-45: for functions of float32.
MathValue wideLogarithm2(MathValue x);

/// The natural logarithm of finite positive float64, with an error of 2^-65.
MathPair pairLogarithm(MathValue x);

/// A logarithm of x: `result` where x is positive and finite.
MathValue ofPositive(MathValue x, MathValue result);

} // namespace codegen::functions

// What formulas know of the bits of floats.
#pragma once

#include "codegen/math/builder.h"

#include <limits>

namespace codegen::functions {

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Whether it is float32, and not float64.
inline bool isNarrow(MathValue x) {
  return x.type() == MathType::F32;
}

/// Those that are stored.
inline unsigned mantissaBits(MathValue x) {
  return isNarrow(x) ? 23 : 52;
}

/// x + rounderOf(x) has no digits behind the point, and the nearest whole number of x in its low
/// bits; for |x| up to a quarter of it.
inline double rounderOf(MathValue x) {
  return isNarrow(x) ? 0x1.8p23 : 0x1.8p52;
}

/// 2^n as a float of the type of `like`, where it is neither subnormal nor infinite. Of the whole
/// number n only as many low bits count as exponents have, and one more.
inline MathValue powerOfTwo(MathValue like, MathValue n) {
  return floatOf((n << mantissaBits(like)) + bitsOf(constant(like, 1)));
}

} // namespace codegen::functions

// Angles of float64 as quarter turns and a rest, right for all arguments.
#pragma once

#include "codegen/math/pair.h"

namespace codegen::functions {

/// x = k pi / 2 + rest with |rest| up to a little more than pi / 4.
struct QuarterTurns {
  /// Its two lowest bits are those of k.
  MathValue whole;
  MathPair rest;
};

/// Of x >= 0, where it is not so small that the digits of the rest are subnormal.
QuarterTurns quarterTurns(MathValue x);

} // namespace codegen::functions

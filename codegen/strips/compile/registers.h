// Places for registers, and the end of a program.
#pragma once

#include "codegen/strips/compile/emit.h"

namespace strips {

/// Small scratch that is there from the start.
struct FixedScratch {
  uint32_t buffer;
  int64_t elements;
  bool hasLanes;
};

/// Gives the registers of a program memory, which they share where they are not needed at the same
/// time, and scratch its own; and finds how long strips are, so that all of it stays in a near
/// cache. The code from `sidesBegin` on is that of contractions.
Program finished(Emitter emitter, uint32_t sidesBegin, std::span<const FixedScratch> scratch);

} // namespace strips

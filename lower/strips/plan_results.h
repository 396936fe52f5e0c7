// Where results come from, and in whose memory they may be.
#pragma once

#include "lower/strips/plan.h"

namespace lower {

/// Fills in what a program says of its tensors and results when all stages are there: the last use
/// of each tensor, roots, sources, and inputs that results may replace.
void findResults(Program& program, Sizes& sizes);

} // namespace lower

// How many additions and multiplications of floats a run does: what a derivative costs, whatever
// the machine.
//
// Counted are the functions Add, Subtract, Multiply and Divide on floats, once for each position of
// the loops around them, and what sums and products join: n values take n - 1. A node that a stage
// uses twice is counted once. Nothing else is: no index arithmetic, no comparisons, no choices, no
// functions of analysis, and nothing that native functions do. Both sides of a choice count, and so
// do loads outside of a tensor, as in convolutions with padding.
#pragma once

#include "lower/tensor/engine.h"

namespace harness {

struct OperationCounts {
  /// With subtractions.
  int64_t additions = 0;
  /// With divisions.
  int64_t multiplications = 0;

  int64_t total() const { return additions + multiplications; }
};

/// What one run of a function does whose extents are all constants.
OperationCounts countOperations(const tensor::TensorFunction& function);

/// An engine that adds what each run of a function does to `counts`, which outlives it.
tensor::TensorEngine countingEngine(tensor::TensorEngine engine, OperationCounts& counts);

} // namespace harness

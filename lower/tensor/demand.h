// What a tensor function asks of a machine at least, whoever computes it: what is compared with
// what the machine can do at most.
#pragma once

#include "lower/tensor/expression.h"

namespace tensor {

/// Operations on floats: one for each function of an element, be it a sum or `exp`, and for each
/// element that a reduction joins; none for moves, conversions and positions. Bytes are those of
/// the results, and of what is read of the inputs, each once.
struct Demand {
  /// Of floats of 32 bits or fewer, and of 64.
  double narrow = 0, wide = 0;
  double bytes = 0;
};

/// For the extents of its inputs and then of its results. Each stage counts as often as it has
/// elements, also where an engine computes some of them twice, or none for operands that are
/// not chosen.
Demand demandOf(const TensorFunction& function, std::span<const int64_t> extents);

} // namespace tensor

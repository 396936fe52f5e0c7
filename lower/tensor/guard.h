// Sums that may be done everywhere, though their values count at some places alone.
#pragma once

#include "lower/tensor/expression.h"

namespace tensor {

/// The function with each reduction whose value some element does not need, since it is in the side
/// of a selection that is not chosen, made of zeros there: then nothing in it fails where it does
/// not count, and it may be done in front of what needs it. The given function must outlive it.
TensorFunction withGuardedSums(const TensorFunction& function);

} // namespace tensor

// Loops that compute results in the memory of operands wherever the plan allows it.
#pragma once

#include "lower/tensor/engine.h"

#include <cstddef>

namespace harness {

/// As strips::stripsEngine(), but on copies of the inputs, each of which gives its memory to the
/// first result that may have it. Counts in `replaced` how many did.
tensor::TensorEngine inPlaceLoops(size_t& replaced);

} // namespace harness

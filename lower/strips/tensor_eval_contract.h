// Execution of contractions.
#pragma once

#include "lower/strips/plan.h"

namespace lower {

/// Estimated nanoseconds on one thread.
double contractionCost(const Contraction& contraction);

/// Computes a contraction into `out`, the whole result's buffer. Throws std::bad_alloc.
void runContraction(const Contraction& contraction, const std::byte* const* tensors,
                    std::byte* out);

} // namespace lower

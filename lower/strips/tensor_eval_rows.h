// Execution of contractions with few rows.
#pragma once

#include "lower/strips/plan.h"

namespace lower {

/// Computes a contraction that has few rows into `out`. Throws std::bad_alloc.
void runFewRows(const Contraction& contraction, const std::byte* const* tensors, std::byte* out,
                int64_t batches, unsigned threads);

} // namespace lower

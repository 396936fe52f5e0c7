// Sums of products that run as matrix products.
#pragma once

#include "lower/strips/plan.h"

namespace lower {

/// Takes the contractions that the stage of `result` always needs out of its graph, as stages of
/// their own before it; the graph then loads their results. True when the stage is one contraction
/// and so is done.
bool extractContractions(Graph& graph, Sizes& sizes, uint32_t result, Program& program);

} // namespace lower

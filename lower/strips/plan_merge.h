// Joining of neighbouring axes.
#pragma once

#include "lower/strips/plan.h"

namespace lower {

/// Replaces neighbours in `axes` (outer before inner) by one axis wherever all forms of the graph
/// walk the two as one. The list and the graph lose the outer of them.
void mergeAxes(Graph& graph, Sizes& sizes, List<uint32_t>& axes);

/// Merges output axes and the axes of every reduction.
void mergeAllAxes(Graph& graph, Sizes& sizes);

} // namespace lower

// When a value counts: the conditions of the selections around it.
#pragma once

#include "lower/strips/plan.h"

namespace lower {

/// Fills in the order of a lowered graph, its checks, and the masks by which steps may be skipped.
void addGuards(Graph& graph, Sizes& sizes);

} // namespace lower

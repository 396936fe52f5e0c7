// From a graph and a choice of lanes to blocks of steps.
#pragma once

#include "lower/strips/plan_lanes.h"

namespace lower {

/// Places every value of the graph. `chain` lists the axes of the outer loops, outermost first.
/// When `stores` is set the root is stored as the graph says.
Nest schedule(Graph graph, Sizes& sizes, std::span<const uint32_t> chain, Lanes lanes, bool stores);

/// Derives from the numbers of a nest how long strips are and what it costs.
void measure(Nest& nest);

} // namespace lower

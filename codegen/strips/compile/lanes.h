// Which loops become strips.
#pragma once

#include "codegen/strips/compile/flat.h"

#include <set>

namespace strips {

/// Loops to run as strips, none inside of another, and about how many nanoseconds a run takes.
struct LaneChoice {
  std::set<Name> strips = {};
  double cost = 0;
};

/// What an open extent counts as.
inline constexpr int64_t openExtent = 256;

/// Chooses for the cheapest way through memory. What a strip loop has inside of it is computed for
/// all of its lanes at once, so only loops are chosen whose iterations do not hang on each other
/// but in what they join to. Those around contractions, which make the buffers in `contracted`, are
/// none.
LaneChoice chooseLanes(Nest& nest, const std::vector<loops::Node>& nodes,
                       const std::set<uint32_t>& contracted);

} // namespace strips

// The choice of the axes along which strips run.
#pragma once

#include "lower/plan.h"

namespace lower {

/// The most elements of a strip.
inline constexpr size_t longestStrip = 512;

/// The axis of strips for the result (or none), and per value, for reductions, that of strips of
/// their own (none when they run lane by lane).
struct Lanes {
  uint32_t result = none;
  std::vector<uint32_t> ofReduce;
  /// All of them.
  AxisSet axes;
  /// Estimated nanoseconds.
  double cost = 0;
};

/// Tries each of `candidates` for the result, and none of them when `withoutLane` allows.
Lanes chooseLanes(const Graph& graph, std::span<const uint32_t> candidates, bool withoutLane);

/// The axis among the lanes that a value with `axes` varies along, or none.
uint32_t laneOf(AxisSet axes, const Lanes& lanes);

} // namespace lower

// The choice of the axes along which strips run.
#pragma once

#include "lower/strips/plan.h"

namespace lower {

/// The most elements of a strip.
inline constexpr size_t longestStrip = 512;

/// Tries each of `candidates` for the result, and none of them when `withoutLane` allows.
Lanes chooseLanes(const Graph& graph, Sizes& sizes, std::span<const uint32_t> candidates,
                  bool withoutLane);

/// Estimated nanoseconds for the numbers at hand.
double costOf(const Graph& graph, const Lanes& lanes);

/// The axis among the lanes that a value with `axes` varies along, or none.
uint32_t laneOf(AxisSet axes, const Lanes& lanes);

} // namespace lower

// A model of cost decides: a step costs a fixed time per strip and some time per element, which for
// loads depends on the stride.
#include "lower/plan_lanes.h"

#include <algorithm>

namespace lower {

namespace {

constexpr double perStep = 15;

double evaluations(const Graph& graph, AxisSet axes) {
  double count = 1;
  for (size_t axis = 0; axis < graph.extents.size(); ++axis)
    if (axes[axis])
      count *= double(graph.extents[axis]);
  return count;
}

double strideCost(int64_t stride) {
  int64_t distance = std::abs(stride);
  return distance == 1 ? 0.05 : distance < 16 ? 1 : 3;
}

/// Nanoseconds per element of a strip along `lane`.
double elementCost(const Graph& graph, const GraphValue& value, uint32_t lane) {
  switch (value.kind) {
  case GraphValueKind::Load: {
    for (const IndexTerm& term : value.indices)
      if (graph.values[term.position].axes[lane])
        return 4;
    return strideCost(value.affine.coefficient(lane)) + (value.bounds.empty() ? 0 : 0.2);
  }
  case GraphValueKind::Apply: {
    using enum ScalarFunction;
    bool divides = value.function >= FloorDivide && value.function <= Power;
    return value.function >= Exp && value.function <= Sigmoid ? 6 : divides ? 3 : 0.25;
  }
  case GraphValueKind::Number:
  case GraphValueKind::Affine:
    return 0;
  default:
    return 0.4;
  }
}

double stripCost(const Graph& graph, double count, double perElement, uint32_t lane) {
  if (lane == none)
    return count * (perStep + perElement);
  double length = double(std::min<int64_t>(graph.extents[lane], int64_t(longestStrip)));
  return count * perElement + count / length * perStep;
}

double valueCost(const Graph& graph, const GraphValue& value, const Lanes& lanes) {
  if (value.kind == GraphValueKind::Number || value.kind == GraphValueKind::Affine)
    return 0;
  AxisSet axes = value.axes;
  for (uint32_t axis : value.reduced)
    axes.set(axis);
  uint32_t lane = laneOf(axes, lanes);
  double perElement = lane == none ? 0.5 : elementCost(graph, value, lane);
  return stripCost(graph, evaluations(graph, axes), perElement, lane);
}

/// The best axis for strips of a reduction's own, judged by the values that depend on its axes.
uint32_t ownLane(const Graph& graph, const GraphValue& reduce) {
  AxisSet own;
  for (uint32_t axis : reduce.reduced)
    own.set(axis);
  uint32_t best = none;
  double bestCost = 0;
  for (uint32_t axis : reduce.reduced) {
    Lanes lanes;
    lanes.axes.set(axis);
    double cost = 0;
    for (uint32_t id : graph.order)
      if ((graph.values[id].axes & own).any())
        cost += valueCost(graph, graph.values[id], lanes);
    if (best == none || cost <= bestCost) {
      best = axis;
      bestCost = cost;
    }
  }
  return best;
}

Lanes lanesFor(const Graph& graph, uint32_t result) {
  Lanes lanes;
  lanes.result = result;
  lanes.ofReduce.assign(graph.values.size(), none);
  if (result != none)
    lanes.axes.set(result);
  for (size_t i = graph.order.size(); i-- > 0;) {
    const GraphValue& value = graph.values[graph.order[i]];
    if (value.kind != GraphValueKind::Reduce ||
        (graph.values[value.operands[0]].axes & lanes.axes).any())
      continue;
    uint32_t lane = ownLane(graph, value);
    lanes.ofReduce[graph.order[i]] = lane;
    lanes.axes.set(lane);
  }
  for (uint32_t id : graph.order)
    lanes.cost += valueCost(graph, graph.values[id], lanes);
  AxisSet all;
  for (uint32_t axis : graph.outputAxes)
    all.set(axis);
  double perElement = result == none ? 0 : strideCost(graph.store.coefficient(result));
  lanes.cost += stripCost(graph, evaluations(graph, all), perElement, result);
  return lanes;
}

} // namespace

Lanes chooseLanes(const Graph& graph, std::span<const uint32_t> candidates, bool withoutLane) {
  std::optional<Lanes> best;
  auto consider = [&](uint32_t axis) {
    Lanes lanes = lanesFor(graph, axis);
    if (!best || lanes.cost < best->cost)
      best = std::move(lanes);
  };
  for (size_t i = candidates.size(); i-- > 0;)
    consider(candidates[i]);
  if (withoutLane)
    consider(none);
  return std::move(*best);
}

uint32_t laneOf(AxisSet axes, const Lanes& lanes) {
  AxisSet common = axes & lanes.axes;
  return common.any() ? uint32_t(common._Find_first()) : none;
}

} // namespace lower

// A model of cost decides: a step costs a fixed time per strip and some time per element, which for
// loads depends on the stride. The choice says in which order a reduction adds up, so it must be
// one for the whole class; there, open extents count as few or many.
#include "lower/strips/plan_lanes.h"

#include <algorithm>

namespace lower {

namespace {

constexpr double perStep = 15;

/// A graph, and what sizes count as: their numbers, or their magnitudes where there are `sizes`.
struct Model {
  const Graph& graph;
  Sizes* sizes = nullptr;

  double lengthOf(uint32_t axis) const {
    Size extent = graph.extents[axis];
    return sizes ? sizes->magnitude(extent) : double(extent.number);
  }
};

double evaluations(const Model& model, AxisSet axes) {
  double count = 1;
  for (uint32_t axis = 0; axis < model.graph.extents.size(); ++axis)
    if (axes[axis])
      count *= model.lengthOf(axis);
  return count;
}

/// A stride that is open is taken to be a large one.
double strideCost(const Model& model, Size stride) {
  if (model.sizes && !stride.isConstant())
    return 3;
  int64_t distance = std::abs(stride.number);
  return distance == 1 ? 0.05 : distance < 16 ? 1 : 3;
}

/// Nanoseconds per element of a strip along `lane`.
double elementCost(const Model& model, const GraphValue& value, uint32_t lane) {
  switch (value.kind) {
  case GraphValueKind::Load: {
    for (const IndexTerm& term : value.indices)
      if (model.graph.values[term.position].axes[lane])
        return 4;
    return strideCost(model, value.affine.coefficient(lane)) + (value.bounds.empty() ? 0 : 0.2);
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

double stripCost(const Model& model, double count, double perElement, uint32_t lane) {
  if (lane == none)
    return count * (perStep + perElement);
  double length = std::min(model.lengthOf(lane), double(longestStrip));
  return count * perElement + count / length * perStep;
}

double valueCost(const Model& model, const GraphValue& value, const Lanes& lanes) {
  if (value.kind == GraphValueKind::Number || value.kind == GraphValueKind::Affine)
    return 0;
  AxisSet axes = value.axes;
  for (uint32_t axis : value.reduced)
    axes.set(axis);
  uint32_t lane = laneOf(axes, lanes);
  double perElement = lane == none ? 0.5 : elementCost(model, value, lane);
  return stripCost(model, evaluations(model, axes), perElement, lane);
}

/// The best axis for strips of a reduction's own, judged by the values that depend on its axes.
uint32_t ownLane(const Model& model, const GraphValue& reduce) {
  const Graph& graph = model.graph;
  if (reduce.reduced.size() == 1)
    return reduce.reduced[0];
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
        cost += valueCost(model, graph.values[id], lanes);
    if (best == none || cost <= bestCost) {
      best = axis;
      bestCost = cost;
    }
  }
  return best;
}

double costOf(const Model& model, const Lanes& lanes) {
  const Graph& graph = model.graph;
  double cost = 0;
  for (uint32_t id : graph.order)
    cost += valueCost(model, graph.values[id], lanes);
  AxisSet all;
  for (uint32_t axis : graph.outputAxes)
    all.set(axis);
  uint32_t result = lanes.result;
  double perElement = result == none ? 0 : strideCost(model, graph.store.coefficient(result));
  return cost + stripCost(model, evaluations(model, all), perElement, result);
}

Lanes lanesFor(const Model& model, uint32_t result) {
  const Graph& graph = model.graph;
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
    uint32_t lane = ownLane(model, value);
    lanes.ofReduce[graph.order[i]] = lane;
    lanes.axes.set(lane);
  }
  return lanes;
}

/// Whether there is but one lane that anybody would choose.
bool isPlain(const Graph& graph, std::span<const uint32_t> candidates) {
  return candidates.size() == 1 && std::ranges::none_of(graph.order, [&](uint32_t id) {
           return graph.values[id].kind == GraphValueKind::Reduce;
         });
}

} // namespace

Lanes chooseLanes(const Graph& graph, Sizes& sizes, std::span<const uint32_t> candidates,
                  bool withoutLane) {
  Model model{graph, &sizes};
  if (isPlain(graph, candidates))
    return lanesFor(model, candidates[0]);
  if (candidates.empty())
    return lanesFor(model, none);
  std::optional<Lanes> best;
  double bestCost = 0;
  auto consider = [&](uint32_t axis) {
    Lanes lanes = lanesFor(model, axis);
    double cost = costOf(model, lanes);
    if (best && cost >= bestCost)
      return;
    best = std::move(lanes);
    bestCost = cost;
  };
  for (size_t i = candidates.size(); i-- > 0;)
    consider(candidates[i]);
  if (withoutLane)
    consider(none);
  return std::move(*best);
}

double costOf(const Graph& graph, const Lanes& lanes) {
  return costOf(Model{graph}, lanes);
}

uint32_t laneOf(AxisSet axes, const Lanes& lanes) {
  AxisSet common = axes & lanes.axes;
  return common.any() ? uint32_t(common._Find_first()) : none;
}

} // namespace lower

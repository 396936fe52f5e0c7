// Positions are compared as nodes: builders make one node for the index of a loop.
#include "lower/tensor/access.h"

#include "lower/tensor/fold.h"

#include <algorithm>

namespace tensor {

namespace {

/// Notes the loops that a position is a sum of, each with a factor; false when it is made of
/// anything else.
bool addLoops(const ScalarNode* position, std::set<uint32_t>& loops) {
  ScalarNodes stack{position};
  while (!stack.empty()) {
    const ScalarNode* node = stack.back();
    stack.pop_back();
    if (const auto* index = node->as<ScalarIndex>()) {
      loops.insert(index->axis);
      continue;
    }
    if (node->kind == ScalarKind::Number || node->kind == ScalarKind::Size)
      continue;
    const auto* apply = node->as<ScalarApply>();
    bool isSum = apply && (apply->function == ScalarFunction::Add ||
                           apply->function == ScalarFunction::Subtract);
    bool isScaled = apply && apply->function == ScalarFunction::Multiply &&
                    std::ranges::any_of(apply->operands, [](const ScalarNode* operand) {
                      return operand->kind == ScalarKind::Number;
                    });
    if (!isSum && !isScaled)
      return false;
    stack.insert(stack.end(), apply->operands.begin(), apply->operands.end());
  }
  return true;
}

/// Whether loops over `axes` read each element once: a position has one of them in each dimension,
/// and all of them.
bool readsOnce(std::span<const ScalarNode* const> position, const std::set<uint32_t>& axes) {
  std::set<uint32_t> met;
  for (const ScalarNode* each : position) {
    std::set<uint32_t> loops;
    if (!addLoops(each, loops) || loops.size() > 1)
      return false;
    met.merge(loops);
  }
  return std::ranges::includes(met, axes);
}

/// Whether a position goes through rows: the last dimension by a loop of a reduction, all others by
/// loops of the result.
bool isByRows(std::span<const ScalarNode* const> position, const std::set<uint32_t>& summed) {
  auto isSummed = [&](const ScalarNode* each) {
    const auto* index = each->as<ScalarIndex>();
    return index && summed.contains(index->axis);
  };
  return position.size() > 1 && isSummed(position.back()) &&
         std::ranges::none_of(position.first(position.size() - 1), isSummed);
}

/// Loops that run more than once.
void addAxes(std::span<const LoopAxis> loops, std::set<uint32_t>& axes) {
  for (const LoopAxis& axis : loops)
    if (integerOf(axis.extent) != 1)
      axes.insert(axis.number);
}

void addReadings(const Stage& stage, std::vector<Reading>& readings) {
  std::set<uint32_t> summed;
  bool reduces = false;
  forEachNode(stage.body, [&](const ScalarNode& node) {
    if (const auto* reduce = node.as<ScalarReduce>()) {
      reduces = true;
      addAxes(reduce->axes, summed);
    }
  });
  std::set<uint32_t> axes = summed;
  addAxes(stage.axes, axes);
  forEachNode(stage.body, [&](const ScalarNode& node) {
    const auto* load = node.as<ScalarLoad>();
    if (!load)
      return;
    Reading& reading = readings[load->tensor];
    reading.positions.emplace(load->position.begin(), load->position.end());
    bool isShared = !readsOnce(load->position, axes);
    reading.isShared |= isShared;
    reading.isReused |= isShared && reduces;
    reading.isReduced |= reduces;
    reading.isByRows |= isByRows(load->position, summed);
  });
}

} // namespace

bool isSameExtent(const ScalarNode* a, const ScalarNode* b) {
  auto number = integerOf(a);
  return a == b || (number && number == integerOf(b));
}

std::vector<Reading> readingsOf(const TensorFunction& function) {
  std::vector<Reading> readings(function.tensors.size());
  for (const Stage& stage : function.stages)
    if (stage.kind == StageKind::Map)
      addReadings(stage, readings);
    else if (stage.kind == StageKind::Reshape)
      readings[stage.source].isViewed = true;
    else
      readings[stage.source].isWhole = true;
  return readings;
}

Work workOf(const ScalarNode* body) {
  Work work;
  forEachNode(body, [&](const ScalarNode& node) {
    ++work.nodes;
    work.loads += node.kind == ScalarKind::Load;
    work.reduces |= node.kind == ScalarKind::Reduce;
    const auto* apply = node.as<ScalarApply>();
    // Divisions of positions are engines' to simplify.
    work.isDear |=
        apply && node.dtype != runtime::Int64 &&
        (apply->function >= ScalarFunction::Exp || scalarFunctionDivides(apply->function));
  });
  return work;
}

bool mayFault(const TensorFunction& function) {
  auto isOfData = [](const ScalarNode* root) {
    bool loads = false;
    forEachNode(root, [&](const ScalarNode& node) { loads |= node.kind == ScalarKind::Load; });
    return loads;
  };
  bool found = false;
  for (const Stage& stage : function.stages)
    if (stage.kind == StageKind::Map)
      forEachNode(stage.body, [&](const ScalarNode& node) {
        if (const auto* load = node.as<ScalarLoad>())
          found |= !load->outside && std::ranges::any_of(load->position, isOfData);
        if (const auto* apply = node.as<ScalarApply>())
          found |= scalarFunctionDivides(apply->function) && !node.dtype.isFloat() &&
                   isOfData(apply->operands.back());
      });
  return found;
}

} // namespace tensor

// Which axes are worth splitting.
#include "lower/plan_splits.h"

#include <unordered_set>

namespace lower {

using tensor::ScalarNode;
using enum tensor::ScalarFunction;

std::vector<const ScalarNode*> operandsOf(const ScalarNode* node) {
  if (const auto* load = node->as<tensor::ScalarLoad>()) {
    std::vector<const ScalarNode*> operands(load->position.begin(), load->position.end());
    if (load->outside)
      operands.push_back(load->outside);
    return operands;
  }
  if (const auto* apply = node->as<tensor::ScalarApply>())
    return {apply->operands.begin(), apply->operands.end()};
  if (const auto* cast = node->as<tensor::ScalarCast>())
    return {cast->operand};
  if (const auto* reduce = node->as<tensor::ScalarReduce>())
    return {reduce->body};
  return {};
}

namespace {

/// Calls `visit` with each node below a root, and the root, once; ends where it gives false.
template <typename Visit>
void eachNode(const ScalarNode* root, Visit&& visit) {
  std::unordered_set<const ScalarNode*> seen{root};
  std::vector<const ScalarNode*> stack{root};
  while (!stack.empty()) {
    const ScalarNode* node = stack.back();
    stack.pop_back();
    if (!visit(node))
      return;
    for (const ScalarNode* operand : operandsOf(node))
      if (seen.insert(operand).second)
        stack.push_back(operand);
  }
}

} // namespace

bool isOfExtents(const ScalarNode* root) {
  using enum tensor::ScalarKind;
  bool holds = true;
  eachNode(root, [&](const ScalarNode* node) {
    return holds = node->kind != Index && node->kind != Load && node->kind != Reduce;
  });
  return holds;
}

std::unordered_map<uint32_t, const ScalarNode*> findSplits(const ScalarNode* root) {
  std::unordered_map<uint32_t, const ScalarNode*> splits;
  eachNode(root, [&](const ScalarNode* node) {
    const auto* apply = node->as<tensor::ScalarApply>();
    bool divides = apply && apply->operands.size() == 2 &&
                   (apply->function == FloorDivide || apply->function == FloorMod);
    const auto* index = divides ? apply->operands[0]->as<tensor::ScalarIndex>() : nullptr;
    if (index && isOfExtents(apply->operands[1]))
      splits.try_emplace(index->axis, apply->operands[1]);
    return true;
  });
  return splits;
}

} // namespace lower

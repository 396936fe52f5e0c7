// Which axes are worth splitting.
#include "lower/strips/plan_splits.h"

#include "runtime/numbering.h"

namespace lower {

using tensor::ScalarNode;
using enum tensor::ScalarFunction;

List<const ScalarNode*> operandsOf(const ScalarNode* node) {
  if (const auto* load = node->as<tensor::ScalarLoad>()) {
    List<const ScalarNode*> operands(load->position);
    if (load->outside)
      operands.push_back(load->outside);
    return operands;
  }
  if (const auto* apply = node->as<tensor::ScalarApply>())
    return List<const ScalarNode*>(apply->operands);
  if (const auto* cast = node->as<tensor::ScalarCast>())
    return {cast->operand};
  if (const auto* reduce = node->as<tensor::ScalarReduce>())
    return {reduce->body};
  return {};
}

namespace {

/// The nodes below a root, and the root, once each.
List<const ScalarNode*> nodesBelow(const ScalarNode* root) {
  runtime::Numbering seen;
  seen.add(root);
  List<const ScalarNode*> nodes{root};
  for (size_t i = 0; i < nodes.size(); ++i)
    for (const ScalarNode* operand : operandsOf(nodes[i]))
      if (seen.add(operand))
        nodes.push_back(operand);
  return nodes;
}

} // namespace

bool isOfExtents(const ScalarNode* root) {
  using enum tensor::ScalarKind;
  for (const ScalarNode* node : nodesBelow(root))
    if (node->kind == Index || node->kind == Load || node->kind == Reduce)
      return false;
  return true;
}

List<Split> findSplits(const ScalarNode* root) {
  List<Split> splits;
  for (const ScalarNode* node : nodesBelow(root)) {
    const auto* apply = node->as<tensor::ScalarApply>();
    bool divides = apply && apply->operands.size() == 2 &&
                   (apply->function == FloorDivide || apply->function == FloorMod);
    const auto* index = divides ? apply->operands[0]->as<tensor::ScalarIndex>() : nullptr;
    if (index && isOfExtents(apply->operands[1]))
      splits.push_back({index->axis, apply->operands[1]});
  }
  return splits;
}

} // namespace lower

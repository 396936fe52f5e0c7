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

std::unordered_map<uint32_t, int64_t> findSplits(const ScalarNode* root) {
  std::unordered_map<uint32_t, int64_t> splits;
  std::unordered_set<const ScalarNode*> seen{root};
  std::vector<const ScalarNode*> stack{root};
  while (!stack.empty()) {
    const ScalarNode* node = stack.back();
    stack.pop_back();
    std::vector<const ScalarNode*> operands = operandsOf(node);
    const auto* apply = node->as<tensor::ScalarApply>();
    bool divides = apply && operands.size() == 2 &&
                   (apply->function == FloorDivide || apply->function == FloorMod);
    const auto* index = divides ? operands[0]->as<tensor::ScalarIndex>() : nullptr;
    const auto* divisor = divides ? operands[1]->as<tensor::ScalarNumber>() : nullptr;
    if (index && divisor && divisor->integer > 1)
      splits.try_emplace(index->axis, divisor->integer);
    for (const ScalarNode* operand : operands)
      if (seen.insert(operand).second)
        stack.push_back(operand);
  }
  return splits;
}

} // namespace lower

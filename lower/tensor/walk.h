// Walks over the nodes of tensor functions. Expressions are graphs, and may be deep: each node is
// visited once, by a stack.
#pragma once

#include "lower/tensor/expression.h"
#include "runtime/list.h"

#include <unordered_set>
#include <vector>

namespace tensor {

using ScalarNodes = std::vector<const ScalarNode*>;

/// Calls `visit` with each operand of a node: extents of loops and the body of a reduction,
/// positions and the value outside of a load.
template <typename Visit>
void forEachOperand(const ScalarNode& node, Visit&& visit) {
  if (const auto* load = node.as<ScalarLoad>()) {
    for (const ScalarNode* position : load->position)
      visit(position);
    if (load->outside)
      visit(load->outside);
  } else if (const auto* apply = node.as<ScalarApply>()) {
    for (const ScalarNode* operand : apply->operands)
      visit(operand);
  } else if (const auto* cast = node.as<ScalarCast>()) {
    visit(cast->operand);
  } else if (const auto* reduce = node.as<ScalarReduce>()) {
    for (const LoopAxis& axis : reduce->axes)
      visit(axis.extent);
    visit(reduce->body);
  }
}

/// Calls `visit` with each node of an expression once, users before operands.
template <typename Visit>
void forEachNode(const ScalarNode* root, Visit&& visit) {
  std::unordered_set<const ScalarNode*> seen{root};
  ScalarNodes stack{root};
  while (!stack.empty()) {
    const ScalarNode* node = stack.back();
    stack.pop_back();
    visit(*node);
    forEachOperand(*node, [&](const ScalarNode* operand) {
      if (seen.insert(operand).second)
        stack.push_back(operand);
    });
  }
}

/// Calls `visit` with each node of an expression that is not known, operands before users; it makes
/// the node known.
template <typename IsKnown, typename Visit>
void forEachUnknownNode(const ScalarNode* root, IsKnown&& isKnown, Visit&& visit) {
  runtime::List<const ScalarNode*> stack{root};
  while (!stack.empty()) {
    const ScalarNode* node = stack.back();
    size_t before = stack.size();
    if (!isKnown(node)) {
      forEachOperand(*node, [&](const ScalarNode* operand) {
        if (!isKnown(operand))
          stack.push_back(operand);
      });
      if (stack.size() > before)
        continue;
      visit(*node);
    }
    stack.pop_back();
  }
}

} // namespace tensor

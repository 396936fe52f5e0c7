// Whether a tensor function is one, for who did not build it: places in its tables, types of its
// expressions, loops. What only numbers for extents tell is found when a plan is made.
#pragma once

#include "lower/tensor/expression.h"

namespace tensor {

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

/// What is wrong, or null. Operands must not be null, and no node its own operand.
const char* problemOf(const TensorFunction& function);

} // namespace tensor

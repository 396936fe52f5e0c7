// A look ahead over an expression, before its axes are numbered.
#pragma once

#include "lang/tensor_expr.h"

#include <unordered_map>

namespace lower {

/// The operands of a node, of a load with the value outside.
std::vector<const lang::ScalarNode*> operandsOf(const lang::ScalarNode* node);

/// The axes whose index is divided by a constant somewhere, and that constant: groups of channels,
/// repeated elements. With the axis split there, quotient and rest are affine.
std::unordered_map<uint32_t, int64_t> findSplits(const lang::ScalarNode* root);

} // namespace lower

// A look ahead over an expression, before its axes are numbered.
#pragma once

#include "tensor/expression.h"

#include <unordered_map>

namespace lower {

/// The operands of a node, of a load with the value outside.
std::vector<const tensor::ScalarNode*> operandsOf(const tensor::ScalarNode* node);

/// Whether a value is arithmetic on numbers and extents alone.
bool isOfExtents(const tensor::ScalarNode* root);

/// The axes whose index is divided by such a value somewhere, and that value: groups of channels,
/// repeated elements. With the axis split there, quotient and rest are affine.
std::unordered_map<uint32_t, const tensor::ScalarNode*> findSplits(const tensor::ScalarNode* root);

} // namespace lower

// A look ahead over an expression, before its axes are numbered.
#pragma once

#include "lower/tensor/expression.h"
#include "runtime/list.h"

namespace lower {

using runtime::List;

/// The operands of a node, of a load with the value outside.
List<const tensor::ScalarNode*> operandsOf(const tensor::ScalarNode* node);

/// Whether a value is arithmetic on numbers and extents alone.
bool isOfExtents(const tensor::ScalarNode* root);

/// An axis whose index is divided somewhere by arithmetic on numbers and extents: groups of
/// channels, repeated elements. With the axis split there, quotient and rest are affine.
struct Split {
  uint32_t axis;
  const tensor::ScalarNode* divisor;
};
List<Split> findSplits(const tensor::ScalarNode* root);

} // namespace lower

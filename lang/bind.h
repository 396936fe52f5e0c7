// Numbers for the extents of a tensor function: from one expression for all sizes to the expression
// of one call.
#pragma once

#include "lang/tensor_expr.h"
#include "runtime/tensor.h"

namespace lang {

/// The function for inputs and results of these shapes, one each, with extents folded. It has no
/// ScalarExtent.
TensorFunction bindExtents(const TensorFunction& function, std::span<const runtime::Shape> inputs,
                           std::span<const runtime::Shape> results);

} // namespace lang

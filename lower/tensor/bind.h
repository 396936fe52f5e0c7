// Numbers for the sizes of a tensor function: from one expression for all sizes to the expression
// of one call.
#pragma once

#include "lower/tensor/expression.h"
#include "runtime/tensor.h"

namespace tensor {

/// The function for inputs and results of these shapes, one each, with extents folded. Its extents
/// are numbers.
TensorFunction bound(const TensorFunction& function, std::span<const runtime::Shape> inputs,
                     std::span<const runtime::Shape> results);
/// The same for the extents of inputs and then of results, one after the other.
TensorFunction bound(const TensorFunction& function, std::span<const int64_t> extents);
/// The function as it is where it has no sizes, else bound.
TensorFunction closed(const TensorFunction& function, std::span<const int64_t> extents);

} // namespace tensor

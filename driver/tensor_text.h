// Tensors for reading: brackets by rank, elements aligned, and of a large tensor only its edges.
#pragma once

#include "runtime/value.h"

#include <string>

namespace driver {

/// How much of a tensor is shown, and where.
struct TensorLayout {
  /// Tensors of more elements are abbreviated to the edges of each dimension.
  int64_t mostElements = 100;
  /// Everything on one line.
  bool isInline = false;
};

/// The elements of a tensor: `[[1, 2], [3, 4]]`, or one number for rank 0. Floats have the fewest
/// digits that read back as the same value, reals all their digits.
std::string tensorText(const runtime::Value& value, const TensorLayout& layout = {});

/// The type: `Tensor[(2, 3), float32]`, or the element type alone for rank 0.
std::string tensorTypeText(runtime::DType dtype, const runtime::Shape& shape);

} // namespace driver

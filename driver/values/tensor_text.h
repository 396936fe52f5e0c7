// Tensors for reading: brackets by rank, elements aligned, and of a large tensor only its edges.
#pragma once

#include "runtime/value.h"

#include <string>
#include <string_view>

namespace driver {

/// Columns of a line.
inline constexpr size_t lineWidth = 96;

/// How much of a tensor is shown, and where.
struct TensorLayout {
  /// Tensors of more elements are abbreviated to the edges of each dimension.
  int64_t mostElements = 100;
  /// Everything on one line.
  bool isInline = false;
  /// In Baton's notation.
  bool isBare = false;
};

/// A tensor as text that reads back as the same tensor, unless it is abbreviated:
/// `[[1f, 2f], [3f, 4f]] /* ty=Tensor[(2, 2), float32] */`, or one literal for rank 0; in Baton's
/// notation `[[1.0, 2.0], [3.0, 4.0]]`. Floats have the fewest digits that read back as the same
/// value, reals all their digits. What Relay's text has no literals for is a call there:
/// `cast(3, dtype="int8")`. The comment is left out inline, and of a few elements in Baton's
/// notation, unless it is needed.
std::string tensorText(const runtime::Value& value, const TensorLayout& layout = {});

/// The element type of the literals that tensors of a type are written with: another one when there
/// are none of that type.
runtime::DType literalType(runtime::DType dtype);

/// `text` with its lines but the first moved to the right, except empty ones.
std::string indented(std::string_view text, size_t columns);

/// The type: `Tensor[(2, 3), float32]`, or the element type alone for rank 0; in Baton's notation
/// `f32[2, 3]`.
std::string tensorTypeText(runtime::DType dtype, const runtime::Shape& shape,
                           runtime::Notation notation);

} // namespace driver

// Results that are an input times factors plus summands, as those of a bias or of a batch norm with
// known statistics are. Read off tensor functions, whatever operators they are of.
#pragma once

#include "lower/tensor/expression.h"

#include <optional>

namespace tensor {

/// Functions from the same inputs to vectors, but of the input itself they take a tensor whose
/// extents are 0.
struct AffineParts {
  TensorFunction factors;
  TensorFunction summands;
};

/// The factors and the summands of a result that is, element by element, an input times a factor
/// plus a summand, which depend on the position in dimension `dim` alone. Nothing where the result
/// is something else, or where they hang on extents that are no numbers.
std::optional<AffineParts> affineParts(const TensorFunction& function, uint32_t input,
                                       size_t result, size_t dim);

} // namespace tensor

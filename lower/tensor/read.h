// Tensor functions from their texts.
#pragma once

#include "lower/tensor/expression.h"
#include "runtime/result.h"

namespace tensor {

/// The function of a text as tensorFunctionText() writes it, verified; or what is wrong, after its
/// line and column.
runtime::Checked<TensorFunction> tensorFunctionOf(std::string_view text);

} // namespace tensor

// Tensors of files in the element types that parameters have.
#pragma once

#include "runtime/result.h"
#include "runtime/tensor.h"

namespace driver {

/// Whether tensors of one element type may be given where another one of the same kind is declared:
/// floats of any width for floats, integers for integers whose type can hold them.
bool isConvertible(runtime::DType from, runtime::DType to);

/// The tensor in a type that it is convertible to, floats rounded once. The error names an element
/// that the type cannot hold.
runtime::Result<runtime::Tensor> convertedTensor(const runtime::Tensor& tensor, runtime::DType to,
                                                 runtime::Notation notation);

} // namespace driver

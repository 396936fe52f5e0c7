// Tensors as JSON, written straight to text: results can have millions of elements. The caller
// makes tuples and constructors around them.
#pragma once

#include "runtime/tensor.h"

#include <string>

namespace formats {

/// Appends `{"dtype":...,"shape":[...],"data":[...]}` with the elements flat and row-major: floats
/// of up to 32 bits with 9 and float64 with 17 significant digits, `"nan"`, `"inf"` and `"-inf"` as
/// strings, integers exact. Element types that cannot be computed with have `"data":null`.
void appendTensorJson(std::string& out, const runtime::Tensor& tensor);

} // namespace formats

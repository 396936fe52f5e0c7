// Inputs that stand on the command line themselves: `3`, `-1.5`, `True`, `[[1, 2], [3, 4]]`.
//
// A number takes the element type of its parameter, so suffixes may be left out; those of the text
// format are read too, so that what `run` prints can be given again.
#pragma once

#include "runtime/result.h"
#include "runtime/tensor.h"

#include <string_view>

namespace driver {

/// Whether a text begins as a literal does, and not as the path of a file.
bool looksLiteral(std::string_view text);

/// The tensor of a number, a bool, or a list of them or of lists of one length; or of a call by
/// which a value is written that has no literal, such as `cast(3, dtype="int8")`, which may be of
/// another type. Errors speak `notation`.
runtime::Result<runtime::Tensor> literalTensor(std::string_view text, runtime::DType dtype,
                                               runtime::Notation notation);

} // namespace driver

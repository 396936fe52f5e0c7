// Calls of operators as text, for values that the text format has no literal for.
#pragma once

#include "runtime/tensor.h"

#include <optional>
#include <string>
#include <string_view>

namespace stdlib {

/// The call that converts a value to another element type: `cast(3, dtype="int8")`.
std::string castText(std::string_view value, runtime::DType dtype);

/// The call that makes a tensor of zeros: `zeros(shape=[0, 3], dtype="int8")`.
std::string zerosText(const runtime::Shape& shape, runtime::DType dtype);

/// Such a call taken apart: what is converted, or the shape of zeros.
struct ValueCall {
  runtime::DType dtype;
  std::string_view value = {};
  std::optional<runtime::Shape> zeros = {};
};

/// Nothing when a text is no such call.
std::optional<ValueCall> readValueCall(std::string_view text);

} // namespace stdlib

// Tensors as the metadata section stores them: base64 of a little-endian record.
//
// magic (8 bytes), zero (8), device type and id (4, 4), rank (4), dtype code, bits, lanes (1, 1,
// 2), extents (8 each), byte count (8), row-major data. Bool is an unsigned integer of 1 bit in a
// byte.
#pragma once

#include "runtime/tensor.h"

#include <string>
#include <string_view>
#include <variant>

namespace parser {

/// Reads a blob: the tensor, or what is wrong with the record. The memory taken is bounded by the
/// length of the text.
std::variant<runtime::Tensor, std::string> decodeTensor(std::string_view base64);

std::string encodeTensor(const runtime::Tensor& tensor);

} // namespace parser

// What all tensor files share: the way from a claimed shape and the bytes at hand to a tensor.
//
// Files are little-endian and so are the machines we run on; big-endian .npy files are swapped by
// their reader. A bool is one byte, 0 or 1, and other bytes are refused, as kernels rely on it.
#pragma once

#include "runtime/result.h"
#include "runtime/tensor.h"

#include <map>
#include <string>
#include <string_view>

namespace formats {

/// Named tensors, in the order of their names.
using TensorMap = std::map<std::string, runtime::Tensor>;

/// The largest rank that a file may claim; numpy has the same limit.
inline constexpr size_t largestRank = 64;

/// `(3, 4)`, `(3,)`, `()`: the shape as Python and the text format write it.
std::string shapeText(const runtime::Shape& shape);

/// Checks that `dtype` and `shape` ask for exactly `available` bytes; the error says both numbers.
runtime::Result<runtime::Done> checkByteSize(runtime::DType dtype, const runtime::Shape& shape,
                                             uint64_t available);

/// A tensor with a copy of `data`, which must be exactly its elements, row-major, little-endian.
runtime::Result<runtime::Tensor> tensorFromBytes(runtime::DType dtype, runtime::Shape shape,
                                                 std::string_view data);

/// The buffer of `tensor`, for as long as it lives.
std::string_view bytesOf(const runtime::Tensor& tensor);

/// Refuses bytes of a bool tensor other than 0 and 1; other element types pass.
runtime::Result<runtime::Done> checkBools(const runtime::Tensor& tensor);

} // namespace formats

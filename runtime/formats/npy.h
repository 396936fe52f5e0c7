// numpy's .npy: a magic string, a header that is a Python dictionary, and the elements.
//
// Versions 1, 2 and 3 are read, in C and Fortran order and both byte orders; the tensor is always
// row-major. Object arrays would need unpickling, which runs code from the file: they are refused.
#pragma once

#include "runtime/result.h"
#include "runtime/tensor.h"

#include <string>
#include <string_view>

namespace formats {

/// What the header of a .npy says, and where the elements begin.
struct NpyHeader {
  runtime::DType dtype;
  bool bigEndian = false;
  bool fortranOrder = false;
  runtime::Shape shape;
  size_t dataStart = 0;
};

/// Reads magic, version and dictionary from the front of `bytes`.
runtime::Result<NpyHeader> parseNpyHeader(std::string_view bytes);

/// Reads a whole .npy.
runtime::Result<runtime::Tensor> parseNpy(std::string_view bytes);

/// Whether numpy has the element type.
bool npyHolds(runtime::DType dtype);

/// The bytes of a version 1 .npy before the row-major elements of such a tensor; an error when
/// numpy has no such element type.
runtime::Result<std::string> npyHeader(runtime::DType dtype, const runtime::Shape& shape);

/// Writes a .npy file.
runtime::Result<runtime::Done> writeNpy(const std::string& path, const runtime::Tensor& tensor);

} // namespace formats

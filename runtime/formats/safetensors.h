// .safetensors: a 64-bit length, a JSON header of that length, and the elements of all tensors.
//
// The header is read strictly, since a lying one must not do harm: no unknown fields, no duplicate
// names, and the ranges of the tensors cover the data exactly, without overlap or hole. Element
// types that we lack (8-bit floats) are only an error for the tensor that is asked for.
#pragma once

#include "runtime/formats/keyed_file.h"
#include "runtime/formats/tensor_bytes.h"

namespace formats {

/// What the header says about one tensor; the range is in bytes from the start of the data.
struct SafetensorsEntry {
  std::string dtypeName;
  runtime::Shape shape;
  uint64_t begin = 0;
  uint64_t end = 0;
};

/// Reads the JSON header, whose ranges must cover `dataSize` bytes.
runtime::Result<std::map<std::string, SafetensorsEntry>>
parseSafetensorsHeader(std::string_view json, uint64_t dataSize);

/// The keys in a file in memory, sorted.
runtime::Result<std::vector<std::string>> parseSafetensorsKeys(std::string_view bytes);

/// The tensor `key` of a file in memory; the error lists the keys there are.
runtime::Result<runtime::Tensor> parseSafetensors(std::string_view bytes, std::string_view key);

/// A file in memory, which must outlive what is given; keys are sorted.
OpenedFile openSafetensorsBytes(std::string_view bytes);

/// The file at `path`, of which only the header and the tensors that are asked for are read.
OpenedFile openSafetensors(const std::string& path);

/// Whether the format has the element type.
bool safetensorsHolds(runtime::DType dtype);

/// The bytes of a file of `tensors`; the same tensors always give the same bytes.
runtime::Result<std::string> safetensorsBytes(const TensorMap& tensors);

/// Writes a file of `tensors` to `path`.
runtime::Result<runtime::Done> writeSafetensors(const std::string& path, const TensorMap& tensors);

} // namespace formats

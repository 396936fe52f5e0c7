// What tests of tensor files share: tensors of every type, files written byte by byte.
#pragma once

#include "runtime/formats/file.h"
#include "runtime/formats/load.h"
#include "runtime/formats/random_fill.h"
#include "runtime/formats/tensor_bytes.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <filesystem>
#include <unistd.h>

namespace tests {

using namespace formats;
using runtime::DType;
using runtime::Shape;
using runtime::Tensor;

template <typename T>
Tensor tensorOf(DType dtype, Shape shape, std::vector<T> values) {
  Tensor tensor(dtype, std::move(shape));
  REQUIRE(size_t(tensor.size()) == values.size());
  std::copy(values.begin(), values.end(), tensor.elements<T>().begin());
  return tensor;
}

template <typename T>
std::string rawBytes(std::vector<T> values) {
  return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

template <typename T>
std::vector<T> valuesOf(const Tensor& tensor) {
  auto elements = tensor.elements<T>();
  return {elements.begin(), elements.end()};
}

inline bool sameTensor(const Tensor& left, const Tensor& right) {
  return left.dtype() == right.dtype() && left.shape() == right.shape() &&
         bytesOf(left) == bytesOf(right);
}

template <typename T>
inline void requireValue(const runtime::Result<T>& result) {
  INFO((result ? std::string() : result.failure().message));
  REQUIRE(bool(result));
}

template <typename T>
void checkError(const runtime::Result<T>& result, const std::string& fragment) {
  REQUIRE_FALSE(bool(result));
  CHECK_THAT(result.failure().message, Catch::Contains(fragment));
}

/// A .npy around a header dictionary written by the test.
inline std::string npyFile(const std::string& dictionary, const std::string& data,
                           char version = 1) {
  std::string file = "\x93NUMPY";
  file += {version, '\0', char(dictionary.size() & 0xFF), char(dictionary.size() >> 8)};
  if (version > 1)
    file += std::string(2, '\0');
  return file + dictionary + data;
}

inline std::string safetensorsFile(const std::string& json, const std::string& data) {
  uint64_t length = json.size();
  return std::string(reinterpret_cast<const char*>(&length), 8) + json + data;
}

/// A folder that is removed at the end of the test.
struct Folder {
  std::filesystem::path path;

  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "formats-test-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path = name;
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string file(const std::string& name) const { return (path / name).string(); }
};

/// One tensor of each element type that can be computed with.
inline TensorMap oneOfEach() {
  TensorMap tensors;
  for (const char* name : {"bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32",
                           "uint64", "float16", "float32", "float64", "bfloat16"}) {
    auto tensor = randomTensor(*runtime::parseDType(name), {2, 3, 5}, 7, tensors.size());
    requireValue(tensor);
    tensors.emplace(name, *tensor);
  }
  return tensors;
}

inline TensorMap oneOfEachInNumpy() {
  TensorMap tensors = oneOfEach();
  tensors.erase("bfloat16");
  return tensors;
}

inline void patch(std::string& bytes, size_t offset, uint32_t value) {
  std::memcpy(bytes.data() + offset, &value, sizeof value);
}

} // namespace tests

// The reproducible random fill: worked examples of its rule, and checksums.
#include "runtime/half.h"
#include "tests/unit/tensor_file_cases.h"

#include <bit>
#include <cmath>
#include <limits>
#include <random>

using namespace tests;

namespace {

constexpr uint64_t seed = 42;

/// Folds the 32-bit patterns of the elements in their order.
uint64_t checksum(const Tensor& tensor) {
  uint64_t sum = 0;
  for (uint32_t pattern : tensor.elements<uint32_t>())
    sum = sum * 1000003 + pattern;
  return sum;
}

uint32_t patternAt(const Shape& shape, uint64_t parameter, size_t index) {
  auto tensor = randomTensor(runtime::Float32, shape, seed, parameter);
  requireValue(tensor);
  return tensor->elements<uint32_t>()[index];
}

/// The data of the models with gain: sixteen consecutive elements share one number.
Tensor withGain(Shape shape, uint64_t parameter, double gain) {
  Tensor tensor(runtime::Float32, std::move(shape));
  uint64_t index = 0;
  for (float& element : tensor.elements<float>())
    element = float((2.0 * uniformAt(seed, parameter, index++ >> 4) - 1.0) * gain);
  return tensor;
}

} // namespace

TEST_CASE("random fill: worked examples", "[formats]") {
  CHECK(uniformAt(seed, 0, 0) == 0.65371572971343994);
  CHECK(uniformAt(seed, 3, 7) == 14058112 / 16777216.0);
  CHECK(uniformAt(seed, 1, 5) == 8106948 / 16777216.0);
  CHECK(uniformAt(seed, 4, 0) == 5774561 / 16777216.0);
  CHECK(uniformAt(seed, 2, 1000) == 6241921 / 16777216.0);
  CHECK(patternAt({1, 3, 224, 224}, 0, 0) == 0x3ab3e42e);
  CHECK(patternAt({64, 3, 7, 7}, 3, 7) == 0x3dc5bc92);
  CHECK(patternAt({64}, 1, 5) == 0x3f7bb3c4);
  CHECK(patternAt({}, 4, 0) == 0x3f581ce1);
  auto integers = randomTensor(runtime::Int32, {35, 100}, seed, 2);
  requireValue(integers);
  CHECK(integers->elements<int32_t>()[1000] == 3);
  CHECK(std::bit_cast<uint32_t>(withGain({1001}, 0, 4096).elements<float>()[1000]) == 0x4575b6f6);
}

TEST_CASE("random fill: checksums", "[formats]") {
  CHECK(checksum(*randomTensor(runtime::Float32, {1, 3, 224, 224}, seed, 0)) == 0x5bf18e769382310d);
  CHECK(checksum(*randomTensor(runtime::Float32, {64}, seed, 1)) == 0x53c6a0bd7d0e3fd3);
  CHECK(checksum(*randomTensor(runtime::Float32, {512, 512, 3, 3}, seed, 3)) == 0x125187f05d0aad5d);
  CHECK(checksum(*randomTensor(runtime::Float32, {33278, 128}, seed, 5)) == 0x909bb761daa469f7);
  CHECK(checksum(*randomTensor(runtime::Int32, {1000}, seed, 9)) == 0x1be146f53d1abadd);
  CHECK(checksum(withGain({50, 100}, 0, 64)) == 0xbcde10e757d22e00);
}

TEST_CASE("random fill: every element type, by the rule", "[formats]") {
  for (const auto& [name, tensor] : oneOfEach()) {
    INFO(name);
    std::string bytes(bytesOf(*randomTensor(tensor.dtype(), {100}, seed, 6)));
    size_t width = tensor.dtype().bytes();
    for (size_t i = 0; i < 100; ++i) {
      double u = uniformAt(seed, 6, i);
      uint64_t word = 0;
      std::memcpy(&word, bytes.data() + i * width, width);
      if (tensor.dtype().isBool())
        CHECK(word == uint64_t(u >= 0.5));
      else if (!tensor.dtype().isFloat())
        CHECK(word == uint64_t(u * 10.0));
      else if (width == 8)
        CHECK(std::bit_cast<double>(word) == 0.5 + u);
      else if (width == 4)
        CHECK(std::bit_cast<float>(uint32_t(word)) == float(0.5 + u));
      // 0.5 + u is a multiple of 2^-24 below 1.5, so it is within half a step of the last bit.
      else if (name == "float16")
        CHECK(std::fabs(float(std::bit_cast<runtime::Half>(uint16_t(word))) - 0.5 - u) <=
              std::ldexp(u < 0.5 ? 1 : 2, -12));
      else
        CHECK(std::fabs(float(std::bit_cast<runtime::BHalf>(uint16_t(word))) - 0.5 - u) <=
              std::ldexp(u < 0.5 ? 1 : 2, -9));
    }
  }
  CHECK(randomTensor(runtime::Float32, {0, 3}, seed, 0)->size() == 0);
  CHECK(randomTensor(runtime::Float32, {3, 0}, seed, 0)->size() == 0);
  checkError(randomTensor(runtime::Float32, {1 << 30, 1 << 30}, seed, 0), "memory");
  checkError(randomTensor(runtime::Float32, {-1, 2}, seed, 0), "memory");
  checkError(randomTensor(DType{runtime::DTypeCode::Int, 4}, {2}, seed, 0), "`int4`");
}

// Allocation of tensors. Sizes are checked before memory is taken.
#include "runtime/tensor.h"

#include "runtime/memory.h"

#include <new>

namespace runtime {

std::optional<int64_t> elementCount(std::span<const int64_t> shape) {
  constexpr int64_t limit = int64_t(1) << 62;
  bool empty = false;
  int64_t count = 1;
  for (int64_t extent : shape) {
    if (extent < 0)
      return std::nullopt;
    if (extent == 0)
      empty = true;
    else if (count > limit / extent)
      return std::nullopt;
    else
      count *= extent;
  }
  return empty ? 0 : count;
}

namespace {

/// Frees a buffer that was counted.
struct Release {
  size_t bytes;
  void operator()(std::byte* data) const {
    delete[] data;
    returnMemory(bytes);
  }
};

std::shared_ptr<std::byte[]> zeros(size_t bytes) {
  demandMemory(bytes);
  auto* data = new (std::nothrow) std::byte[bytes]();
  if (data)
    return {data, Release{bytes}};
  returnMemory(bytes);
  throw std::bad_alloc();
}

} // namespace

Tensor::Tensor() : Tensor(Float32, {}) {}

Tensor::Tensor(DType dtype, Shape shape) : dtype_(dtype), shape_(std::move(shape)) {
  auto count = elementCount(shape_);
  constexpr int64_t addressable = int64_t(1) << 46;
  if (!count || *count > addressable / int64_t(dtype.bytes()))
    throw std::bad_alloc();
  size_ = *count;
  data_ = zeros(std::max<size_t>(byteSize(), 8));
}

Tensor Tensor::reshaped(Shape shape) const {
  Tensor result = *this;
  result.shape_ = std::move(shape);
  return result;
}

} // namespace runtime

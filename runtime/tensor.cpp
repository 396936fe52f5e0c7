// Allocation of tensors. Sizes are checked before memory is taken.
#include "runtime/tensor.h"

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

Tensor::Tensor() : Tensor(Float32, {}) {}

SharedShape shared(Shape shape) {
  static const SharedShape ofScalars = std::make_shared<const Shape>();
  return shape.empty() ? ofScalars : std::make_shared<const Shape>(std::move(shape));
}

Tensor::Tensor(DType dtype, Shape shape) : Tensor(shared(std::move(shape)), dtype) {
  std::memset(data_, 0, byteSize());
}

namespace {

/// How many elements a tensor has that memory can hold.
int64_t sizeOf(DType dtype, const Shape& shape) {
  auto count = elementCount(shape);
  constexpr int64_t addressable = int64_t(1) << 46;
  if (!count || *count > addressable / int64_t(dtype.bytes()))
    throw std::bad_alloc();
  return *count;
}

} // namespace

Tensor::Tensor(SharedShape shape, DType dtype) : Tensor(shape, dtype, sizeOf(dtype, *shape)) {}

Tensor Tensor::over(DType dtype, Shape shape, std::byte* elements, void (*release)(void* owner),
                    void* owner) {
  Tensor result(dtype, {});
  result.size_ = sizeOf(dtype, shape);
  result.shape_ = shared(std::move(shape));
  result.buffer_ = SharedBuffer(release, owner);
  result.data_ = elements;
  return result;
}

Tensor Tensor::reshaped(SharedShape shape) const {
  Tensor result = *this;
  result.shape_ = std::move(shape);
  return result;
}

} // namespace runtime

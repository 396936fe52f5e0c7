// A dense tensor: element type, shape, and a counted buffer in row-major order.
//
// Copying a Tensor shares the buffer. Only the owner that allocated a buffer writes to it, before
// the tensor is handed on; from then on a tensor is a value, unless it is the last one of its
// buffer.
#pragma once

#include "runtime/buffer.h"
#include "runtime/dtype.h"

#include <cstring>
#include <memory>
#include <span>
#include <vector>

namespace runtime {

using Shape = std::vector<int64_t>;
/// A shape that tensors have in common.
using SharedShape = std::shared_ptr<const Shape>;
SharedShape shared(Shape shape);

/// The product of the extents, or nothing when an extent is negative or the product passes 2^62.
std::optional<int64_t> elementCount(std::span<const int64_t> shape);

class Tensor {
public:
  /// A rank-0 float32 zero.
  Tensor();

  /// A zero-filled tensor. Throws std::bad_alloc when the size cannot be had; an extent must not be
  /// negative.
  Tensor(DType dtype, Shape shape);

  /// The same with whatever was in its memory, for who writes all elements.
  static Tensor unwritten(DType dtype, Shape shape) { return {shared(std::move(shape)), dtype}; }
  static Tensor unwritten(DType dtype, SharedShape shape) { return {std::move(shape), dtype}; }
  /// The same of a shape whose extents are known to have this product.
  static Tensor unwritten(DType dtype, const SharedShape& shape, int64_t size) {
    return {shape, dtype, size};
  }
  /// A tensor over elements that somebody else owns, until the last tensor that shares them calls
  /// `release(owner)`. Throws std::bad_alloc, and then it does not.
  static Tensor over(DType dtype, Shape shape, std::byte* elements, void (*release)(void* owner),
                     void* owner);

  /// A rank-0 tensor that holds `value`.
  template <typename T>
  static Tensor scalar(DType dtype, T value) {
    Tensor tensor(dtype, {});
    std::memcpy(tensor.bytes(), &value, sizeof(T));
    return tensor;
  }

  DType dtype() const { return dtype_; }
  const Shape& shape() const { return *shape_; }
  const SharedShape& sharedShape() const { return shape_; }
  size_t rank() const { return shape_->size(); }
  int64_t size() const { return size_; }
  size_t byteSize() const { return size_t(size_) * dtype_.bytes(); }

  std::byte* bytes() { return data_; }
  const std::byte* bytes() const { return data_; }

  /// The elements as a span of `T`, whose size must be that of the element type.
  template <typename T>
  std::span<T> elements() {
    return {reinterpret_cast<T*>(data_), size_t(size_)};
  }
  template <typename T>
  std::span<const T> elements() const {
    return {reinterpret_cast<const T*>(data_), size_t(size_)};
  }

  /// Whether nobody else refers to the elements, which are in memory of its own.
  bool isOnlyOwner() const { return buffer_.isOnly() && data_ == buffer_.bytes(); }

  /// The same elements under another shape of the same element count.
  Tensor reshaped(Shape shape) const { return reshaped(shared(std::move(shape))); }
  Tensor reshaped(SharedShape shape) const;

private:
  friend struct TensorObject;

  Tensor(SharedShape shape, DType dtype);
  Tensor(const SharedShape& shape, DType dtype, int64_t size)
      : dtype_(dtype), shape_(shape), size_(size), buffer_(byteSize() < 8 ? 8 : byteSize()),
        data_(buffer_.bytes()) {}

  DType dtype_;
  SharedShape shape_;
  int64_t size_ = 1;
  SharedBuffer buffer_;
  std::byte* data_ = nullptr;
};

} // namespace runtime

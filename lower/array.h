// A tensor of the engine: in the program's own number types, or, under `--precision`, floats
// as reals of many digits together with the dtype that they stand for.
//
// Like runtime::Tensor an Array is a value: copies share the buffer, which nobody writes any more.
#pragma once

#include "runtime/tensor.h"

namespace lower {

/// How floats are computed: with `digits` decimal digits, or in their own types when 0.
struct Precision {
  unsigned digits = 0;
  friend bool operator==(Precision, Precision) = default;
};

class Array {
public:
  Array() = default;
  Array(runtime::Tensor tensor) : tensor_(std::move(tensor)) {}
  /// Reals in row-major order, as makeElements(Element::Real, ...) gives them.
  Array(runtime::DType dtype, runtime::Shape shape, std::shared_ptr<const std::byte[]> reals);

  /// `tensor` as the precision asks: floats become reals. Throws std::bad_alloc.
  static Array fromTensor(runtime::Tensor tensor, Precision precision);

  /// The dtype of the program, also where reals are stored.
  runtime::DType dtype() const { return reals_ ? realDType_ : tensor_.dtype(); }
  const runtime::Shape& shape() const { return reals_ ? realShape_ : tensor_.shape(); }
  size_t rank() const { return shape().size(); }
  int64_t size() const { return reals_ ? realCount_ : tensor_.size(); }

  /// The tensor, or null when the elements are reals.
  const runtime::Tensor* plain() const { return reals_ ? nullptr : &tensor_; }
  /// The elements in the program's own types: reals are rounded to nearest.
  runtime::Tensor toTensor() const;
  /// One element in decimal with all its digits; `flat` is its row-major position. Reals only.
  std::string realText(int64_t flat) const;

  /// The reals, or null.
  const std::shared_ptr<const std::byte[]>& reals() const { return reals_; }
  /// The elements in their storage.
  const std::byte* bytes() const { return reals_ ? reals_.get() : tensor_.bytes(); }
  /// The same elements under another shape of the same element count.
  Array reshaped(runtime::Shape shape) const;

private:
  runtime::Tensor tensor_ = emptyTensor();
  std::shared_ptr<const std::byte[]> reals_;
  runtime::DType realDType_;
  runtime::Shape realShape_;
  int64_t realCount_ = 0;

  static const runtime::Tensor& emptyTensor();
};

} // namespace lower

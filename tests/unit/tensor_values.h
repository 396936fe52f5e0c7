// Elements of tensors for comparison.
#pragma once

#include "runtime/element.h"
#include "runtime/tensor.h"

namespace tests {

/// An element: `real` of a float, else `whole`.
struct Number {
  double real = 0;
  int64_t whole = 0;
};

inline std::vector<Number> numbersOf(const runtime::Tensor& tensor) {
  std::vector<Number> numbers;
  runtime::DType dtype = tensor.dtype();
  for (size_t i = 0; i < size_t(tensor.size()); ++i) {
    const std::byte* from = tensor.bytes() + i * dtype.bytes();
    if (dtype.isFloat())
      numbers.push_back({runtime::readFloat(dtype, from), 0});
    else
      numbers.push_back({0, runtime::readWhole(dtype, from)});
  }
  return numbers;
}

} // namespace tests

// Reading and writing tensors of any element type as doubles, for kernels that decide by value and
// not by type. 64-bit integers beyond 2^53 lose digits; kernels that copy elements copy bytes.
#pragma once

#include "stdlib/ops/element_types.h"

#include <span>
#include <vector>

namespace stdlib {

/// All elements in row-major order; empty for element types that no engine computes with.
std::vector<double> readReals(const runtime::Tensor& tensor);

/// Writes `value` to element `at`; floats are rounded to the type, integers truncated.
void writeReal(runtime::Tensor& tensor, int64_t at, double value);

/// Writes a sum that was computed in float64, rounded once, or in uint64, wrapped.
template <typename T, typename Sum>
void writeSum(T& element, Sum sum) {
  if constexpr (std::is_same_v<T, runtime::Half>)
    element = T(runtime::floatRoundedToOdd(sum));
  else if constexpr (isHalf<T>)
    element = T(float(sum));
  else
    element = T(sum);
}

/// The tensor with elements that nobody else refers to: its own, if nobody does, or a copy.
runtime::Tensor ownElements(runtime::Tensor& tensor);

/// Copies `count` elements of equal type from one tensor to another.
void copyElements(const runtime::Tensor& from, int64_t fromAt, runtime::Tensor& to, int64_t toAt,
                  int64_t count);

} // namespace stdlib

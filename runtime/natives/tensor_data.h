// Reading and writing tensors of any element type as doubles, for functions that decide by value
// and not by type. 64-bit integers beyond 2^53 lose digits; those that copy elements copy bytes.
#pragma once

#include "runtime/natives/elements.h"

#include <optional>
#include <span>
#include <vector>

namespace natives {

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

/// The elements of an integer tensor in row-major order; nothing when it is of another type or has
/// an element above the range of int64.
std::optional<std::vector<int64_t>> integerValues(const runtime::Tensor& tensor);

/// The whole parts of numbers, as Relay takes counts that are floats; nothing when one is too large
/// or no number.
std::optional<std::vector<int64_t>> wholeValues(const runtime::Tensor& tensor);

/// The product of two extents. Throws std::bad_alloc where no tensor has as many elements.
int64_t extentTimes(int64_t left, int64_t right);

/// Whether two shapes agree along the dimensions that both have, from `first` to before `last`.
bool agree(const runtime::Shape& left, const runtime::Shape& right, size_t first, size_t last);

/// The tensor with elements that nobody else refers to: its own, if nobody does, or a copy.
runtime::Tensor ownElements(runtime::Tensor& tensor);

/// Copies `count` elements of equal type from one tensor to another.
void copyElements(const runtime::Tensor& from, int64_t fromAt, runtime::Tensor& to, int64_t toAt,
                  int64_t count);

} // namespace natives

// Slices of dimensions, and writing a tensor into a slice of another one.
#pragma once

#include "runtime/natives/parameters.h"

namespace natives {

/// What a slice asks of one dimension. A missing bound is the end that the stride starts from or
/// runs to; negative bounds count from the back.
struct AxisSlice {
  std::optional<int64_t> begin = std::nullopt;
  std::optional<int64_t> end = std::nullopt;
  int64_t stride = 1;
  /// `end` is a length instead of a position; never negative then.
  bool endIsSize = false;

  /// True when the slice is the whole dimension, whatever its extent.
  bool isWhole() const;
};

/// A slice of a dimension of known extent: positions begin, begin + stride, ..., `count` of them.
struct SliceRange {
  int64_t begin = 0;
  int64_t stride = 1;
  int64_t count = 0;
};

/// Nothing when the slice begins behind its end.
std::optional<SliceRange> resolveSlice(const AxisSlice& slice, int64_t extent);

/// Of data, value, and the bounds `begin`, `end` and `strides` of its leading dimensions.
extern const NativeOf<NoParameters> setSlice;

} // namespace natives

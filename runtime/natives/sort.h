// Sorting along a dimension, and what is found by it. Sorting is stable in both directions, so
// equal elements keep their order; NaN counts as larger than every number.
#pragma once

#include "runtime/natives/parameters.h"

namespace natives {

/// What sorting along an axis needs to know; `dtype` is that of positions.
struct SortParameters {
  size_t axis;
  bool isAscending;
  DType dtype;

  void list(auto& each) { each(axis, isAscending, dtype); }
};

/// What selecting needs to know; a `k` below 1 keeps all. It does not count where it is an operand.
struct TopkParameters {
  size_t axis;
  int64_t k;
  bool isAscending, wantsValues, wantsIndices;
  DType dtype;

  void list(auto& each) { each(axis, k, isAscending, wantsValues, wantsIndices, dtype); }
};

struct SearchParameters {
  bool isRight;
  DType dtype;

  void list(auto& each) { each(isRight, dtype); }
};

struct UniqueParameters {
  bool isSorted, wantsCounts;

  void list(auto& each) { each(isSorted, wantsCounts); }
};

extern const NativeOf<SortParameters> sortLines, orderOfLines;
extern const NativeOf<TopkParameters> firstOfLines, firstOfLinesByOperand;
extern const NativeOf<SearchParameters> searchLines;
extern const NativeOf<UniqueParameters> distinctElements;

} // namespace natives

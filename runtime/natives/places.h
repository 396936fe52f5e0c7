// Positions as data: which elements are not zero, and the inverse of a permutation.
#pragma once

#include "runtime/natives/elements.h"
#include "runtime/natives/parameters.h"

namespace natives {

/// Calls `visit` with the row-major number of each element that is not zero.
template <typename Visit>
bool visitNonZero(const Tensor& tensor, Visit&& visit) {
  return visitElementType(tensor.dtype(), [&](auto zero) {
    using T = decltype(zero);
    int64_t place = 0;
    for (T element : tensor.elements<T>()) {
      if (wide(element) != Wide<T>(0))
        visit(place);
      ++place;
    }
  });
}

extern const NativeOf<NoParameters> invertPermutation, nonZeroPlaces;

} // namespace natives

// Affine forms and ranges of int64 index arithmetic. Everything that could overflow says so by
// giving nothing; callers then keep the general form.
#pragma once

#include "lower/plan.h"

namespace lower {

std::optional<Affine> addAffine(const Affine& a, const Affine& b, int64_t factor = 1);
std::optional<Affine> scaleAffine(const Affine& a, int64_t factor);

/// floor(a / divisor) where that is affine, for a positive divisor: all of `a` divides, or the rest
/// stays within one step of it.
std::optional<Affine> divideAffine(const Affine& a, int64_t divisor,
                                   std::span<const int64_t> extents);
/// a mod divisor where that is affine.
std::optional<Affine> modAffine(const Affine& a, int64_t divisor, std::span<const int64_t> extents);

/// The values of a form over its axes; the full range when int64 cannot hold them.
Range rangeOf(const Affine& a, std::span<const int64_t> extents);
AxisSet axesOf(const Affine& a);

/// True when there is room to add further positions and extents without overflow.
inline bool fits(Range range) {
  constexpr int64_t limit = int64_t(1) << 62;
  return range.low > -limit && range.high < limit;
}
inline bool within(Range range, int64_t low, int64_t high) {
  return range.low >= low && range.high <= high;
}

/// The values of an integer function of two operands; the full range when nothing is known.
Range rangeOf(ScalarFunction function, Range a, Range b);

/// What the ranges already decide about a comparison.
std::optional<bool> decideComparison(ScalarFunction function, Range a, Range b);

} // namespace lower

// Affine forms and ranges of int64 index arithmetic. Everything that could overflow says so by
// giving nothing; callers then keep the general form.
#pragma once

#include "lower/strips/plan.h"

namespace lower {

/// sum += a * b; false, with nothing changed, where the number passes 64 bits.
bool multiplyAdd(Sizes& sizes, Size& sum, Size a, Size b);

std::optional<Affine> addAffine(Sizes& sizes, const Affine& a, const Affine& b, Size factor = 1);

/// An integer function of two forms, where that is affine. By a positive divisor it is if all of
/// the form divides, or the rest stays within one step of it.
std::optional<Affine> applyAffine(Sizes& sizes, ScalarFunction function, const Affine& a,
                                  const Affine& b, std::span<const Size> extents);

/// The values of a form over its axes; the full range when int64 cannot hold them.
Range rangeOf(Sizes& sizes, const Affine& a, std::span<const Size> extents);
AxisSet axesOf(const Affine& a);

/// True when there is room to add further positions and extents without overflow.
bool fits(Sizes& sizes, const Range& range);
/// True when all values are in [0, count).
bool isBelow(Sizes& sizes, const Range& range, Size count);
/// True when there is one value, whatever the sizes.
bool isPoint(const Range& range);

/// The values of an integer function of two operands; the full range when nothing is known.
Range rangeOf(Sizes& sizes, ScalarFunction function, const Range& a, const Range& b);

/// What the ranges already decide about a comparison.
std::optional<bool> decideComparison(Sizes& sizes, ScalarFunction function, const Range& a,
                                     const Range& b);

} // namespace lower

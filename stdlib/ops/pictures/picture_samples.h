// Reading pictures between their elements, in rules: samples, and the adjoint of taking them.
//
// A sample is a sum over taps: a few elements along each dimension with weights that depend on its
// position, and all products of those. Which elements and weights they are is computed in float64,
// by functions over either notation, Scalars of a tensor expression or Terms of a rule: so the rule
// is on the same side of every border as the operator is. Taps outside the pictures read zero.
#pragma once

#include "lang/op/compute.h"
#include "stdlib/ops/gradient.h"

#include <optional>

namespace stdlib {

// What positions are written with beside arithmetic and comparisons, for Scalars as for Terms.
lang::Scalar floorOf(lang::Scalar a);
lang::Scalar ceilOf(lang::Scalar a);
lang::Scalar roundOf(lang::Scalar a);
lang::Scalar absOf(lang::Scalar a);
/// Halves are rounded to the even neighbour.
lang::Scalar roundEvenOf(lang::Scalar a);
Term floorOf(const Term& a);
Term ceilOf(const Term& a);
Term roundOf(const Term& a);
Term absOf(const Term& a);
Term roundEvenOf(const Term& a);
Term select(const Term& condition, const Term& then, const Term& otherwise);

/// What samples read along one dimension: for each tap the element, its weight and how the weight
/// changes with the position, all in float64. A single tap may have no weight, which is 1.
template <typename Value>
struct Taps {
  std::vector<Value> places, weights = {}, slopes = {};
};

/// The two elements around a position, neither of them outside when that is not.
template <typename Value>
Taps<Value> linearTaps(const Value& at, const Value& extent) {
  Value left = floorOf(at), last = extent - 1.0, part = at - left;
  return {{minimum(left, last), minimum(left + 1.0, last)}, {1.0 - part, part}};
}

/// Adds the slopes to linear taps.
Taps<Term> withSlopes(Taps<Term> taps);

/// Samples that a rule takes of pictures; made by samplesOf. S is the shape of the samples.
struct PictureSamples {
  /// `[count, extents..., channels]`.
  Term pictures;
  /// The pictures as rows of channels, behind a row of zeros for what is outside.
  Term table;
  /// The row that each tap reads: an axis of taps for each extent, then S.
  Term rows;
  /// For each extent the weights and slopes of its taps, to broadcast with the rows.
  std::vector<std::optional<Term>> weights, slopes;
};

/// The samples of pictures `[count, extents..., channels]`, in whose type they are computed.
/// `picture` says which picture a sample reads, and `lines` has the taps along each extent; their
/// shapes broadcast to S and have its rank. Where `isRead` is false a sample is zero.
PictureSamples samplesOf(const Term& pictures, const Term& picture,
                         const std::vector<Taps<Term>>& lines,
                         const std::optional<Term>& isRead = std::nullopt);

/// The samples, `[S..., channels]`.
Term valuesOf(const PictureSamples& samples);
/// Cotangents of the samples added up to those of the pictures.
Term toPictures(const PictureSamples& samples, const Term& cotangent);
/// Cotangents of the samples as those of their positions: S in float64, for each extent.
std::vector<Term> toPositions(const PictureSamples& samples, const Term& cotangent);

/// The rows along the last dimension, `[count, channels]`.
Term asTable(const Term& a);
/// Adds up cotangents `[S..., channels]` in rows like those of `table`, at the numbers `rows` of S.
Term addedRows(const Term& cotangent, const Term& rows, const Term& table);

/// The float type to compute in with elements of both types: float64 if one is, else float32.
runtime::DType wideFloat(runtime::DType a, runtime::DType b);

} // namespace stdlib

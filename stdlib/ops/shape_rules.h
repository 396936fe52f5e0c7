// Rules that the operators which rearrange tensors share: axes, reshaping, slicing, and gradients
// of operators that pick elements.
//
// Problems do not name the operator; whoever reports them does.
#pragma once

#include "lang/op/compute.h"
#include "lang/op/relation.h"
#include "runtime/natives/slices.h"

namespace stdlib {

/// The largest rank that an operator may make by itself.
inline constexpr size_t largestRank = 1024;

/// The problem of an axis attribute that lies outside a rank.
std::string axisProblem(std::string_view attribute, int64_t axis, size_t rank);

/// Axes made non-negative; a problem when one lies outside the rank or, if `distinct`, occurs
/// twice.
runtime::Checked<std::vector<size_t>>
normalAxes(std::string_view attribute, std::span<const int64_t> axes, size_t rank, bool distinct);

/// The product of two dimensions; null when they are numbers whose product overflows.
const lang::Dim* timesChecked(lang::TypeContext& types, const lang::Dim* left,
                              const lang::Dim* right);

/// What `reshape` makes of a shape: `wanted` may hold the special values 0, -1, -2, -3 and -4.
/// `bounds` gets what must be a multiple of which number.
runtime::Checked<std::vector<const lang::Dim*>>
reshapedDims(const lang::RelationCall& call, lang::Dims from, std::span<const int64_t> wanted,
             bool allowZero, std::vector<lang::DimBound>* bounds = {});

/// The problem that two known element counts differ, or nothing.
std::optional<runtime::Problem> countProblem(const lang::RelationCall& call, lang::Dims from,
                                             lang::Dims to);

using natives::AxisSlice;
using natives::resolveSlice;
using natives::SliceRange;

/// The bounds of a slice as `strided_slice` gives them, before they meet a shape.
struct SliceBounds {
  std::vector<int64_t> begin, end, strides;
  /// The dimensions that the lists are about; the leading ones when missing.
  std::optional<std::vector<int64_t>> axes = std::nullopt;
  std::string_view mode = "end";
};

/// One entry per dimension of a tensor of that rank.
runtime::Checked<std::vector<AxisSlice>> axisSlices(const SliceBounds& bounds, size_t rank);

/// The answer of an operator that slices operand 0. A slice of a named extent asks for sizes at
/// which its bounds lie inside, where they need not be moved.
lang::RelationResult slicedResult(const lang::RelationCall& call,
                                  std::span<const AxisSlice> slices);

/// The position in the sliced tensor where a slice starts.
lang::Scalar sliceBegin(const lang::ComputeCall& call, const AxisSlice& slice, lang::Scalar extent);

/// A slice of one dimension whose bounds are data: entry `entry` of vectors, or where a vector has
/// no such entry, the end that the stride starts from or runs to.
struct DataSlice {
  size_t entry;
  lang::Scalar extent, stride, isForward;

  DataSlice(const lang::TensorHandle& strides, size_t entry, lang::Scalar extent);
  /// With a stride of 1.
  DataSlice(size_t entry, lang::Scalar extent);
  /// A bound moved to the positions of the dimension, one further in the direction of the stride.
  lang::Scalar begin(const lang::TensorHandle& begins) const;
  lang::Scalar end(const lang::TensorHandle& ends) const;
};

/// An index that may count from the back, as int64.
lang::Scalar wrapNegative(lang::Scalar index, lang::Scalar extent);

} // namespace stdlib

// What Winograd's convolutions and the transforms of their weights share: tile sizes and kernels,
// read and checked, and products with matrices along several dimensions.
#pragma once

#include "stdlib/ops/conv/winograd_matrices.h"

#include "lang/op/relation.h"
#include "lang/rules/gradient.h"

namespace stdlib {

/// The attribute `tile_size`, or the problem with it.
runtime::Checked<int64_t> readTile(const lang::Attributes& attributes);

/// Which spatial dimensions of a kernel are transformed: the last two, and the depth too where the
/// method knows so many taps.
struct WinogradKernel {
  std::vector<int64_t> taps;
  std::vector<size_t> transformed = {};
  std::vector<size_t> plain = {};

  /// The taps along each dimension that is transformed.
  int64_t width() const { return taps.back(); }
};

/// A kernel of that many taps along each dimension, or the problem with it.
runtime::Checked<WinogradKernel> readKernel(std::vector<int64_t> taps);

/// The problem when operand 0, called `name`, is not a float tensor of that rank.
std::optional<lang::RelationResult> requireFloats(const lang::RelationCall& call,
                                                  std::string_view name, size_t rank);

/// `extent` for each dimension that is transformed: loops over taps or over points.
lang::Extents repeated(lang::ComputeCall& call, const WinogradKernel& kernel, int64_t extent);

/// The product of the entries of `table` at pairs of a row and a column.
lang::Scalar productOfEntries(const lang::TensorHandle& table, const lang::Position& rows,
                              const lang::Position& columns);

/// A matrix as a term of a gradient rule, rounded to the type with which the operator computes.
lang::Term constantTerm(lang::TermWriter& d, const ConstantMatrix& matrix, runtime::DType dtype);

} // namespace stdlib

// Reading the attributes of Winograd's convolutions.
#include "stdlib/ops/conv/winograd_call.h"

#include "runtime/natives/tensor_data.h"

#include <fmt/format.h>

namespace stdlib {

using namespace lang;
using runtime::Checked;
using runtime::Problem;

namespace {

bool isBetween(int64_t value, int64_t least, int64_t greatest) {
  return least <= value && value <= greatest;
}

} // namespace

Checked<int64_t> readTile(const Attributes& attributes) {
  int64_t tile = attributes.integer("tile_size");
  if (!isBetween(tile, leastWinogradTile, greatestWinogradTile))
    return Problem{fmt::format("`tile_size` must be from {} to {}, but it is {}", leastWinogradTile,
                               greatestWinogradTile, tile)};
  return tile;
}

Checked<WinogradKernel> readKernel(std::vector<int64_t> taps) {
  WinogradKernel kernel{std::move(taps)};
  for (size_t i = 0; i < kernel.taps.size(); ++i) {
    bool isDepth = i + 2 < kernel.taps.size();
    bool isTransformed = isBetween(kernel.taps[i], leastWinogradTaps, greatestWinogradTaps);
    (isDepth && !isTransformed ? kernel.plain : kernel.transformed).push_back(i);
    if (!isDepth && !isTransformed)
      return Problem{fmt::format("kernels must have from {} to {} taps, but one has {}",
                                 leastWinogradTaps, greatestWinogradTaps, kernel.taps[i])};
  }
  for (size_t i : kernel.transformed)
    if (kernel.taps[i] != kernel.width())
      return Problem{fmt::format("kernels must have as many taps along each dimension, but one has "
                                 "{} and {}",
                                 kernel.taps[i], kernel.width())};
  return kernel;
}

std::optional<RelationResult> requireFloats(const RelationCall& call, std::string_view name,
                                            size_t rank) {
  if (!call.dtype(0).isFloat())
    return call.failedAt(
        0, words("`{}` must be floating point, but it is `{}`", name, call.operands[0]));
  if (call.rank(0) != rank)
    return call.failedAt(0, fmt::format("`{}` must have {} dimensions, but its shape is `{}`", name,
                                        rank, shapeText(call.shape(0))));
  return std::nullopt;
}

Extents repeated(ComputeCall& call, const WinogradKernel& kernel, int64_t extent) {
  return Extents(kernel.transformed.size(), call.integer(extent));
}

Scalar productOfEntries(const TensorHandle& table, const Position& rows, const Position& columns) {
  Scalar product = table({rows[0], columns[0]});
  for (size_t i = 1; i < rows.size(); ++i)
    product = product * table({rows[i], columns[i]});
  return product;
}

Term constantTerm(lang::TermWriter& d, const ConstantMatrix& matrix, runtime::DType dtype) {
  runtime::Tensor table(dtype, {int64_t(matrix.rows), int64_t(matrix.columns)});
  for (size_t i = 0; i < matrix.values.size(); ++i)
    natives::writeReal(table, int64_t(i), matrix.values[i]);
  return d.constant(table);
}

} // namespace stdlib

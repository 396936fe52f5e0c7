// The matrices of Winograd's convolutions, by which a sum of products over `taps` taps at `tile`
// neighbouring places becomes tile + taps - 1 products.
//
// With weights w and data d of a tile, the results are transpose(result) * ((weight * w) x
// (transpose(data) * d)), where x multiplies element by element. Each row stands for a point at
// which the two polynomials are evaluated; the last one is the point at infinity.
#pragma once

#include "lang/op/compute.h"

#include <vector>

namespace stdlib {

/// A matrix of constants in row-major order.
struct ConstantMatrix {
  size_t rows = 0, columns = 0;
  std::vector<double> values = {};

  double& at(size_t row, size_t column) { return values[row * columns + column]; }
  double at(size_t row, size_t column) const { return values[row * columns + column]; }
};

struct WinogradMatrices {
  ConstantMatrix weight, data, result;
};

inline constexpr int64_t leastWinogradTile = 2, greatestWinogradTile = 8;
inline constexpr int64_t leastWinogradTaps = 3, greatestWinogradTaps = 7;

/// The matrices for the points that TVM takes. Tile and taps must lie in the bounds above.
WinogradMatrices winogradMatrices(int64_t tile, int64_t taps);

/// The same for given points; there are tile + taps - 2 of them.
WinogradMatrices winogradMatrices(const std::vector<double>& points, int64_t tile, int64_t taps);

/// A matrix as a tensor of a computation.
lang::TensorHandle constantTable(lang::ComputeCall& call, const ConstantMatrix& matrix,
                                 runtime::DType dtype);

} // namespace stdlib

// Interpolation by the method of Toom and Cook. The points are those that keep the error small; see
// Barabasz, Anderson, Soodhalter and Gregg, "Error Analysis and Improving the Accuracy of Winograd
// Convolution for Deep Neural Networks" (2018).
#include "stdlib/ops/conv/winograd_matrices.h"

#include <cmath>

namespace stdlib {

using lang::Position;
using lang::Scalar;

namespace {

/// The finite points of `count` of them.
std::vector<double> interpolationPoints(size_t count) {
  switch (count) {
  case 5:
    return {0, -1, 1, 0.5, -2};
  case 6:
    return {0, -1, 1, 0.5, -2, -0.5};
  case 10:
    return {0, -1, 1, 0.5, -0.5, 2, -2, -0.25, 0.75, -4.0 / 3};
  case 11:
  case 12: {
    std::vector<double> points{0, -1, 1, 0.5, -0.5, 2, -2, -0.25, 4, 0.75, -4.0 / 3, 0.25};
    points.resize(count);
    return points;
  }
  default: {
    std::vector<double> points{0, -1, 1, 0.5, -0.5, 2, -2, -0.25, 4, 0.25, -0.75, 4.0 / 3, -4};
    points.resize(count);
    return points;
  }
  }
}

/// The coefficients, lowest first, of the product of x - point over all points but `left`.
std::vector<double> productOfDifferences(const std::vector<double>& points, size_t left) {
  std::vector<double> coefficients{1};
  for (size_t k = 0; k < points.size(); ++k) {
    if (k == left)
      continue;
    coefficients.push_back(0);
    for (size_t i = coefficients.size(); i-- > 0;)
      coefficients[i] = (i > 0 ? coefficients[i - 1] : 0) - points[k] * coefficients[i];
  }
  return coefficients;
}

/// Row i has the powers of point i, divided by `divisors`; the last row is the highest power alone.
ConstantMatrix powersOf(const std::vector<double>& points, const std::vector<double>& divisors,
                        size_t columns) {
  ConstantMatrix matrix{points.size() + 1, columns};
  matrix.values.resize(matrix.rows * columns);
  for (size_t i = 0; i < points.size(); ++i)
    for (size_t j = 0; j < columns; ++j)
      matrix.at(i, j) = std::pow(points[i], double(j)) / divisors[i];
  matrix.at(points.size(), columns - 1) = 1;
  return matrix;
}

} // namespace

WinogradMatrices winogradMatrices(int64_t tile, int64_t taps) {
  return winogradMatrices(interpolationPoints(size_t(tile + taps - 2)), tile, taps);
}

WinogradMatrices winogradMatrices(const std::vector<double>& points, int64_t tile, int64_t taps) {
  std::vector<double> divisors;
  double sign = 1;
  for (size_t i = 0; i < points.size(); ++i) {
    double product = 1;
    for (size_t k = 0; k < points.size(); ++k)
      product *= k == i ? 1 : points[i] - points[k];
    // The first divisor is made positive, and the data's column takes the sign.
    if (i == 0 && product < 0)
      sign = -1;
    divisors.push_back(i == 0 ? sign * product : product);
  }
  WinogradMatrices matrices;
  matrices.weight = powersOf(points, divisors, size_t(taps));
  matrices.result = powersOf(points, std::vector<double>(points.size(), 1), size_t(tile));
  size_t size = points.size() + 1;
  matrices.data = {size, size, std::vector<double>(size * size)};
  for (size_t column = 0; column < size; ++column) {
    std::vector<double> coefficients = productOfDifferences(points, column);
    for (size_t row = 0; row < coefficients.size(); ++row)
      matrices.data.at(row, column) = coefficients[row] * (column == 0 ? sign : 1);
  }
  return matrices;
}

lang::TensorHandle constantTable(lang::ComputeCall& call, const ConstantMatrix& matrix,
                                 runtime::DType dtype) {
  lang::Extents shape{call.integer(int64_t(matrix.rows)), call.integer(int64_t(matrix.columns))};
  return call.define(shape, [&](const Position& at) {
    std::optional<Scalar> table;
    for (size_t row = matrix.rows; row-- > 0;) {
      std::optional<Scalar> line;
      for (size_t column = matrix.columns; column-- > 0;) {
        Scalar value = call.number(dtype, matrix.at(row, column));
        line = line ? select(at[1] == double(column), value, *line) : value;
      }
      table = table ? select(at[0] == double(row), *line, *table) : *line;
    }
    return *table;
  });
}

} // namespace stdlib

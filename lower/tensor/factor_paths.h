// Ways of factors through sums: multiplying the weights of a convolution by one factor for each
// channel is multiplying its result so. Read off tensor functions, whatever operators they are of.
#pragma once

#include "lower/tensor/expression.h"

#include <vector>

namespace tensor {

/// With the elements of an input times `s[i]`, where `i` is their row-major position in
/// `dimCount` dimensions from `firstDim` on, the elements of the result are times `s[i]`, where `i`
/// is their position in `resultDim`, which has as many.
struct FactorPath {
  size_t firstDim;
  size_t dimCount;
  size_t resultDim;
};

/// The ways from an input, whose extents are numbers, to a result. Both are floats of 32 bits or
/// more, as all in between, and somewhere is a sum.
std::vector<FactorPath> factorPaths(const TensorFunction& function, uint32_t input, size_t result);

/// Elements of one input times `s[i]`, where `i` is their position in `fromDim`, do to the result
/// what elements of another one do that are times `s[i]` at their position in `toDim`.
struct FactorTrade {
  size_t fromDim;
  size_t toDim;
};

/// The trades between two inputs, of which `to` has numbers for extents; the same holds of floats
/// and sums.
std::vector<FactorTrade> factorTrades(const TensorFunction& function, uint32_t from, uint32_t to,
                                      size_t result);

} // namespace tensor

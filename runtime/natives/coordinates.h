// Sparse tensors as lists of the coordinates of their elements.
//
// Coordinates outside a tensor write nothing when it is made dense, and of several values for one
// place the last counts, as in Relay.
#pragma once

#include "runtime/natives/parameters.h"

namespace natives {

/// The shape of the dense tensor.
struct DenseParameters {
  Shape shape;

  void list(auto& each) { each(shape); }
};

/// The rank of the dense tensor, where its shape is an operand.
struct RankParameters {
  size_t rank;

  void list(auto& each) { each(rank); }
};

extern const NativeOf<DenseParameters> fillDense;
extern const NativeOf<RankParameters> fillDenseByOperand;
extern const NativeOf<NoParameters> fillEmptyRows;

/// How many rows a sparse tensor has, and how many of them are empty; or what is wrong with the
/// coordinates.
struct RowCounts {
  int64_t all = 0, empty = 0;
  NativeFault fault = {};
};
RowCounts countRows(const Tensor& indices, const Tensor& shape);

} // namespace natives

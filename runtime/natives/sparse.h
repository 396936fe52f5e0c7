// Products and sums with sparse matrices: CSR, where single elements are stored, and BSR, where
// blocks are.
//
// Row of blocks i holds blocks `indptr[i]` to `indptr[i + 1]`, block k stands in column of blocks
// `indices[k]`. CSR is BSR with blocks of one element. Products are added up in float64 and rounded
// once; whole numbers wrap.
#pragma once

#include "runtime/natives/parameters.h"

namespace natives {

/// Whether the sparse matrix is on the left; or whether the other one is pictures, with channels
/// first or last, whose pixels are multiplied with the window around them or alone.
struct ProductParameters {
  bool isLeft, isConv, channelsFirst, isWindow;

  void list(auto& each) { each(isLeft, isConv, channelsFirst, isWindow); }
};

extern const NativeOf<ProductParameters> multiplySparse;
extern const NativeOf<NoParameters> addSparse, transposeSparse;

} // namespace natives

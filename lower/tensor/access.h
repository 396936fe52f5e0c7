// How tensor functions read their tensors: what decides which of them are computed together.
#pragma once

#include "lower/tensor/expression.h"
#include "lower/tensor/walk.h"

#include <set>
#include <unordered_set>
#include <vector>

namespace tensor {

/// Whether two extents are known to be equal.
bool isSameExtent(const ScalarNode* a, const ScalarNode* b);

/// How the stages of a function read one tensor.
struct Reading {
  /// Where maps read it, as the nodes of the positions.
  std::set<ScalarNodes> positions = {};
  /// Some element may be read for several elements of a result.
  bool isShared = false;
  /// Some element may be read again in the loops of a reduction, as factors of a product are.
  bool isReused = false;
  /// In a reduction.
  bool isReduced = false;
  /// By a reduction along the last dimension alone, for each row of its result.
  bool isByRows = false;
  /// As a whole, by a scan.
  bool isWhole = false;
  /// Under another shape, which takes no time.
  bool isViewed = false;
};

/// By tensor.
std::vector<Reading> readingsOf(const TensorFunction& function);

/// What computing one element takes.
struct Work {
  size_t nodes = 0;
  size_t loads = 0;
  /// Something in it takes as long as many additions do.
  bool isDear = false;
  bool reduces = false;

  bool isCheap() const { return !isDear && !reduces && nodes <= mostCheap; }

private:
  static constexpr size_t mostCheap = 16;
};
Work workOf(const ScalarNode* body);

/// Whether elements of the inputs may make the function fail: as positions, or as divisors.
bool mayFault(const TensorFunction& function);

} // namespace tensor

// The extents of the tensors in a call: what they are to each other, and how those of the results
// follow from those of the operands.
//
// Extents stand in one row: those of the first tensor, of the second and so on, the fields of a
// tuple in their order. Each is a size of one table; equal places are equal extents, and the first
// extent that is a name gives the name its size. A call for which that does not hold may still be a
// good one: the operator's relation has to be asked, and has the words for what is wrong.
#pragma once

#include "runtime/checks/declared.h"

#include <span>

namespace checks {

struct Shapes {
  struct Equal {
    uint32_t left = 0, right = 0;
  };
  /// At least so much, and a multiple of `divisor`.
  struct Bound {
    uint32_t size = 0;
    int64_t least = INT64_MIN;
    int64_t divisor = 1;
  };

  SizeTable sizes = {};
  /// Of all extents their places in the table.
  std::vector<uint32_t> operands = {}, results = {};
  /// What must hold besides.
  std::vector<Equal> equal = {};
  std::vector<Bound> bounds = {};
};

/// Whether operands may have these extents, as far as they tell of each other.
bool takes(const Shapes& shapes, std::span<const int64_t> operands);
/// Whether a call may have these extents, of operands and, behind them, of results.
bool fits(const Shapes& shapes, std::span<const int64_t> extents);
/// Fills in the extents of the results; false when operands have others than it is for. Allocates
/// nothing, unless there are more than a few dozen different sizes.
bool findResults(const Shapes& shapes, std::span<const int64_t> operands,
                 std::span<int64_t> results);

/// Whether the extents of the results follow from those of the operands.
bool areResultsGiven(const Shapes& shapes);

/// What is wrong with shapes that somebody may have made up, for operands and results with so many
/// extents; null when nothing is.
const char* problemOf(const Shapes& shapes, size_t operands, size_t results);

} // namespace checks

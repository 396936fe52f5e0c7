// What choosers of schedules decide by themselves, as numbers that a search may change.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace loops {

/// As it stands here a chooser follows its model of cost. A schedule is valid whatever these are.
struct Choices {
  /// Vectors and rows of a tile of products; 0: those that the model finds cheapest.
  int64_t tileVectors = 0, tileRows = 0;
  /// Bytes of copies that stay near while rows go by, in the first and in the second cache.
  int64_t nearBytes = 32 << 10, blockBytes = 1 << 20;
  /// Whether lanes go over the kernels of convolutions, and bytes of a piece of their windows.
  int64_t kernelsInLanes = 1, windowBytes = 160 << 10;
  /// Whether short rows become one long row, and loops are joined over bands of rows.
  int64_t flattensRows = 1, joinsBands = 1;
  /// Vectors of partial sums, which keep additions from waiting for each other; twice as many for
  /// the sums of a few rows together.
  int64_t sumVectors = 4;

  friend bool operator==(const Choices&, const Choices&) = default;
};

/// One of these that a search may change, and to what.
struct Knob {
  std::string_view name;
  int64_t Choices::*choice;
  std::span<const int64_t> values;
};

std::span<const Knob> knobs();

} // namespace loops

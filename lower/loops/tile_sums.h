// Sums of a tile side by side: a part of choose.h.
#pragma once

#include "lower/loops/contractions.h"
#include "lower/loops/trial.h"

#include <optional>
#include <string>
#include <vector>

namespace loops {

/// The loops of a tile, outermost first, where products are added and where sums are read.
struct TileLoops {
  std::vector<std::string> summed, readers;
};

/// What one product of each sum of a tile costs: a unit for each vector that is multiplied, and one
/// for each that is loaded or filled with an element, as measured on tiles of 14x2, 8x3 and 6x4
/// vectors.
inline double costOfTile(int64_t rows, int64_t vectors) {
  return double(rows * vectors + rows + vectors);
}

/// Cuts what makes the accumulators of a tile off what joins, and that off what reads; then the
/// loops of the tile, which are given outermost first, stand inside of the sum.
std::optional<TileLoops> sumInside(Trial& trial, const Contraction& contraction,
                                   std::vector<std::string> tile);

} // namespace loops

// Tiles for sums of products: a part of choose.h.
#pragma once

#include "lower/loops/choose.h"

namespace loops {

/// A sum for each pair of rows and columns, as loops stand that nobody changed: in the body of
/// `columns`, alone in `rows`, an accumulator is allocated, made, joined to in the loops `summed`,
/// outermost first, and read.
struct Contraction {
  std::string rows, columns, accumulator;
  std::vector<std::string> summed;
};

/// Those that a nest has.
std::vector<Contraction> contractionsOf(const Nest& nest);

/// Tiles a contraction: accumulators for so many rows and columns are kept while the sum runs, and
/// what is read of them is made of the tile. Steps are added; nothing changes where one is refused.
void tileContraction(Scheduled& made, const Contraction& contraction, const MachineModel& machine);

} // namespace loops

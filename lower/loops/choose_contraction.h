// Tiles for sums of products: a part of choose.h.
#pragma once

#include "lower/loops/choose.h"
#include "lower/loops/contractions.h"

namespace loops {

/// Tiles a contraction: accumulators for so many rows and columns are kept while the sum runs, and
/// what is read of them is made of the tile. Columns are the points of the innermost loop, in
/// lanes; rows are those of a loop that what the lanes read does not hang on. What lies apart from
/// column to column is packed for all rows first. Steps are added; nothing changes where one is
/// refused. What tiles leave over are contractions once more.
void tileContraction(Scheduled& made, const Contraction& contraction, const MachineModel& machine);

} // namespace loops

// Products of a few rows with columns that lie along the sum, as in a dense layer: a part of
// choose.h.
#pragma once

#include "lower/loops/choose.h"
#include "lower/loops/contractions.h"

namespace loops {

/// Lanes run along the sum, and all rows share what is read of a column, which is read once in the
/// order in which it lies. Nothing where a contraction is not of that kind.
std::optional<Scheduled> tiledFewRows(const Scheduled& made, const Contraction& contraction,
                                      const MachineModel& machine);

} // namespace loops

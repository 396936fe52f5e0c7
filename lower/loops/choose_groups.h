// Groups of products of whole numbers, for instructions that add several to a sum: a part of
// choose_contraction.h.
#pragma once

#include "lower/loops/contractions.h"
#include "lower/loops/trial.h"

namespace loops {

/// Whether a machine has instructions for the products of a contraction.
bool mayGroup(Nest& nest, const Contraction& contraction, const MachineModel& machine);

/// Has a contraction, before it is tiled, run so many of its products at once as an instruction
/// takes, with factors of the signs that it takes, and copies of what does not lie side by side.
bool groupProducts(Trial& trial, Contraction& contraction, const MachineModel& machine);

/// Has scratch hold factors of groups as instructions take them, once all is tiled.
void keepFactors(Scheduled& made, const MachineModel& machine);

} // namespace loops

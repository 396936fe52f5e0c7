// Short rows one after the other: a part of choose.h.
#pragma once

#include "lower/loops/choose.h"

namespace loops {

/// Makes one loop of two over short rows where all that hangs on either is read and written row
/// after row, as what an element of a map is made of by itself or by a product over channels. So
/// lanes and tiles are cut from maps, not from each row. Steps are added.
void flattenRows(Scheduled& made, const MachineModel& machine);

} // namespace loops

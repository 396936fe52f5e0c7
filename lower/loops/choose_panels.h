// Constants that stand in panels: a part of choose.h.
#pragma once

#include "lower/loops/choose.h"

namespace loops {

/// Reads panels where they lie instead of through a copy in another order; a panel is what the pass
/// `lay-out-weights` makes of weights, and is read at `i/64` and, along its last dimension, `i %
/// 64`.
void readPanels(Scheduled& made);

/// Cuts loops over what stands in panels into one over panels, and one inside of a panel.
void splitPanels(Scheduled& made);

} // namespace loops

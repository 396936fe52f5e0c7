// Products of windows that go over an operand, as in a convolution, with kernels of their own for
// each channel: a part of choose.h.
#pragma once

#include "lower/loops/choose.h"
#include "lower/loops/contractions.h"

namespace loops {

/// Sums over one kernel that pay for reading it in panels, where kernels lie side by side.
inline constexpr int64_t fewestSumsOfPanels = 32;

/// Lanes go over the kernels, whose elements are copied side by side, and each element of a window
/// is multiplied with a whole vector of them: so windows that overlap are read where they lie.
/// Nothing where a contraction is not of that kind, or has too little work for the copies.
std::optional<Scheduled> tiledWindows(const Scheduled& made, const Contraction& contraction,
                                      const MachineModel& machine);

} // namespace loops

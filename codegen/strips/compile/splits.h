// Loops that go through an axis in pieces, as a loop over pieces and one inside of a piece.
#pragma once

#include "lower/loops/nest.h"

namespace strips {

/// Splits loops whose variable is divided by a number that divides their end: what tiles, repeats
/// and reshapes read is then in a row, or goes on evenly.
void splitLoops(loops::Nest& nest);

} // namespace strips

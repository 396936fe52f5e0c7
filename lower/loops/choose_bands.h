// Bands of rows that stages go through together: a part of choose.h.
#pragma once

#include "lower/loops/choose.h"

namespace loops {

/// Joins loops that follow each other where the second reads what the first makes for a band of
/// rows, as the tile of a contraction has them, if then scratch between them is kept for one band
/// only: so attention keeps the scores of a tile of rows. A loop over single rows is cut into
/// bands for that. Steps are added.
void joinBands(Scheduled& made);

} // namespace loops

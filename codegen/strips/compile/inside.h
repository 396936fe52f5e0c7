// Positions that are sure to be inside of their tensors.
#pragma once

#include "lower/loops/nest.h"

namespace strips {

/// Takes the checks off places whose values are clamped to the extent of their dimension, as those
/// of `take` are.
void checkNoMore(loops::Nest& nest);

/// From here on each place says by itself whether it is looked at: those of reads that have a value
/// for places outside are checked, too, but where loops and sizes prove that they are inside.
void checkOpenPlaces(loops::Nest& nest);

} // namespace strips

// Positions that are values, and sure to be inside of their tensors.
#pragma once

#include "lower/loops/nest.h"

namespace strips {

/// Takes the checks off places whose values are clamped to the extent of their dimension, as those
/// of `take` are.
void checkNoMore(loops::Nest& nest);

} // namespace strips

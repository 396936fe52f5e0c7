// Which results may be computed in the memory of an input.
#pragma once

#include "lower/loops/nest.h"

namespace loops {

/// Pairs of an input and an output of a nest that verifies, by their places among the buffers, which
/// may lie in the same memory: they are of the same type and extents, and no element of the input is
/// read once one of the output is stored at its place. A strip of elements is read before one of it
/// is stored.
std::vector<std::pair<uint32_t, uint32_t>> sharableBuffers(const Nest& nest);

/// Whether some statement may find a fault.
bool mayFail(const Nest& nest);

} // namespace loops

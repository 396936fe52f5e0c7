// Loops that walk all memory as one.
#pragma once

#include "codegen/strips/compile/flat.h"

namespace strips {

/// Makes one loop of two, the second alone in the first, wherever each access goes on with the
/// first where the second ends. Then the variable of the second runs past its dimension and that of
/// the first is 0, so a nest means the same only by the flat places of its accesses.
void mergeLoops(Nest& nest);

} // namespace strips

// Whether the pass `flatten-tuples` finds anything to do.
#pragma once

#include "lang/module.h"
#include "transform/passes.h"

namespace transform {

/// Whether some function only takes apart a tuple that it is given.
bool takesTuplesApart(const lang::Module& module, const lang::Typing& typing, Entries entries);

} // namespace transform

// What tells whether deforestation has anything to look at.
#pragma once

#include "lang/module.h"
#include "lang/typing.h"

namespace transform {

/// Whether some call of a global takes data that only it is given, from a call of a global in the
/// same block. Quick, and true where the pass may still change nothing.
bool hasChains(const lang::Module& module, const lang::Typing& typing);

} // namespace transform

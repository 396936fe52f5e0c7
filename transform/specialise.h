// Specialisation for machines, where each call of the text is a call that people may count.
#pragma once

#include "transform/passes.h"

namespace transform {

/// As the pass `specialise`, but local functions with type parameters stay as they are.
std::unique_ptr<lang::Module> specialiseGlobals(const lang::Module& module,
                                                const PassContext& context);

} // namespace transform

// What other passes ask of specialisation.
#pragma once

#include "transform/passes.h"

namespace transform {

/// As the pass `specialise`, but local functions with type parameters stay as they are: each call
/// of the text is a call that people may count.
std::unique_ptr<lang::Module> specialiseGlobals(const lang::Module& module,
                                                const PassContext& context);

/// Whether a generic function may be a value, whose type parameters a call has to tell.
bool hasGenericValues(const lang::Module& module, const lang::Typing& typing);

} // namespace transform

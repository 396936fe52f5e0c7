// Lets of functions that are differentiated, where only one side of a branch needs them.
#pragma once

#include "transform/passes.h"

namespace transform {

/// The module with lets without effects in the only branch that needs them, in functions that
/// derivatives reach; everything else stays as it was.
std::unique_ptr<lang::Module> withSunkenLets(const lang::Module& module,
                                             const PassContext& context);

} // namespace transform

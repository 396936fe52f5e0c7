// What inlining offers besides its passes.
#pragma once

#include "transform/passes.h"

namespace transform {

/// What the pass `inline-quiet` makes of a module; null where there is nothing to do.
std::unique_ptr<lang::Module> withQuietInlined(const lang::Module& module,
                                               const PassContext& context);

} // namespace transform

// Whether the pass `flatten-tuples` finds anything to do.
#pragma once

#include "lang/module.h"
#include "lang/typing.h"

namespace transform {

/// Whether some function only takes apart a tuple that it is given.
bool takesTuplesApart(const lang::Module& module, const lang::Typing& typing,
                      std::string_view entry);

} // namespace transform

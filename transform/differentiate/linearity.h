// Whether a function is linear in some of its arguments: its transpose is that of its derivative
// only then.
//
// The function is gone through with degrees in the place of values, calls and closures too, each
// function once for each choice of degrees that it is called with. Loops end when nothing changes.
#pragma once

#include "lang/ir/builder.h"
#include "lang/ir/typing.h"
#include "lang/source/diagnostic.h"

namespace transform {

/// Reports what in a function is not linear in the parameters of these numbers together.
void checkLinear(lang::Builder& make, const lang::Typing& typing, lang::Diagnostics& findings,
                 const lang::Expr& function, const std::vector<size_t>& parameters);

} // namespace transform

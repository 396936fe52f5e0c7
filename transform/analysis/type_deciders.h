// Which variables must not become constants: where a relation looks at constants, such as the
// bounds of a range, one more of them makes another type, or a mistake of what was a fault.
#pragma once

#include "lang/ir/module.h"
#include "lang/ir/typing.h"

#include <vector>

namespace transform {

/// By Var::number, whether a call that uses the variable would be typed by its value.
std::vector<bool> typeDeciders(const lang::Module& module, const lang::Typing& typing);

} // namespace transform

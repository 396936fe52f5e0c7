// The checker with the operators of the library, as passes are handed it.
#pragma once

#include "lang/ir/typing.h"
#include "lang/source/diagnostic.h"

namespace lang {
struct Module;
}

namespace harness {

lang::Typing checkTypes(const lang::Module& module, lang::Diagnostics& diagnostics);

} // namespace harness

// What the verifier demands of a program's tables, before it looks at code.
#pragma once

#include "runtime/refused.h"
#include "vm/machine/program.h"

namespace vm {

using runtime::demand, runtime::Refused;

/// That what layouts, statics, functions and sites say of each other is so. Throws Refused.
void verifyTables(const Program& program);

} // namespace vm

// Statements as instructions: what is read, computed, checked and stored, for one place or for as
// many lanes as the loop around runs in.
#pragma once

#include "codegen/llvm/elements.h"

namespace codegen {

/// Throws Unsupported.
void writeStatement(const Surroundings& around, const loops::Statement& statement);
/// What a statement stores that joins nothing and cannot fail, as it lies in memory. Throws
/// Unsupported.
IrValue storedValue(const Surroundings& around, const loops::Statement& statement);

} // namespace codegen

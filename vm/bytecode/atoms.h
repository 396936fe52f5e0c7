// Atoms that are no variables, as values in registers.
#pragma once

#include "vm/bytecode/function_state.h"

namespace bytecode {

uint16_t loadAtom(FunctionState& state, const Expr& atom, const lang::Type* wanted,
                  const Environment& environment);
void loadAtomTo(FunctionState& state, uint16_t reg, const Expr& atom, const lang::Type* wanted,
                const Environment& environment);

} // namespace bytecode

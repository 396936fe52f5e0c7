// Pairs of instructions that are one: what ends a call with what it just computed, and calls that
// put one argument into its place. One dispatch is what a small instruction costs.
#pragma once

#include "vm/machine/program.h"

#include <optional>

namespace bytecode {

/// The instruction that ends the call with what this one computes.
std::optional<vm::Op> returning(vm::Op op);

/// The call that does what `argument` does before it calls; `call` is Call or TailCall.
std::optional<vm::Op> calling(vm::Op argument, vm::Op call);

} // namespace bytecode

// Values of the run-time from objects of the machine.
#pragma once

#include "vm/program.h"

namespace vm {

/// The value of a slot; an object says by itself what it is. What is shared stays shared, cycles of
/// references too. Recursion does not follow data.
runtime::Value toValue(const Program& program, Rep rep, Slot slot);

} // namespace vm

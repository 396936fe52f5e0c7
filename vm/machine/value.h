// Values of the run-time from objects of the machine.
#pragma once

#include "vm/machine/program.h"

namespace vm {

/// A value of its own where it is a tensor: elements may be shared between threads, but the counts
/// of values are those of one thread.
runtime::Value ownValue(const runtime::Value& value);

/// The value of a slot; an object says by itself what it is. What is shared stays shared, cycles of
/// references too. Recursion does not follow data.
/// For another thread the machine must have no part of it (`isOwn`), as `ownValue` has not.
runtime::Value toValue(const Program& program, Rep rep, Slot slot, bool isOwn = false);

/// The value of a reference that is about to be given up: out of its object, which must not be used
/// but to release it, where this is the last reference.
runtime::Value takeValue(const Program& program, Slot slot);

} // namespace vm

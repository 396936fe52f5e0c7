// Code of one function.
#pragma once

#include "vm/bytecode/instances.h"

namespace bytecode {

/// Compiles an instance and what it needs of the host, and asks `instances` for what it calls.
void compileFunction(Instances& instances, const Instance& instance);

/// Compiles what is no function of the text: the application of a constructor.
void compileWrapper(Instances& instances, const Instance& instance);

} // namespace bytecode

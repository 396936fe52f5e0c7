// Programs of the machine as text.
#pragma once

#include "vm/program.h"

#include <string>

namespace vm {

/// The functions with their instructions, one on a line.
std::string disassemble(const Program& program);

} // namespace vm

// From the code of a program to what the loop runs.
#pragma once

#include "vm/program.h"

namespace vm {

/// Which operand of an instruction in a chain (linked.def) is what the one before it gave: b or c.
enum class Use : uint8_t { Left, Right };

/// The program's code, in which calls say how far away the function is, and switches count from
/// their own place. Unless every instruction is to be seen, calls that go with the first
/// instruction of the function are made one with it.
std::vector<Word> linkedCode(const Program& program, bool fuses);

} // namespace vm

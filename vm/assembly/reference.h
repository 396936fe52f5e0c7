// The table of instructions for people.
#pragma once

#include <string>

namespace assembly {

/// Markdown: what operands are, and each instruction with its own and what it does.
std::string instructionReference();

} // namespace assembly

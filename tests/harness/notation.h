// A generated program in Baton's own notation, written as people might: with open parameters,
// pipes, guards and the rest (spelling.h), each of which means the same as what it stands for. The
// program's text in Relay's format is what it is held against.
#pragma once

#include "tests/harness/program.h"
#include "tests/harness/spelling.h"

namespace harness {

/// A program and, where it is not empty, the text that it imports as `parts`.
struct NotationTexts {
  std::string program;
  std::string imported;
};

/// Writes a program; `spelling` chooses how and counts what it chose.
NotationTexts notationTexts(const Program& program, Spelling& spelling);

} // namespace harness

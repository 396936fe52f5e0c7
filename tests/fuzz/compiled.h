// Executables made of programs, and as texts.
#pragma once

#include "tests/fuzz/executables.h"

#include <string>

namespace fuzz {

/// The executable of a program in a file, or nothing when it is no good program.
std::vector<std::byte> compileFile(const std::string& path);

/// An executable as text.
std::string textOf(const std::vector<std::byte>& bytes);

/// Reads the text of an executable and, if it is accepted, runs it; what is refused must be so with
/// words.
Outcome tryText(std::string text);

} // namespace fuzz

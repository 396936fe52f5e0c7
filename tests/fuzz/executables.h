// Executables for tests: made of programs, damaged, and tried.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace fuzz {

/// The executable of a program in a file, or nothing when it is no good program.
std::vector<std::byte> compileFile(const std::string& path);

/// Makes the checksum of a file right, so that more than the checksum is tried.
void sealExecutable(std::vector<std::byte>& bytes);

struct Outcome {
  bool isAccepted = false;
  /// Whether the call of the entry gave a value.
  bool ran = false;
};

/// An executable as text.
std::string textOf(const std::vector<std::byte>& bytes);

/// Reads an executable and, if it is accepted, runs it within narrow limits on zeros and ones.
Outcome tryExecutable(const std::vector<std::byte>& bytes);

/// The same for a text; what is refused must be so with words.
Outcome tryText(std::string text);

} // namespace fuzz

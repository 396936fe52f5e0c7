// Executables for tests, damaged or not, read and run without the language.
#pragma once

#include "vm/executable/executable.h"

#include <cstddef>
#include <vector>

namespace fuzz {

/// Makes the checksum of a file right, so that more than the checksum is tried.
void sealExecutable(std::vector<std::byte>& bytes);

struct Outcome {
  bool isAccepted = false;
  /// Whether the call of each entry gave a value.
  bool ran = false;
};

runtime::Result<std::unique_ptr<executable::Executable>> read(const std::vector<std::byte>& bytes);

/// Runs each entry within narrow limits on zeros and ones; whether all of them gave values.
bool run(const executable::Executable& made);

/// Reads an executable and, if it is accepted, runs it.
Outcome tryExecutable(const std::vector<std::byte>& bytes);

} // namespace fuzz

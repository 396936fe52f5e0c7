// A run by way of an executable: what is compiled, written, read, linked and run is the program.
#pragma once

#include "tests/harness/reader.h"
#include "vm/bytecode/run.h"

namespace harness {

/// How a run ended, and what its values point into.
struct FileRun {
  ReadText language;
  std::unique_ptr<bytecode::Linked> linked;
  std::variant<runtime::Value, runtime::RunFault> result;
};

/// What a call of a global gives from an executable in memory, whose code must be the same after
/// writing and reading. Throws what compiling throws, and std::runtime_error when the file is not
/// what was written.
FileRun runThroughFile(const ReadText& read, const lang::Global& entry,
                       std::vector<runtime::Value> arguments, const bytecode::Options& options,
                       Reader& reader);

} // namespace harness

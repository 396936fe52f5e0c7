// What a command says and how it ends. Commands return this and write nothing, so they can be
// tested like any function; only driver/main.cpp and the progress line touch the terminal.
#pragma once

#include <algorithm>
#include <string>

namespace driver {

/// The exit codes of `baton`.
enum class ExitCode : int {
  Good = 0,
  /// The program is wrong.
  Program = 1,
  /// The world is wrong: a file, memory, the command line.
  World = 2,
  /// Baton is wrong.
  Fault = 70,
  /// Somebody ended the run, as a shell reports an interrupt.
  Interrupted = 130
};

/// An exit code and the texts for standard output and standard error.
struct Answer {
  ExitCode code = ExitCode::Good;
  std::string output = {};
  std::string errors = {};

  /// Adds an error message, and ends with the code that weighs most: World over Program over Good.
  void fail(ExitCode reason, const std::string& message) {
    code = std::max(code, reason);
    errors += "error: " + message + '\n';
  }
};

} // namespace driver

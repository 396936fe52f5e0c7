// What a command reads: a file, or standard input, which is called `-`.
#pragma once

#include "runtime/result.h"

#include <optional>
#include <string>

namespace driver {

/// What a file is called where places in it are told.
inline std::string sourceName(const std::string& path) {
  return path == "-" ? "<stdin>" : path;
}

/// A file by its path. A pipe gives what it has only once, so that is kept when it was read to know
/// what it is.
class Input {
public:
  enum class Kind : uint8_t { Program, Executable, Assembly };

  Input(std::string path) : path_(std::move(path)) {}

  const std::string& path() const { return path_; }
  /// For messages: the path in backquotes, or `standard input`.
  std::string quoted() const;
  /// Whether it can be opened again, and mapped.
  bool isRegular() const;
  /// By how it begins; a program where it cannot be read.
  Kind kind();
  bool isExecutable() { return kind() != Kind::Program; }
  /// All that it has; to be asked once.
  runtime::Result<std::string> read();

private:
  std::string path_;
  std::optional<runtime::Result<std::string>> kept_;
};

} // namespace driver

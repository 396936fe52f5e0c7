// Files that a command is to write, looked at before it works, so that nothing that takes long is
// lost.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace driver {

/// A file that an option names, if it was said.
struct OutputPath {
  std::string_view option;
  std::optional<std::string> path;
};

/// Why a command that reads `file` cannot write these, or would lose one of them or what it reads;
/// empty when all is well.
std::string outputProblem(const std::string& file, const std::vector<OutputPath>& outputs);

} // namespace driver

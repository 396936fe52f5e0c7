// What functions and variables are called when a run is shown.
#pragma once

#include "driver/session.h"

#include <string>
#include <vector>

namespace driver {

class RunNames {
public:
  RunNames(const Program& program, const lang::SourceMap& sources);

  /// `@f`; `%f` for a function that a let names; else `fn`.
  const std::string& of(const lang::Function& function) const {
    return functions_[function.number];
  }
  /// `%x`; `%1` for the value of a graph line; else what the text says there, in few characters.
  const std::string& of(const lang::Var& var) const { return vars_[var.number]; }
  /// Whether the program has a name for it.
  bool isNamed(const lang::Var& var) const { return isNamed_[var.number]; }

private:
  std::vector<std::string> functions_, vars_;
  /// By variable.
  std::vector<bool> isNamed_;
};

} // namespace driver

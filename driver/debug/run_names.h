// What functions and variables are called when a run is shown.
#pragma once

#include "driver/session/session.h"

#include <string>
#include <vector>

namespace driver {

class RunNames {
public:
  /// What stands behind the name of a function that is a pull-back.
  static constexpr std::string_view wayBack = ", way back";

  RunNames(const Program& program, const lang::SourceMap& sources);

  /// `@f`; `%f` for a function that a let names; else `fn`. Of a derivative the function that is
  /// differentiated, with what this one is of it behind a comma.
  const std::string& of(const lang::Function& function) const {
    return functions_[function.number];
  }
  /// Whether a function of that name, or its derivative, is what this one does.
  bool isOf(const lang::Function& function, std::string_view name) const;
  /// `%x`; `%1` for the value of a graph line; else what the text says there, in few characters.
  const std::string& of(const lang::Var& var) const { return vars_[var.number]; }
  /// Whether the program has a name for it.
  bool isNamed(const lang::Var& var) const { return isNamed_[var.number]; }

private:
  void nameValues(const Program& program);

  std::vector<std::string> functions_, vars_;
  /// By variable.
  std::vector<bool> isNamed_;
};

/// What the text of a program with derivatives calls the function that stands there, or else
/// `other`.
std::string writtenName(const Program& program, lang::SourceRange range, const std::string& other);

} // namespace driver

// What of a program with derivatives people follow: the code that they wrote, and on the way back
// the operators and calls of its rules. What holds both together, such as pairs of values and
// pull-backs, is not shown.
#pragma once

#include "driver/session/session.h"

#include <unordered_map>

namespace driver {

class DerivedCode {
public:
  explicit DerivedCode(const Program& program);

  /// Whether evaluating a binding is a step.
  bool isStep(const lang::Binding& binding) const;
  /// Whether a variable is nothing that the program knows.
  bool isHidden(const lang::Var& var) const { return hidden_[var.number]; }
  /// The binding that takes the value out of what a call gives, where that has a pull-back beside
  /// it; else null.
  const lang::Binding* valueBinding(const lang::Var& var) const;
  /// What a function of the text gives, without the pull-back beside it.
  static const runtime::Value& valueAlone(const runtime::Value& value);

private:
  const Written& written_;
  /// By variable.
  std::vector<bool> hidden_;
  std::unordered_map<const lang::Var*, const lang::Binding*> values_;
};

} // namespace driver

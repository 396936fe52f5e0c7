// Which values of a module follow from constants, and which have one use.
#pragma once

#include "lang/ir/module.h"
#include "runtime/function_ref.h"

#include <vector>

namespace transform {

/// Calls `visit` with each block of a module, outer ones first.
void forEachBlockOf(const lang::Module& module,
                    runtime::FunctionRef<void(const lang::Block&)> visit);

class ConstantUses {
public:
  explicit ConstantUses(const lang::Module& module);

  /// Whether it is a constant, or what operators make of constants.
  bool isConstant(const lang::Expr& atom) const;
  /// Null for a variable that is bound elsewhere than in a block.
  const lang::Binding* bindingOf(const lang::Var& var) const { return bindings_[var.number]; }
  /// The binding that is the only use of a variable, or null.
  const lang::Binding* userOf(const lang::Var& var) const {
    return mentions_[var.number] == 1 ? users_[var.number] : nullptr;
  }

  /// Takes a use off a constant, and off what it is made of when that was the last one.
  void forget(const lang::Expr& used);
  /// Whether a variable is a constant all of whose uses were forgotten.
  bool isForgotten(const lang::Var& var) const {
    return isConstant_[var.number] && mentions_[var.number] == 0;
  }

private:
  void add(const lang::Binding& binding);

  /// By Var::number.
  std::vector<uint32_t> mentions_;
  std::vector<const lang::Binding*> bindings_, users_;
  std::vector<bool> isConstant_;
};

} // namespace transform

// What is known of function values: which binding, global or literal an atom stands for, which
// functions may call themselves, and how large bodies are.
#pragma once

#include "lang/ir/module.h"

#include <unordered_set>

namespace transform {

/// The function that a callee is, or null. `binding` is that of a literal.
struct KnownFunction {
  const lang::Function* function = nullptr;
  const lang::Global* global = nullptr;
  const lang::Binding* binding = nullptr;

  explicit operator bool() const { return function != nullptr; }
};

class KnownFunctions {
public:
  explicit KnownFunctions(const lang::Module& module);

  /// What an atom stands for, seen through names for other atoms and through fields of tuples that
  /// are made in the open. It is in scope wherever the atom is.
  const lang::Expr& origin(const lang::Expr& atom) const {
    const auto* var = atom.as<lang::Var>();
    const lang::Expr* known = var ? origins_[var->number] : nullptr;
    return known ? *known : atom;
  }
  KnownFunction of(const lang::Expr& atom) const;
  /// The binding of a variable; null for parameters and what patterns bind.
  const lang::Binding* binding(const lang::Var& var) const { return bindings_[var.number]; }
  /// Whether a call of the function may call it again.
  bool isRecursive(const KnownFunction& known) const { return recursive_.contains(known.function); }
  /// Whether it is one of those functions without which no function would call itself, of every
  /// circle of globals at least one.
  bool closesCircle(const KnownFunction& known) const { return closing_.contains(known.function); }

private:
  void findOrigin(const lang::Binding& binding);
  void findRecursiveGlobals(const lang::Module& module);
  void findRecursiveLiterals(const lang::Module& module);

  /// By Var::number.
  std::vector<const lang::Binding*> bindings_;
  /// Null for variables that stand for themselves.
  std::vector<const lang::Expr*> origins_;
  std::unordered_set<const lang::Function*> recursive_, closing_;
};

/// The functions that code calls, and mentions in no other way; `entries` are called from outside.
std::unordered_set<const lang::Global*> onlyCalled(const lang::Module& module,
                                                   std::span<const lang::Global* const> entries);

/// How many bindings a function's body has, those inside of others too.
size_t bodySize(const lang::Function& function);

/// Visits the atoms of a block, those in attributes too.
void forEachAtom(const lang::Block& block, const std::function<void(const lang::Expr&)>& visit);

} // namespace transform

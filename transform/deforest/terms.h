// What driving knows of a value: the terms of deforestation.
//
// A term stands for a value that is not made yet, in the words of the old module. Its atoms alone
// are variables of the code that is being written.
#pragma once

#include "lang/ir/builder.h"
#include "transform/analysis/instance.h"

namespace transform {

struct Term;

/// What the variables of the code at hand stand for, innermost first.
struct Scope {
  const Scope* outer = nullptr;
  const lang::Var* var;
  const Term* term;
};

/// Code of the old module: what its variables and its type parameters stand for.
struct CodePlace {
  const Scope* scope = nullptr;
  const Instance* types;
};

/// Atom: there already. Build and Tuple: a constructor or a tuple of `parts`; a constructor that is
/// there already has its `atom` too. Call: of a global
/// with `parts`, whose code has the types of `place`. Closure: the literal that `binding` binds, at
/// `place`. Suspended: what `binding` binds there, not looked at yet.
enum class TermKind : uint8_t { Atom, Build, Tuple, Call, Closure, Suspended };

struct Term {
  TermKind kind;
  const lang::Type* type = nullptr;
  lang::Atom atom = nullptr;
  const lang::Constructor* constructor = nullptr;
  const lang::Global* callee = nullptr;
  std::vector<const Term*> parts = {};
  const lang::Binding* binding = nullptr;
  CodePlace place = {nullptr, nullptr};
  /// Of a suspended match that gives what a call gives: that call, so that the match need not be
  /// written again where what it looks at turns out to be no constructor.
  const Term* entry = nullptr;
  /// Of an atom: whether its code may not tell its type, as that of `Nil` does not.
  bool isUntold = false;

  const lang::Function& literal() const {
    return *static_cast<const lang::Function*>(binding->value);
  }
};

/// What ends the work on a chain that is not worth it or not understood.
struct GaveUp {};

} // namespace transform

// What the groups of a module share while it is checked.
#pragma once

#include "lang/ir/typing.h"
#include "lang/op/declared.h"
#include "lang/types/type_text.h"
#include "typecheck/open_definitions.h"

namespace typecheck {

struct Checking {
  /// `growing` is the module itself where its open definitions get instances, else null.
  Checking(const lang::Module& module, lang::Module* growing, const lang::OperatorTable& operators);

  const lang::Module& module;
  const lang::OperatorTable& operators;
  Unifier unifier;
  /// The types of the groups so far.
  lang::Typing typing = {};
  /// By Var::number: its type, and the value that a binding gave it.
  std::vector<const Type*> varTypes;
  std::vector<const lang::Expr*> values;
  /// By Function::number: the type of the result, and the generic scope of the body.
  std::vector<const Type*> resultTypes;
  std::vector<size_t> scopeOf;
  /// Attributes of operators that are called through a variable, which carries none.
  std::deque<lang::Attributes> defaults = {};
  OpenDefinitions open;
  lang::printing::TypeFacts facts = {};
  /// Whether a type was too large.
  bool reportedTooLarge = false;

  /// Makes room for the variables and functions that the module has by now.
  void cover();
};

} // namespace typecheck

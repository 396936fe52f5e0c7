// What the groups of a module share while it is checked.
#pragma once

#include "lang/ir/typing.h"
#include "lang/op/declared.h"
#include "lang/types/type_text.h"
#include "typecheck/known_sizes.h"
#include "typecheck/open_definitions.h"
#include "typecheck/operator_values.h"
#include "typecheck/record_calls.h"

namespace typecheck {

struct Checking {
  /// `growing` is the module itself where its open definitions get instances, else null.
  Checking(const lang::Module& module, lang::Module* growing, const lang::OperatorTable& operators);

  const lang::Module& module;
  const lang::OperatorTable& operators;
  Unifier unifier;
  /// The types of the groups so far.
  lang::Typing typing = {};
  VarTables vars;
  /// By Function::number: the type of the result, and the generic scope of the body. And functions
  /// that stand for operators, null where these are values by themselves.
  struct FunctionTables {
    std::vector<const Type*> resultTypes;
    std::vector<size_t> scopeOf;
    std::unique_ptr<OperatorValues> ofOperators;
  };
  FunctionTables functions;
  OpenDefinitions open;
  /// Null where the module has no sizes as values.
  std::unique_ptr<KnownSizes> sizes = nullptr;
  /// Null where records are not called.
  std::unique_ptr<RecordCalls> records = nullptr;
  /// Attributes that calls do not carry, or in which something was found out.
  runtime::Arena arena = {};
  lang::printing::TypeFacts facts = {};
  /// Whether a type was too large.
  bool reportedTooLarge = false;

  /// Makes room for the variables and functions that the module has by now.
  void cover();
};

} // namespace typecheck

// The type checker: Relay's type system, solved for real.
//
// typecheck/ infers the types of all variables of a module (infer.h) by unification (unify.h) and
// by solving the type relations of operators (relations.h), and proves matches exhaustive
// (exhaustive.h). Globals are inferred in the order of their dependencies, groups of mutually
// recursive ones together, so an unannotated result has one type for everybody.
//
// Inference only reads a module. One that is open (lang/ir/module.h) is completed afterwards:
// rewritten with what its types decide, so that what comes behind the checker never sees open
// numbers. Checked again, a module gives the same types, the very same ones in the same
// TypeContext.
#pragma once

#include "lang/ir/module.h"
#include "lang/ir/typing.h"
#include "lang/op/declared.h"
#include "lang/source/diagnostic.h"

#include <memory>

namespace typecheck {

struct Checked {
  std::unique_ptr<lang::Module> module;
  lang::Typing typing;
  /// The places of definitions that were open, of which the module has instances, at the same
  /// places, or nothing.
  std::vector<lang::SourceRange> open = {};
};

/// The types of a module, and the module itself, completed where it was open and has no error.
Checked checkAndComplete(std::unique_ptr<lang::Module> module, const lang::OperatorTable& operators,
                         lang::Diagnostics& diagnostics);

/// The types of a module that is not open. Findings go to `diagnostics`; when there are errors,
/// some types are the poison type or missing.
lang::Typing checkModule(const lang::Module& module, const lang::OperatorTable& operators,
                         lang::Diagnostics& diagnostics);

} // namespace typecheck

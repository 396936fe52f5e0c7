// The type checker: Relay's type system, solved for real.
//
// typecheck/ infers the types of all variables of a module (infer.h) by unification (unify.h) and
// by solving the type relations of operators (relations.h), and proves matches exhaustive
// (exhaustive.h). Globals are inferred in the order of their dependencies, groups of mutually
// recursive ones together, so an unannotated result has one type for everybody. The module is only
// read: checked again it gives the same types, the very same ones in the same TypeContext.
#pragma once

#include "lang/ir/module.h"
#include "lang/ir/typing.h"
#include "lang/op/declared.h"
#include "lang/source/diagnostic.h"

namespace typecheck {

/// The types of a module. Findings go to `diagnostics`; when there are errors, some types are the
/// poison type or missing.
lang::Typing checkModule(const lang::Module& module, const lang::OperatorTable& operators,
                         lang::Diagnostics& diagnostics);

} // namespace typecheck

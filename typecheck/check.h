// The type checker: Relay's type system, solved for real.
//
// typecheck/ infers the types of all variables of a module (infer.h) by unification (unify.h) and
// by solving the type relations of operators (relations.h), and proves matches exhaustive
// (exhaustive.h). Globals are inferred in the order of their dependencies, groups of mutually
// recursive ones together, so an unannotated result has one type for everybody.
#pragma once

#include "lang/diagnostic.h"
#include "lang/module.h"
#include "lang/op.h"

namespace typecheck {

/// Checks a module and fills in Var::type and Function::resultType. Findings go to `diagnostics`;
/// when there are errors, some types are the poison type or missing.
void checkModule(const lang::Module& module, const lang::OperatorTable& operators,
                 lang::Diagnostics& diagnostics);

/// The type of a function of a checked module.
const lang::Type* functionType(lang::TypeContext& types, const lang::Function& function);

} // namespace typecheck

// Checks the form of a module: what every stage may rely on and no text can break. It finds faults
// of our own passes; mistakes of a program are the business of the resolver and the type checker.
#pragma once

#include "lang/ir/module.h"
#include "lang/ir/typing.h"

namespace lang {

/// What is wrong with a module, one sentence each; empty when it is sound. Every variable must have
/// one binder and be used in its scope only, operands must be atoms, numbers must be dense, and an
/// operator's call must carry one value for each attribute of its row.
std::vector<std::string> verify(const Module& module);

/// What is wrong with the types of a sound module without errors: every variable and function must
/// have one, and each binding must obey the rule of its kind. Relations are asked again; instances
/// of globals and constructors are not looked at.
std::vector<std::string> verifyTypes(const Module& module, const Typing& typing);

} // namespace lang

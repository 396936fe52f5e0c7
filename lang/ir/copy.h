// Copies of core IR with all bound variables renamed.
#pragma once

#include "lang/ir/builder.h"
#include "lang/ir/typing.h"

namespace lang {

/// A variable that is free in what is copied, and what its uses become.
struct Substitution {
  const Var* var;
  Atom atom;
};

/// The same program in a module of its own, which shares no memory with the old one but types and
/// the elements of tensors. Variables, functions and globals are numbered densely.
std::unique_ptr<Module> copyModule(const Module& module);

/// A copy of a checked module in which every function declares what checking found: the types of
/// its parameters and its result, and its type parameters. What they were learned from may then be
/// left out, and the module still checks.
std::unique_ptr<Module> copyDeclared(const Module& module, const Typing& typing);

/// A copy in the same module, with atoms for variables that are free in it. As every variable has
/// one binder, a second use of a function's body needs a copy.
Function* copyFunction(Builder& into, const Function& function, ListOf<Substitution> free = {});
const Block* copyBlock(Builder& into, const Block& block, ListOf<Substitution> free = {});

} // namespace lang

// Definitions in one line each, as `check --types` lists them.
#pragma once

#include "driver/session/session.h"

#include <string>

namespace driver {

/// The type of a checked global, or null when a part of it is not known.
const lang::Type* globalType(const Program& program, const lang::Global& global);

/// `type List[A] { Cons(A, List[A]), Nil }`, with types in a notation.
std::string definitionText(const lang::TypeDefinition& definition, lang::Notation notation);

/// The functions of a program that stand in its own text.
std::vector<const lang::Global*> ownGlobals(const Program& program);

/// The own definitions of a checked program: its data types, then its functions with their types.
std::string definitionLines(const Program& program);

} // namespace driver

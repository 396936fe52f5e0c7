// Definitions in one line each, as `check --types` lists them.
#pragma once

#include "lang/module.h"

#include <string>

namespace driver {

/// The type of a checked global, or null when a part of it is not known.
const lang::Type* globalType(lang::TypeContext& types, const lang::Global& global);

/// `type List[A] { Cons(A, List[A]), Nil }`.
std::string definitionText(const lang::TypeDefinition& definition);

/// The own definitions of a checked module: its data types, then its functions with their types.
std::string definitionLines(const lang::Module& module);

} // namespace driver

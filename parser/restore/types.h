// Types and sizes as surface trees.
#pragma once

#include "lang/types/type.h"
#include "parser/surface/surface.h"

namespace parser::restoring {

/// A type in Baton's short form.
const surface::Type* typeTree(lang::Arena& arena, const lang::Type& type);

/// Names of type parameters.
std::span<const surface::Identifier>
genericNames(lang::Arena& arena, std::span<const lang::TypeParameter* const> generics);

} // namespace parser::restoring

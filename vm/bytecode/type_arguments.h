// What the type parameters of a callee stand for in one of its calls.
//
// Where an argument is a generic function itself, its own type parameters are not known either:
// in `@compose(@id, @half)`, what `@half` gives is what `@id` takes, and so gives. Such arguments
// tell how the parameters of the callee hang together, not what each of them is.
#pragma once

#include "vm/bytecode/representation.h"

namespace bytecode {

/// What the type parameters of `callee`, the declared type of a function, stand for where it gets
/// `arguments` and gives `result`, in code whose own type parameters stand for `outer`. Null are
/// types that nobody knows. What nothing tells is left out.
TypeArguments typeArguments(lang::TypeContext& types, const lang::Type* callee,
                            lang::Types arguments, const lang::Type* result,
                            const Environment& outer);

/// `found` in the order of the parameters among `generics` that stand for types, with a reference
/// for those that are not in it.
Environment ordered(std::span<const lang::TypeParameter* const> generics, const Environment& found);

/// Whether `found` has all of the parameters among `generics` that stand for types.
bool hasAll(const Environment& found, std::span<const lang::TypeParameter* const> generics);

/// The type of a constructor as a function.
const lang::Type* constructorType(lang::TypeContext& types, const lang::Constructor& constructor);

} // namespace bytecode

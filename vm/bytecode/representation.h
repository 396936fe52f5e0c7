// How values of a type lie in registers: which are scalars, and which references.
//
// bytecode/ makes programs of the machine (vm/) out of core IR. A generic function is compiled once
// for each way in which its type parameters may be represented, not for each type: there are few
// of those, so polymorphic recursion comes to an end too. Start with compile.h.
#pragma once

#include "lang/ir/module.h"
#include "vm/machine/program.h"

#include <stdexcept>
#include <vector>

namespace bytecode {

using vm::Rep;

/// How the type parameters in scope are represented, outermost first.
using Environment = std::vector<std::pair<const lang::TypeParameter*, Rep>>;

inline constexpr Rep reference{};

/// A program beyond the bounds of the machine's code, such as 16 bits for a register.
struct TooLarge : std::length_error {
  using std::length_error::length_error;
};

/// Tensors of rank 0 are scalars, unless the engines do not compute with their element type; all
/// else is a reference, also what nothing is known of.
Rep repOf(const lang::Type* type, const Environment& environment);

/// What type parameters stand for.
using TypeArguments = std::vector<std::pair<const lang::TypeParameter*, const lang::Type*>>;

/// The type with what is known of its type parameters. Sizes in it stay as they were declared.
const lang::Type* substitute(lang::TypeContext& types, const lang::Type* type,
                             const TypeArguments& arguments);

/// The type of a constructor's field in a value of type `data`. Sizes in it stay as they were
/// declared.
const lang::Type* fieldType(lang::TypeContext& types, const lang::Type* field,
                            const lang::Type* data);

} // namespace bytecode

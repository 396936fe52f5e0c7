// Equality of programs up to the names of bound variables and type parameters, and up to places.
#pragma once

#include "lang/ir/module.h"

#include <string_view>

namespace harness {

/// Whether two functions are the same up to names. Free variables must be the same ones, and
/// globals and data types those of one module. A let and a temporary are different. Takes time in
/// proportion to the smaller function, and does not recurse on it.
bool alphaEqual(const lang::Function& left, const lang::Function& right);

/// Whether two modules define the same in the same order, under the same names of globals, data
/// types and constructors.
bool alphaEqual(const lang::Module& left, const lang::Module& right);

/// Whether texts in Relay's format are the same but for names of locals. A module may have
/// temporaries by two names, which its text has not.
bool sameButNames(std::string_view left, std::string_view right);

} // namespace harness

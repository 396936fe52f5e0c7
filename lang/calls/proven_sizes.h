// Comparisons at run time that cannot fail, left out.
//
// A value fits the type of its variable, since what may hold another one is compared where it comes
// out. So where the types of a call's arguments, with the names of the callee put in, are those of
// its parameters, there is nothing to compare; a `?` on the way proves nothing. A field of a data
// type whose size is a number is compared when the value is made, if it is not sure to fit, and not
// when it comes out. Where all sizes of a program are numbers, a field whose type is a parameter
// has the size that the type of the value says.
#pragma once

#include "lang/calls/boundary.h"

namespace lang {

/// Takes out of `boundaries` what is proven for runs that start at one of `entries`, whose
/// arguments come from outside.
void dropProvenChecks(const Module& module, const Typing& typing,
                      std::span<const Global* const> entries, Boundaries& boundaries);

} // namespace lang

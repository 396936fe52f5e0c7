// What of a type takes part in derivatives.
//
// Floats are what has derivatives: a value whose type holds some has a cotangent, which is of the
// same type. What is inside a function or a reference does not count as held: a function is no
// value of floats although what it captured may be, and the content of a reference is not the
// reference.
#pragma once

#include "lang/ir/leaf_search.h"

namespace lang {

/// Whether a float tensor is in the type, also in the fields of its data types, outside of
/// functions and references. A type parameter counts as no floats.
bool holdsFloats(const Type* type);

/// Whether a function or a reference is anywhere in the type, also in the fields of its data types.
bool holdsFunctions(const Type* type);
/// The same for many types: it looks at each definition once.
LeafSearch functionSearch();

} // namespace lang

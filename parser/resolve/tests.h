// The tests of a text as functions of the module.
#pragma once

#include "parser/surface/surface.h"
#include "runtime/arena.h"

namespace parser {

/// What the names of tests begin with in the module, where no other name has a blank.
inline constexpr std::string_view testPrefix = "test ";

/// The expression whose value a block gives in the end.
const surface::Expr* resultOf(const surface::Expr* body);

/// The body of a test as a tuple, of what must hold, and where that is a comparison of both its
/// sides.
const surface::Expr* testedBody(runtime::Arena& arena, const surface::Expr* body);

} // namespace parser

// Comments that look like the rest of a quotient, which other languages write `a // b`.
#pragma once

#include "parser/baton/lexer.h"
#include "parser/surface/surface.h"

namespace parser::baton {

/// Warns of each comment that is one number, or one name that its definition has, behind an
/// operand in the same line.
void warnOfDivisors(const surface::File& file, const Lexer& lexer, lang::Diagnostics& diagnostics);

} // namespace parser::baton

// Baton's own notation: from a text to its surface tree (parser/surface/surface.h).
//
// parser/baton/ has the lexer (re2c), the grammar (Bison) and what is said of wrong syntax.
#pragma once

#include "lang/source/diagnostic.h"
#include "parser/surface/surface.h"
#include "runtime/arena.h"

namespace parser::baton {

/// Reads definitions. Findings go to `diagnostics`, of which a tree with errors has at least one;
/// such a tree lacks what could not be read. Returns nullptr when nothing could be read. The tree
/// lives in `arena` and points into the file's text.
const surface::File* parseText(runtime::Arena& arena, const lang::SourceFile& file,
                               lang::Diagnostics& diagnostics);

} // namespace parser::baton

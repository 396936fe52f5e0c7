// From a text to its surface tree (surface.h).
#pragma once

#include "lang/diagnostic.h"
#include "parser/surface.h"
#include "runtime/arena.h"

namespace parser {

/// Reads a module or an expression. Findings go to `diagnostics`, of which a tree with errors has
/// at least one; such a tree lacks what could not be read. Returns nullptr when nothing could be
/// read. The tree lives in `arena` and points into the file's text.
const surface::File* parseText(runtime::Arena& arena, const lang::SourceFile& file,
                               lang::Diagnostics& diagnostics);

} // namespace parser

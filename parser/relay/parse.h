// From a text to its surface tree (parser/surface/surface.h).
#pragma once

#include "lang/source/diagnostic.h"
#include "parser/surface/surface.h"
#include "runtime/arena.h"

namespace lang {
class OperatorTable;
}

namespace parser {

/// Reads a module or an expression. Findings go to `diagnostics`, of which a tree with errors has
/// at least one; such a tree lacks what could not be read. Returns nullptr when nothing could be
/// read. The tree lives in `arena` and points into the file's text. Suggestions may name operators
/// if there is a table of them.
const surface::File* parseText(runtime::Arena& arena, const lang::SourceFile& file,
                               lang::Diagnostics& diagnostics,
                               const lang::OperatorTable* operators = nullptr);

} // namespace parser

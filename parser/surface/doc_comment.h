// Comments that document a definition.
#pragma once

#include "lang/source/source.h"
#include "parser/surface/surface.h"

#include <string>

namespace parser {

/// The text of the comments right above the definition whose name stands at `name`, without their
/// delimiters; empty when there are none.
std::string docComment(const surface::File& tree, const lang::SourceFile& source,
                       lang::SourceRange name);

} // namespace parser

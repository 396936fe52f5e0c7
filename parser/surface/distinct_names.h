// Names of one list, of which no two may be the same.
#pragma once

#include "lang/source/diagnostic.h"
#include "parser/surface/surface.h"

namespace parser {

/// Reports names that are given twice.
void demandDistinct(lang::Diagnostics& diagnostics, std::span<const surface::Identifier> names);

} // namespace parser

// Places in few characters, for lists of many.
#pragma once

#include "lang/source/source.h"

namespace driver {

/// `12:5`, or, outside of `main`, `prelude.rly:12:5`; empty for nowhere.
std::string placeText(const lang::SourceMap& sources, lang::SourceRange range,
                      const lang::SourceFile* main);

} // namespace driver

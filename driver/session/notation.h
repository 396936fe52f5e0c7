// What is asked of a text before it is read.
#pragma once

#include "parser/surface/surface.h"

#include <string>

namespace driver {

/// The notation of a text. Relay's header says it wherever it stands, else the name of the file.
parser::surface::Notation notationOf(const lang::SourceFile& source);

/// The text without what some editors put in front of UTF-8, which no place counts.
std::string withoutByteOrderMark(std::string text);

} // namespace driver

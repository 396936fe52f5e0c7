// What belongs together: brackets, chains of operators, values behind `=` and `=>`.
#pragma once

#include "parser/format/tokens.h"

namespace parser::format {

/// Finds out what tokens say of each other. Where definitions begin, in order; a text that begins
/// otherwise begins with an expression.
std::vector<uint32_t> findStructure(Tokens& tokens);

} // namespace parser::format

// What tokens are called in messages.
#pragma once

#include "parser/relay/grammar.h"

#include <string>

namespace parser {

/// The token as a reader of the language would write or call it: "`;`", "a local variable".
std::string quotedTokenName(int kind);

/// What stands at a place: the token's own text in backquotes, cut when it is long.
std::string describeToken(int kind, std::string_view text);

/// "a, b or c" from what the grammar could have gone on with.
std::string describeExpected(const Grammar::symbol_kind_type* expected, int count);

} // namespace parser

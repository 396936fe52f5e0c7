// What tokens are called in messages.
#pragma once

#include <string>
#include <string_view>

namespace parser::baton {

/// The token as a reader of the language would write or call it: "`;`", "a name".
std::string quotedTokenName(int kind);

/// What stands at a place: the token's own text in backquotes, cut when it is long.
std::string describeToken(int kind, std::string_view text);

} // namespace parser::baton

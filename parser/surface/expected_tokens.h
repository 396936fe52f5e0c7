// "a, b or c" of the tokens with which a grammar could have gone on.
#pragma once

#include <bitset>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

namespace parser {

/// Kinds of tokens of one notation; none has more.
using TokenSet = std::bitset<128>;

inline TokenSet tokenSet(std::initializer_list<int> kinds) {
  TokenSet set;
  for (int kind : kinds)
    set.set(size_t(kind));
  return set;
}

/// Tokens that read better under one name: when all of `needs` are expected, `name` stands for all
/// of `covers`. Operators could follow nearly everywhere, so they are told when nothing else is.
struct TokenGroup {
  TokenSet needs;
  TokenSet covers;
  std::string_view name;
  bool isOperators = false;
};

/// A token by the name that the grammar gives it: a mark stands in backquotes, a class does not.
std::string quotedToken(const std::string& name);

/// What stands at a place: the text in backquotes, cut when it is long, else the token's own name.
std::string describedToken(const std::string& name, std::string_view text);

/// The words for a set of tokens, groups first.
std::string expectedTokens(TokenSet set, std::span<const TokenGroup> groups,
                           std::string (*quoted)(int kind));

} // namespace parser

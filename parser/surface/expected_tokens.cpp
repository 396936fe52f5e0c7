// Groups are tried in their order, and what one covers is gone for the next.
#include "parser/surface/expected_tokens.h"

#include "parser/surface/clipped.h"

#include <vector>

namespace parser {

std::string quotedToken(const std::string& name) {
  bool isClass = name.find(' ') != std::string::npos;
  return isClass ? name : "`" + name + "`";
}

std::string describedToken(const std::string& name, std::string_view text) {
  return text.empty() ? quotedToken(name) : "`" + clipped(text) + "`";
}

std::string expectedTokens(TokenSet set, std::span<const TokenGroup> groups,
                           std::string (*quoted)(int kind)) {
  std::vector<std::string> names, operators;
  for (const TokenGroup& group : groups) {
    if ((set & group.needs) != group.needs)
      continue;
    set &= ~group.covers;
    (group.isOperators ? operators : names).emplace_back(group.name);
  }
  for (size_t kind = 0; kind < set.size(); ++kind)
    if (set.test(kind))
      names.push_back(quoted(int(kind)));
  if (names.empty())
    names = std::move(operators);
  if (names.empty())
    return "something else";
  std::string text = names[0];
  for (size_t i = 1; i < names.size(); ++i)
    text += (i + 1 == names.size() ? " or " : ", ") + names[i];
  return text;
}

} // namespace parser

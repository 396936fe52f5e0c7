// Names of tokens in messages, and the message of a syntax error itself.
#include "parser/relay/token_names.h"

#include "parser/relay/reader.h"
#include "parser/relay/syntax_hints.h"

#include <algorithm>

#include <bitset>
#include <vector>

namespace parser {

namespace {

using Symbol = Grammar::symbol_kind;
using SymbolSet = std::bitset<Symbol::YYNTOKENS>;

SymbolSet setOf(std::initializer_list<Symbol::symbol_kind_type> symbols) {
  SymbolSet set;
  for (auto symbol : symbols)
    set.set(size_t(symbol));
  return set;
}

/// Tokens that read better under one name: when all of `needs` are expected, `name` stands for all
/// of `covers`.
struct Group {
  SymbolSet needs;
  SymbolSet covers;
  std::string_view name;
};

std::vector<Group> makeGroups() {
  SymbolSet pattern = setOf({Symbol::S_Wildcard, Symbol::S_Local, Symbol::S_Identifier,
                             Symbol::S_Tensor, Symbol::S_LeftParen});
  SymbolSet type = setOf({Symbol::S_Wildcard, Symbol::S_Identifier, Symbol::S_Tensor,
                          Symbol::S_LeftParen, Symbol::S_Fn, Symbol::S_Ref, Symbol::S_Meta});
  SymbolSet value = setOf({Symbol::S_Integer, Symbol::S_Float, Symbol::S_True, Symbol::S_False,
                           Symbol::S_Local, Symbol::S_Graph, Symbol::S_Global, Symbol::S_Identifier,
                           Symbol::S_Tensor, Symbol::S_DottedName, Symbol::S_Meta, Symbol::S_Fn,
                           Symbol::S_If, Symbol::S_Ref, Symbol::S_RefRead, Symbol::S_RefWrite});
  SymbolSet expression = value | setOf({Symbol::S_LeftParen, Symbol::S_LeftBracket});
  SymbolSet statement = setOf({Symbol::S_LeftBrace, Symbol::S_Let, Symbol::S_FreeVar,
                               Symbol::S_Match, Symbol::S_PartialMatch});
  SymbolSet number = setOf({Symbol::S_Integer, Symbol::S_Float, Symbol::S_True, Symbol::S_False});
  SymbolSet operators = setOf({Symbol::S_Plus, Symbol::S_Minus, Symbol::S_Star, Symbol::S_Slash,
                               Symbol::S_Less, Symbol::S_LessEqual, Symbol::S_Greater,
                               Symbol::S_GreaterEqual, Symbol::S_Equal, Symbol::S_NotEqual});
  SymbolSet definition = setOf({Symbol::S_Def, Symbol::S_Type, Symbol::S_Extern});
  SymbolSet name = setOf({Symbol::S_Identifier, Symbol::S_Tensor});
  return {
      {expression, expression | statement | setOf({Symbol::S_Wildcard}), "an expression"},
      {value | setOf({Symbol::S_String}), expression | setOf({Symbol::S_String}),
       "an attribute value"},
      {number, number | setOf({Symbol::S_LeftBracket}), "a literal"},
      {type, type, "a type"},
      {pattern, pattern, "a pattern"},
      {name, name | setOf({Symbol::S_DottedName}), "a name"},
      {operators | setOf({Symbol::S_LeftParen}),
       operators | setOf({Symbol::S_LeftParen, Symbol::S_Projection}) | definition, "an operator"},
      {operators, operators | definition | setOf({Symbol::S_Projection}), "an operator"},
      {definition, definition, "a definition"},
  };
}

/// The names of a set of tokens, groups first.
std::vector<std::string> namesOf(SymbolSet set) {
  static const std::vector<Group> groups = makeGroups();
  std::vector<std::string> names;
  std::vector<std::string> operators;
  for (const Group& group : groups) {
    if ((set & group.needs) != group.needs)
      continue;
    set &= ~group.covers;
    (group.name == "an operator" ? operators : names).emplace_back(group.name);
  }
  for (size_t symbol = 0; symbol < set.size(); ++symbol)
    if (set.test(symbol) && symbol != size_t(Symbol::S_YYerror) &&
        symbol != size_t(Symbol::S_YYUNDEF))
      names.push_back(quotedTokenName(int(symbol)));
  return names.empty() ? operators : names;
}

} // namespace

std::string quotedTokenName(int kind) {
  std::string name = Grammar::symbol_name(Grammar::symbol_kind_type(kind));
  bool isClass = name.find(' ') != std::string::npos;
  return isClass ? name : "`" + name + "`";
}

std::string describeToken(int kind, std::string_view text) {
  constexpr size_t most = 40;
  if (text.empty())
    return quotedTokenName(kind);
  std::string shown(text.substr(0, most));
  return "`" + shown + (text.size() > most ? "...`" : "`");
}

std::string describeExpected(const Grammar::symbol_kind_type* expected, int count) {
  SymbolSet set;
  for (int i = 0; i < count; ++i)
    set.set(size_t(expected[i]));
  std::vector<std::string> names = namesOf(set);
  if (names.empty())
    return "something else";
  std::string text = names[0];
  for (size_t i = 1; i < names.size(); ++i)
    text += (i + 1 == names.size() ? " or " : ", ") + names[i];
  return text;
}

void reportSyntaxError(Reader& reader, Grammar::symbol_kind_type found, lang::SourceRange range,
                       const Grammar::symbol_kind_type* expected, int count) {
  if (reader.tokens.isReported())
    return;
  std::string wanted = describeExpected(expected, count);
  std::string seen = describeToken(int(found), reader.lexer.textOf(range));
  auto& report = reader.diagnostics.report(lang::Message::SyntaxError, range, wanted, seen);
  auto [before, beforeRange] = reader.tokens.previous();
  suggestRepairs(report, reader.lexer,
                 {found, range, Grammar::symbol_kind_type(before), beforeRange,
                  std::span(expected, size_t(std::max(count, 0)))});
}

} // namespace parser

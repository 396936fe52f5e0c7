// Names of tokens in messages, and the message of a syntax error itself.
#include "parser/relay/token_names.h"

#include "parser/relay/reader.h"
#include "parser/relay/syntax_hints.h"
#include "parser/surface/expected_tokens.h"

#include <algorithm>
#include <vector>

namespace parser {

namespace {

using Symbol = Grammar::symbol_kind;

std::vector<TokenGroup> makeGroups() {
  TokenSet pattern = tokenSet({Symbol::S_Wildcard, Symbol::S_Local, Symbol::S_Identifier,
                               Symbol::S_Tensor, Symbol::S_LeftParen});
  TokenSet type = tokenSet({Symbol::S_Wildcard, Symbol::S_Identifier, Symbol::S_Tensor,
                            Symbol::S_LeftParen, Symbol::S_Fn, Symbol::S_Ref, Symbol::S_Meta});
  TokenSet value =
      tokenSet({Symbol::S_Integer, Symbol::S_Float, Symbol::S_True, Symbol::S_False,
                Symbol::S_Local, Symbol::S_Graph, Symbol::S_Global, Symbol::S_Identifier,
                Symbol::S_Tensor, Symbol::S_DottedName, Symbol::S_Meta, Symbol::S_Fn, Symbol::S_If,
                Symbol::S_Ref, Symbol::S_RefRead, Symbol::S_RefWrite});
  TokenSet expression = value | tokenSet({Symbol::S_LeftParen, Symbol::S_LeftBracket});
  TokenSet statement = tokenSet({Symbol::S_LeftBrace, Symbol::S_Let, Symbol::S_FreeVar,
                                 Symbol::S_Match, Symbol::S_PartialMatch});
  TokenSet number = tokenSet({Symbol::S_Integer, Symbol::S_Float, Symbol::S_True, Symbol::S_False});
  TokenSet operators = tokenSet({Symbol::S_Plus, Symbol::S_Minus, Symbol::S_Star, Symbol::S_Slash,
                                 Symbol::S_Less, Symbol::S_LessEqual, Symbol::S_Greater,
                                 Symbol::S_GreaterEqual, Symbol::S_Equal, Symbol::S_NotEqual});
  TokenSet definition = tokenSet({Symbol::S_Def, Symbol::S_Type, Symbol::S_Extern});
  TokenSet name = tokenSet({Symbol::S_Identifier, Symbol::S_Tensor});
  return {
      {expression, expression | statement | tokenSet({Symbol::S_Wildcard}), "an expression"},
      {value | tokenSet({Symbol::S_String}), expression | tokenSet({Symbol::S_String}),
       "an attribute value"},
      {number, number | tokenSet({Symbol::S_LeftBracket}), "a literal"},
      {type, type, "a type"},
      {pattern, pattern, "a pattern"},
      {name, name | tokenSet({Symbol::S_DottedName}), "a name"},
      {operators | tokenSet({Symbol::S_LeftParen}),
       operators | tokenSet({Symbol::S_LeftParen, Symbol::S_Projection}) | definition,
       "an operator", true},
      {operators, operators | definition | tokenSet({Symbol::S_Projection}), "an operator", true},
      {definition, definition, "a definition"},
  };
}

} // namespace

std::string quotedTokenName(int kind) {
  return quotedToken(Grammar::symbol_name(Grammar::symbol_kind_type(kind)));
}

std::string describeToken(int kind, std::string_view text) {
  return describedToken(Grammar::symbol_name(Grammar::symbol_kind_type(kind)), text);
}

std::string describeExpected(const Grammar::symbol_kind_type* expected, int count) {
  static const std::vector<TokenGroup> groups = makeGroups();
  TokenSet set;
  for (int i = 0; i < count; ++i)
    if (expected[i] != Symbol::S_YYerror && expected[i] != Symbol::S_YYUNDEF)
      set.set(size_t(expected[i]));
  return expectedTokens(set, groups, quotedTokenName);
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

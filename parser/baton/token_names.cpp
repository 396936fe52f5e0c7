// Names of tokens in messages, and the message of a syntax error itself.
#include "parser/baton/token_names.h"

#include "parser/baton/reader.h"
#include "parser/baton/syntax_hints.h"
#include "parser/surface/expected_tokens.h"

namespace parser::baton {

namespace {

using Symbol = Grammar::symbol_kind;

std::vector<TokenGroup> makeGroups() {
  TokenSet value = tokenSet(
      {Symbol::S_Integer, Symbol::S_Float, Symbol::S_True, Symbol::S_False, Symbol::S_Identifier,
       Symbol::S_String, Symbol::S_Fn, Symbol::S_If, Symbol::S_Match, Symbol::S_LeftParen,
       Symbol::S_LeftBracket, Symbol::S_LeftBrace, Symbol::S_Minus, Symbol::S_Not,
       Symbol::S_Wildcard, Symbol::S_Question, Symbol::S_MatchSome, Symbol::S_Meta});
  TokenSet pattern =
      tokenSet({Symbol::S_Wildcard, Symbol::S_Identifier, Symbol::S_LeftParen, Symbol::S_Integer,
                Symbol::S_True, Symbol::S_False, Symbol::S_Float, Symbol::S_Minus});
  TokenSet type = tokenSet({Symbol::S_Wildcard, Symbol::S_Identifier, Symbol::S_LeftParen,
                            Symbol::S_Fn, Symbol::S_Integer, Symbol::S_Question, Symbol::S_DotDot});
  TokenSet operators =
      tokenSet({Symbol::S_Plus, Symbol::S_Minus, Symbol::S_Star, Symbol::S_Slash, Symbol::S_Percent,
                Symbol::S_At, Symbol::S_StarStar, Symbol::S_Less, Symbol::S_LessEqual,
                Symbol::S_Greater, Symbol::S_GreaterEqual, Symbol::S_Equal, Symbol::S_NotEqual,
                Symbol::S_And, Symbol::S_Or, Symbol::S_Pipe});
  TokenSet comparisons = tokenSet({Symbol::S_Less, Symbol::S_LessEqual, Symbol::S_Greater,
                                   Symbol::S_GreaterEqual, Symbol::S_Equal, Symbol::S_NotEqual});
  TokenSet definition = tokenSet({Symbol::S_Def, Symbol::S_Type, Symbol::S_Test, Symbol::S_Import});
  TokenSet suffix = tokenSet({Symbol::S_LeftParen, Symbol::S_LeftBracket, Symbol::S_Dot,
                              Symbol::S_Projection, Symbol::S_With});
  TokenSet arithmetic =
      tokenSet({Symbol::S_Plus, Symbol::S_Minus, Symbol::S_Star, Symbol::S_Slash});
  return {
      {value, value | tokenSet({Symbol::S_Let, Symbol::S_Lazy}), "an expression", false},
      {pattern, pattern, "a pattern", false},
      {type, type, "a type", false},
      {operators | suffix, operators | suffix, "an operator", true},
      {operators, operators | suffix, "an operator", true},
      {operators & ~comparisons, operators | suffix, "an operator", true},
      {arithmetic, arithmetic, "an operator", true},
      {definition, definition | tokenSet({Symbol::S_Let}), "a definition", false},
  };
}

/// What is written for programs of Relay's text is nothing to suggest: attributes of functions, and
/// types of what arms match. Behind a parameter's name it is seldom meant as that of a constructor.
void hideRareForms(TokenSet& expected) {
  if (!expected.test(size_t(Symbol::S_Projection)))
    expected.reset(size_t(Symbol::S_With));
  TokenSet parameter =
      tokenSet({Symbol::S_Colon, Symbol::S_Assign, Symbol::S_LeftParen, Symbol::S_Dot});
  if ((expected & parameter) == parameter)
    expected &= ~tokenSet({Symbol::S_LeftParen, Symbol::S_Dot});
  if (expected.test(size_t(Symbol::S_FatArrow)))
    expected.reset(size_t(Symbol::S_Colon));
}

} // namespace

std::string quotedTokenName(int kind) {
  return quotedToken(Grammar::symbol_name(Grammar::symbol_kind_type(kind)));
}

std::string describeToken(int kind, std::string_view text) {
  return describedToken(Grammar::symbol_name(Grammar::symbol_kind_type(kind)), text);
}

void reportSyntaxError(Reader& reader, Grammar::symbol_kind_type found, lang::SourceRange range,
                       const Grammar::symbol_kind_type* expected, int count) {
  if (reader.tokens.isReported())
    return;
  auto [before, beforeRange] = reader.tokens.previous();
  MistakeText text(reader.lexer,
                   {int(found), range, before, beforeRange, std::span(expected, size_t(count))});
  if (reportHabit(reader.diagnostics, text))
    return;
  static const std::vector<TokenGroup> groups = makeGroups();
  TokenSet set;
  for (int i = 0; i < count; ++i)
    if (expected[i] != Symbol::S_YYerror && expected[i] != Symbol::S_YYUNDEF)
      set.set(size_t(expected[i]));
  hideRareForms(set);
  auto& report = reader.diagnostics.report(lang::Message::SyntaxError, range,
                                           expectedTokens(set, groups, quotedTokenName),
                                           describeToken(int(found), reader.lexer.textOf(range)));
  suggestRepairs(report, text);
}

} // namespace parser::baton

// Baton's own notation: what each kind of token is.
#include "parser/baton/lexer.h"
#include "parser/format/token_reader.h"

namespace parser::format {

namespace {

using BatonToken = baton::Grammar::token;

/// Others are words.
constexpr std::pair<int, TokenKind> batonKinds[] = {
    {BatonToken::LeftParen, {Role::OpenParen}},
    {BatonToken::LeftBracket, {Role::OpenBracket}},
    {BatonToken::LeftBrace, {Role::OpenBrace}},
    {BatonToken::RightParen, {Role::CloseParen}},
    {BatonToken::RightBracket, {Role::CloseBracket}},
    {BatonToken::RightBrace, {Role::CloseBrace}},
    {BatonToken::Comma, {Role::Comma}},
    {BatonToken::Semicolon, {Role::Semicolon}},
    {BatonToken::Colon, {Role::Colon}},
    {BatonToken::Dot, {Role::Dot}},
    {BatonToken::Assign, {Role::Assign}},
    {BatonToken::FatArrow, {Role::FatArrow}},
    {BatonToken::Arrow, {Role::Arrow}},
    {BatonToken::Projection, {Role::Suffix}},
    {BatonToken::Identifier, {Role::Name}},
    {BatonToken::Integer, {Role::Number}},
    {BatonToken::Float, {Role::Number}},
    {BatonToken::True, {Role::Number}},
    {BatonToken::False, {Role::Number}},
    {BatonToken::Let, {Role::Let}},
    {BatonToken::Lazy, {Role::Let}},
    {BatonToken::If, {Role::If}},
    {BatonToken::Else, {Role::Else}},
    {BatonToken::Match, {Role::Match}},
    {BatonToken::MatchSome, {Role::Match}},
    {BatonToken::Fn, {Role::Fn}},
    {BatonToken::With, {Role::With}},
    {BatonToken::As, {Role::As}},
    {BatonToken::Def, {Role::Def}},
    {BatonToken::Type, {Role::Type}},
    {BatonToken::Test, {Role::Test}},
    {BatonToken::Import, {Role::Import}},
    {BatonToken::Not, {Role::Prefix}},
    {BatonToken::Bar, {Role::Infix, Holds::Choice}},
    {BatonToken::Pipe, {Role::Infix, Holds::Pipe}},
    {BatonToken::Or, {Role::Infix, Holds::Or}},
    {BatonToken::And, {Role::Infix, Holds::And}},
    {BatonToken::Equal, {Role::Infix, Holds::Comparison}},
    {BatonToken::NotEqual, {Role::Infix, Holds::Comparison}},
    {BatonToken::Less, {Role::Infix, Holds::Comparison}},
    {BatonToken::LessEqual, {Role::Infix, Holds::Comparison}},
    {BatonToken::Greater, {Role::Infix, Holds::Comparison}},
    {BatonToken::GreaterEqual, {Role::Infix, Holds::Comparison}},
    {BatonToken::Plus, {Role::Infix, Holds::Sum}},
    {BatonToken::Minus, {Role::Infix, Holds::Sum}},
    {BatonToken::Star, {Role::Infix, Holds::Product}},
    {BatonToken::Slash, {Role::Infix, Holds::Product}},
    {BatonToken::Percent, {Role::Infix, Holds::Product}},
    {BatonToken::At, {Role::Infix, Holds::Product}},
    {BatonToken::StarStar, {Role::Infix, Holds::Power}},
};

} // namespace

Tokens batonTokens(const lang::SourceFile& file) {
  runtime::Arena arena;
  lang::Diagnostics told;
  baton::Lexer lexer(arena, file, told);
  TokenReader reader(file, surface::Notation::Baton);
  const std::vector<TokenKind> kinds = kindsByNumber(batonKinds);
  Value value{};
  lang::SourceRange range;
  for (int kind = lexer.next(value, range); kind != BatonToken::End;
       kind = lexer.next(value, range))
    reader.add(kinds[size_t(kind)], range, lexer.comments());
  return reader.finish(lexer.metadata(), lexer.comments());
}

} // namespace parser::format

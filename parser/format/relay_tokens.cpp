// Relay's text: what each kind of token is.
#include "parser/format/token_reader.h"
#include "parser/relay/lexer.h"

namespace parser::format {

namespace {

using RelayToken = Grammar::token;

/// Others are words.
constexpr std::pair<int, TokenKind> relayKinds[] = {
    {RelayToken::LeftParen, {Role::OpenParen}},
    {RelayToken::LeftBracket, {Role::OpenBracket}},
    {RelayToken::LeftBrace, {Role::OpenBrace}},
    {RelayToken::RightParen, {Role::CloseParen}},
    {RelayToken::RightBracket, {Role::CloseBracket}},
    {RelayToken::RightBrace, {Role::CloseBrace}},
    {RelayToken::Comma, {Role::Comma}},
    {RelayToken::Semicolon, {Role::Semicolon}},
    {RelayToken::Colon, {Role::Colon}},
    {RelayToken::Assign, {Role::Assign}},
    {RelayToken::FatArrow, {Role::FatArrow}},
    {RelayToken::Arrow, {Role::Arrow, Holds::None, true}},
    {RelayToken::Projection, {Role::Suffix, Holds::None, true}},
    {RelayToken::Identifier, {Role::Name}},
    {RelayToken::Tensor, {Role::Name}},
    {RelayToken::DottedName, {Role::Name, Holds::None, true}},
    {RelayToken::Global, {Role::Name}},
    {RelayToken::Integer, {Role::Number}},
    {RelayToken::Float, {Role::Number}},
    {RelayToken::True, {Role::Number}},
    {RelayToken::False, {Role::Number}},
    {RelayToken::Ref, {Role::StrictName}},
    {RelayToken::RefRead, {Role::StrictName}},
    {RelayToken::RefWrite, {Role::StrictName}},
    {RelayToken::Let, {Role::Let}},
    {RelayToken::FreeVar, {Role::Let}},
    {RelayToken::If, {Role::If}},
    {RelayToken::Else, {Role::Else}},
    {RelayToken::Match, {Role::Match}},
    {RelayToken::PartialMatch, {Role::Match}},
    {RelayToken::Fn, {Role::Fn}},
    {RelayToken::Def, {Role::Def}},
    {RelayToken::Type, {Role::Type}},
    {RelayToken::Extern, {Role::Extern}},
    {RelayToken::Equal, {Role::Infix, Holds::Comparison}},
    {RelayToken::NotEqual, {Role::Infix, Holds::Comparison}},
    {RelayToken::Less, {Role::Infix, Holds::Comparison}},
    {RelayToken::LessEqual, {Role::Infix, Holds::Comparison}},
    {RelayToken::Greater, {Role::Infix, Holds::Comparison}},
    {RelayToken::GreaterEqual, {Role::Infix, Holds::Comparison}},
    {RelayToken::Plus, {Role::Infix, Holds::Sum}},
    {RelayToken::Minus, {Role::Infix, Holds::Sum}},
    {RelayToken::Star, {Role::Infix, Holds::Product}},
    {RelayToken::Slash, {Role::Infix, Holds::Product}},
};

} // namespace

Tokens relayTokens(const lang::SourceFile& file) {
  runtime::Arena arena;
  lang::Diagnostics told;
  Lexer lexer(arena, file, told, nullptr);
  TokenReader reader(file, surface::Notation::Relay);
  const std::vector<TokenKind> kinds = kindsByNumber(relayKinds);
  Value value{};
  lang::SourceRange range;
  int kind = lexer.next(value, range);
  if (lexer.versionRange().isValid())
    reader.addHeader(lexer.versionRange(), lexer.version(), lexer.comments());
  for (; kind != RelayToken::End; kind = lexer.next(value, range))
    reader.add(kinds[size_t(kind)], range, lexer.comments());
  return reader.finish(lexer.metadata(), lexer.comments());
}

} // namespace parser::format

// One run of the parser: scanner, token stream, builder and grammar put together.
#include "parser/relay/parse.h"

#include "parser/relay/reader.h"
#include "parser/relay/token_names.h"

namespace parser {

namespace {

TokenTable tokenTable(Lexer& lexer) {
  using Token = Grammar::token;
  return {.openers = {Token::LeftParen, Token::LeftBracket, Token::LeftBrace},
          .closers = {Token::RightParen, Token::RightBracket, Token::RightBrace},
          .end = Token::End,
          .semicolon = Token::Semicolon,
          .comma = Token::Comma,
          .otherwise = Token::Else,
          .definitions = {Token::Def, Token::Type, Token::Extern},
          .next = [&lexer](Value& value,
                           lang::SourceRange& range) { return int(lexer.next(value, range)); },
          .quoted = quotedTokenName,
          .described = describeToken};
}

} // namespace

const surface::File* parseText(runtime::Arena& arena, const lang::SourceFile& file,
                               lang::Diagnostics& diagnostics,
                               const lang::OperatorTable* operators) {
  Lexer lexer(arena, file, diagnostics, operators);
  TokenStream tokens(tokenTable(lexer), lexer, diagnostics);
  Builder builder(arena, diagnostics);
  Reader reader{diagnostics, lexer, tokens, builder};
  Grammar grammar(reader);
  if (grammar.parse() != 0)
    return nullptr;
  surface::File* result = arena.make<surface::File>(builder.file);
  result->range = file.range();
  result->version = lexer.version();
  result->versionRange = lexer.versionRange();
  result->comments = arena.copy(lexer.comments());
  result->metadata = lexer.metadata();
  return result;
}

} // namespace parser

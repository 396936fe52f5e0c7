// One run of the parser: scanner, token stream, builders and grammar put together.
#include "parser/baton/parse.h"

#include "parser/baton/doubtful_comments.h"
#include "parser/baton/reader.h"
#include "parser/baton/token_names.h"

namespace parser::baton {

namespace {

TokenTable tokenTable(Lexer& lexer) {
  using Token = Grammar::token;
  return {
      .openers = {Token::LeftParen, Token::LeftBracket, Token::LeftBrace},
      .closers = {Token::RightParen, Token::RightBracket, Token::RightBrace},
      .end = Token::End,
      .semicolon = Token::Semicolon,
      .comma = Token::Comma,
      .otherwise = Token::Else,
      .definitions = {Token::Def, Token::Type, Token::Test, Token::Import},
      .next = [&lexer](Value& value, lang::SourceRange& range) { return lexer.next(value, range); },
      .quoted = quotedTokenName,
      .described = describeToken};
}

} // namespace

const surface::File* parseText(runtime::Arena& arena, const lang::SourceFile& file,
                               lang::Diagnostics& diagnostics) {
  Lexer lexer(arena, file, diagnostics);
  TokenStream tokens(tokenTable(lexer), lexer, diagnostics);
  parser::Builder shared(arena, diagnostics);
  Builder own(shared, arena, diagnostics);
  TypeBuilder types(shared, arena, diagnostics);
  PatternBuilder patterns(shared, arena);
  Reader reader{diagnostics, lexer, tokens, shared, own, types, patterns};
  Grammar grammar(reader);
  if (grammar.parse() != 0)
    return nullptr;
  own.finish();
  surface::File* result = arena.make<surface::File>(shared.file);
  result->notation = surface::Notation::Baton;
  result->range = file.range();
  result->metadata = lexer.metadata();
  result->comments = arena.copy(lexer.comments());
  if (!diagnostics.hasErrors())
    warnOfDivisors(*result, lexer, diagnostics);
  return result;
}

} // namespace parser::baton

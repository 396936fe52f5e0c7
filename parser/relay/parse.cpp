// One run of the parser: scanner, token stream, builder and grammar put together.
#include "parser/relay/parse.h"

#include "parser/relay/reader.h"

namespace parser {

const surface::File* parseText(runtime::Arena& arena, const lang::SourceFile& file,
                               lang::Diagnostics& diagnostics,
                               const lang::OperatorTable* operators) {
  Lexer lexer(arena, file, diagnostics, operators);
  TokenStream tokens(lexer, diagnostics);
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

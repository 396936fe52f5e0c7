// What a run of the parser works with: handed to the scanner and to every action of the grammar.
#pragma once

#include "parser/relay/lexer.h"
#include "parser/surface/builder.h"
#include "parser/surface/token_stream.h"

namespace parser {

struct Reader {
  lang::Diagnostics& diagnostics;
  Lexer& lexer;
  TokenStream& tokens;
  Builder& builder;
};

/// Reports that a token does not fit, unless a finding at that place says so already.
void reportSyntaxError(Reader& reader, Grammar::symbol_kind_type found, lang::SourceRange range,
                       const Grammar::symbol_kind_type* expected, int count);

} // namespace parser

// What a run of this parser works with: handed to the scanner and to every action of the grammar.
#pragma once

#include "parser/baton/builder.h"
#include "parser/baton/lexer.h"
#include "parser/baton/pattern_builder.h"
#include "parser/baton/type_builder.h"
#include "parser/surface/token_stream.h"

namespace parser::baton {

struct Reader {
  lang::Diagnostics& diagnostics;
  Lexer& lexer;
  TokenStream& tokens;
  parser::Builder& shared;
  Builder& own;
  TypeBuilder& types;
  PatternBuilder& patterns;
};

/// Reports that a token does not fit, unless a finding at that place says so already.
void reportSyntaxError(Reader& reader, Grammar::symbol_kind_type found, lang::SourceRange range,
                       const Grammar::symbol_kind_type* expected, int count);

} // namespace parser::baton

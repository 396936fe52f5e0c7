// What somebody may have meant by a token that does not fit: habits of other languages, and the
// marks that are easily forgotten. All are guesses, which are tried before they are shown.
#pragma once

#include "parser/baton/lexer.h"

namespace parser::baton {

/// A token that does not fit, and the one before it.
struct SyntaxMistake {
  int found;
  lang::SourceRange range;
  int before;
  lang::SourceRange beforeRange;
  std::span<const Grammar::symbol_kind_type> expected;
};

/// Suggests changes near to a mistake.
void suggestRepairs(lang::Diagnostic& report, const Lexer& lexer, const SyntaxMistake& mistake);

} // namespace parser::baton

// The text around a token that does not fit, as plain text.
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

/// A place where reading failed, and what stands around it.
class MistakeText {
public:
  MistakeText(const Lexer& lexer, const SyntaxMistake& mistake);

  const SyntaxMistake& mistake() const { return mistake_; }
  bool expects(Grammar::symbol_kind_type kind) const;
  std::string_view text(lang::SourceRange range) const { return lexer_.textOf(range); }
  std::string_view from(uint32_t place) const;
  std::string_view upTo(uint32_t place) const;
  /// The end of all text.
  uint32_t end() const { return lexer_.range().end; }

  /// The token that does not fit.
  lang::SourceRange found() const { return mistake_.range; }
  /// The token before; empty at the beginning.
  lang::SourceRange before() const { return before_; }
  /// The marks around the token that does not fit, such as `+=` around `=`; the token if it is
  /// none.
  lang::SourceRange marks() const { return marks_; }
  /// The word in front of the parentheses that end before the token; empty where there is none.
  lang::SourceRange called() const { return called_; }
  /// `--` in front of words on the same line; empty where there is none.
  lang::SourceRange dashes() const { return dashes_; }
  /// `//` in front of what looks like a divisor; empty where there is none.
  lang::SourceRange quotient() const;
  bool isNewLine() const;

  /// Where the expression around a place begins and ends: at a mark that parts, or at the line's.
  uint32_t expressionBegin(uint32_t place) const;
  uint32_t expressionEnd(uint32_t place) const;
  /// Behind the bracket that closes the one at a place; the place where there is none.
  uint32_t closing(uint32_t opening) const;

private:
  lang::SourceRange marksAround() const;
  lang::SourceRange calledBefore() const;
  lang::SourceRange dashesBefore() const;

  const Lexer& lexer_;
  SyntaxMistake mistake_;
  lang::SourceRange before_, marks_, called_, dashes_;
};

inline constexpr std::string_view anyBlank = " \t\r\n";

/// Whether a character is of a name.
bool isOfName(char c);
/// Where a word stands in a text that is no part of a longer one; npos where it does not.
size_t findWord(std::string_view text, std::string_view word);

} // namespace parser::baton

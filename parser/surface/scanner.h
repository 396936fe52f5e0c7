// What the lexers of both notations share: the cursor over a text, comments, texts in quotes, and
// the bytes that no token starts with.
//
// A text ends in a NUL byte, which std::string promises. A token's text is a view into the source;
// nothing is allocated per token except for strings with escapes.
#pragma once

#include "lang/source/diagnostic.h"
#include "parser/surface/value.h"
#include "runtime/arena.h"

#include <optional>
#include <vector>

namespace parser {

/// Whether a number fits a signed integer of that width.
bool fitsInteger(int64_t value, uint8_t width);
/// Whether digits that were read as zero say something else.
bool hasNonzeroDigit(std::string_view digits);

class Scanner {
public:
  Scanner(runtime::Arena& arena, const lang::SourceFile& file, lang::Diagnostics& diagnostics);

  /// True when text right before the last token was reported and left out.
  bool skippedText() const { return skippedText_; }
  /// The whole text.
  lang::SourceRange range() const { return rangeOf(begin_, limit_); }
  /// The bytes of a range of this text.
  std::string_view textOf(lang::SourceRange range) const;
  /// Every comment so far.
  const std::vector<lang::SourceRange>& comments() const { return comments_; }

  /// Whether what begins in a gap between tokens is `//` and an operand, and closes more than the
  /// text without it: a quotient of another language.
  bool hidesQuotient(lang::SourceRange gap) const;
  /// What is said of that.
  static constexpr std::string_view quotientWords =
      "`//` begins a comment: `floor_divide(a, b)` is the quotient without a rest";

protected:
  /// The text in quotes that begins at the token.
  Text quoted();
  void lineComment();
  /// Block comments nest.
  void blockComment();
  /// A text between the foreign quotes that it begins with, as in `'text'`: one finding. Nothing
  /// where it does not end in the same line.
  std::optional<Text> foreignQuote(std::string_view close = "'");
  /// A comment of another language.
  void foreignComment();
  /// A run of bytes that no token starts with: one finding.
  lang::Diagnostic& unexpected();

  std::string_view lexeme() const { return {start_, size_t(cursor_ - start_)}; }
  std::string_view rest() const { return {cursor_, size_t(limit_ - cursor_)}; }
  lang::SourceRange rangeOf(const char* from, const char* to) const;
  lang::SourceRange here() const { return rangeOf(start_, cursor_); }

  runtime::Arena& arena_;
  lang::Diagnostics& diagnostics_;
  const char* begin_;
  const char* limit_;
  uint32_t base_;
  const char* cursor_;
  const char* start_;
  bool skippedText_ = false;

private:
  std::vector<lang::SourceRange> comments_;
};

} // namespace parser

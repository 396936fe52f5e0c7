// The words of a text. lexer.re is the scanner itself.
//
// A token's text is a view into the source; nothing is allocated per token except for strings with
// escapes and dotted names with blanks. What is no token at all is reported and left out.
#pragma once

#include "lang/source/diagnostic.h"
#include "parser/relay/grammar.h"
#include "runtime/arena.h"

namespace lang {
class OperatorTable;
}

namespace parser {

/// Scans one text, left to right.
class Lexer {
public:
  /// `operators`, which may be null, are what suggestions name.
  Lexer(runtime::Arena& arena, const lang::SourceFile& file, lang::Diagnostics& diagnostics,
        const lang::OperatorTable* operators);

  /// The next token with its value and place; the end of the text comes again and again.
  Grammar::token_kind_type next(Value& value, lang::SourceRange& range);

  /// True when text right before the last token was reported and left out.
  bool skippedText() const { return skippedText_; }
  const lang::OperatorTable* operators() const { return operators_; }
  /// The whole text.
  lang::SourceRange range() const { return rangeOf(begin_, limit_); }
  /// The bytes of a range of this text.
  std::string_view textOf(lang::SourceRange range) const;
  /// Every comment so far.
  const std::vector<lang::SourceRange>& comments() const { return comments_; }
  /// The version that the header names, and the header's place; empty and invalid without one.
  std::string_view version() const { return version_; }
  lang::SourceRange versionRange() const { return versionRange_; }
  /// What follows `#[metadata]`.
  lang::SourceRange metadata() const { return metadata_; }

private:
  using Kind = Grammar::token_kind_type;

  Kind scan(Value& value);
  Kind named(Kind kind, Value& value);
  Kind dotted(Value& value);
  Kind graph(Value& value);
  Kind number(Value& value);
  Kind infinityOrNan(Value& value);
  Kind integer(bool negative, std::string_view digits, std::string_view suffix, Value& value);
  Kind real(bool negative, std::string_view digits, std::string_view suffix, Value& value);
  Kind projection(Value& value);
  Kind string(Value& value);
  Kind meta(Value& value);
  Kind comparison(Kind kind);
  void lineComment();
  void blockComment();
  void hashItem();
  void header(std::string_view version);
  void unexpected();
  void foreignQuote();
  void foreignComment();

  std::string_view lexeme() const { return {start_, size_t(cursor_ - start_)}; }
  std::string_view rest() const { return {cursor_, size_t(limit_ - cursor_)}; }
  lang::SourceRange rangeOf(const char* from, const char* to) const;
  lang::SourceRange here() const { return rangeOf(start_, cursor_); }

  runtime::Arena& arena_;
  lang::Diagnostics& diagnostics_;
  const lang::OperatorTable* operators_;
  const char* begin_;
  const char* limit_;
  uint32_t base_;
  const char* cursor_;
  const char* start_;
  bool atStart_ = true;
  bool skippedText_ = false;
  std::vector<lang::SourceRange> comments_;
  std::string_view version_;
  lang::SourceRange versionRange_;
  lang::SourceRange metadata_;
};

} // namespace parser

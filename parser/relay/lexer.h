// The words of a text. lexer.re is the scanner itself.
//
// Dotted names with blanks are the only names that are no view into the source. What is no token at
// all is reported and left out.
#pragma once

#include "parser/relay/grammar.h"
#include "parser/surface/scanner.h"

namespace lang {
class OperatorTable;
}

namespace parser {

/// Scans one text, left to right.
class Lexer : public Scanner {
public:
  /// `operators`, which may be null, are what suggestions name.
  Lexer(runtime::Arena& arena, const lang::SourceFile& file, lang::Diagnostics& diagnostics,
        const lang::OperatorTable* operators);

  /// The next token with its value and place; the end of the text comes again and again.
  Grammar::token_kind_type next(Value& value, lang::SourceRange& range);

  const lang::OperatorTable* operators() const { return operators_; }
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
  void hashItem();
  void header(std::string_view version);
  void unexpectedMark();

  const lang::OperatorTable* operators_;
  bool atStart_ = true;
  std::string_view version_;
  lang::SourceRange versionRange_;
  lang::SourceRange metadata_;
};

} // namespace parser

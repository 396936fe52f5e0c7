// The words of a text in Baton's notation. lexer.re is the scanner itself.
#pragma once

#include "parser/baton/grammar.h"
#include "parser/surface/scanner.h"

namespace parser::baton {

/// Scans one text, left to right.
class Lexer : public Scanner {
public:
  using Scanner::Scanner;

  /// The next token with its value and place; the end of the text comes again and again.
  int next(Value& value, lang::SourceRange& range);
  /// What follows `#[metadata]`, once the end has been reached; else invalid.
  lang::SourceRange metadata() const { return metadata_; }

private:
  int scan(Value& value);
  int number(Value& value);
  int integer(std::string_view digits, std::string_view suffix, Value& value);
  int real(std::string_view digits, std::string_view suffix, Value& value);
  int special(Value& value);
  int projection(Value& value);
  int meta(Value& value);
  int scanInstead(const char* ours, Value& value);
  /// A text between quotes of a keyboard or a printer: one finding.
  std::optional<Text> foreignText();
  /// Text that begins no token: one finding. What is written for it here, where that is a token.
  const char* foreignMark();
  void suggestCall(lang::Diagnostic& report, std::string_view head) const;
  /// What stands in three quotes: one finding.
  void foreignDocumentation();

  lang::SourceRange metadata_;
};

} // namespace parser::baton

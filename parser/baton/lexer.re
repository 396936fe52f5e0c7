// The scanner: one re2c rule per kind of token. What numbers are worth is in literals.cpp.
//
// A minus sign is no part of a number, and a dot between digits is: `t.0.1` is two projections, as a
// number begins with a digit and a projection with its dot.
#include "parser/baton/lexer.h"

#include <utility>

namespace parser::baton {

using Token = Grammar::token;

int Lexer::next(Value& value, lang::SourceRange& range) {
  skippedText_ = false;
  int kind = scan(value);
  range = here();
  return kind;
}

/// The token that is written differently here.
int Lexer::scanInstead(const char* ours, Value& value) {
  const char* behind = std::exchange(cursor_, ours);
  const char* begin = start_;
  int kind = scan(value);
  cursor_ = behind;
  start_ = begin;
  return kind;
}

int Lexer::scan(Value& value) {
  const char* marker = nullptr;
  /*!re2c
    re2c:api:style = free-form;
    re2c:define:YYCTYPE = "unsigned char";
    re2c:define:YYCURSOR = "cursor_";
    re2c:define:YYMARKER = "marker";
    re2c:yyfill:enable = 0;

    blank = [ \t\n] | "\r\n";
    letter = [A-Za-z_];
    digit = [0-9];
    identifier = letter (letter | digit)*;
    exponent = [eE] [+\-]? digit+;
  */
  for (;;) {
    start_ = cursor_;
    /*!re2c
      blank+ { continue; }
      "//" { lineComment(); continue; }
      "/*" { blockComment(); continue; }
      "'" {
        if (auto text = foreignQuote()) {
          value.text = *text;
          return Token::String;
        }
        foreignMark();
        continue;
      }
      "\"\"\"" { foreignDocumentation(); continue; }
      "#[metadata]" {
        metadata_ = rangeOf(cursor_, limit_);
        cursor_ = limit_;
        start_ = limit_;
        return Token::End;
      }
      "#" identifier ("." identifier)* "[" digit+ "]" { return meta(value); }
      "#" { foreignComment(); continue; }

      "let" { return Token::Let; }
      "lazy" { return Token::Lazy; }
      "fn" { return Token::Fn; }
      "def" { return Token::Def; }
      "if" { return Token::If; }
      "else" { return Token::Else; }
      "type" { return Token::Type; }
      "match" { return Token::Match; }
      "match?" { return Token::MatchSome; }
      "with" { return Token::With; }
      "import" { return Token::Import; }
      "as" { return Token::As; }
      "test" { return Token::Test; }
      "true" { return Token::True; }
      "false" { return Token::False; }
      "_" { return Token::Wildcard; }

      ("inf" | "nan") ("f16" | "bf16" | "f32" | "f64")? { return special(value); }
      identifier { value.text = toText(lexeme()); return Token::Identifier; }
      digit+ ("." digit+)? exponent? identifier? { return number(value); }
      "." digit+ { return projection(value); }
      "`" [^`\n\x00]+ "`" {
        value.text = toText(lexeme().substr(1, lexeme().size() - 2));
        return Token::Identifier;
      }
      "\"" { value.text = quoted(); return Token::String; }

      "(" { return Token::LeftParen; }
      ")" { return Token::RightParen; }
      "{" { return Token::LeftBrace; }
      "}" { return Token::RightBrace; }
      "[" { return Token::LeftBracket; }
      "]" { return Token::RightBracket; }
      "," { return Token::Comma; }
      ";" { return Token::Semicolon; }
      ":" { return Token::Colon; }
      "?" { return Token::Question; }
      "." { return Token::Dot; }
      ".." { return Token::DotDot; }
      "=" { return Token::Assign; }
      "=>" { return Token::FatArrow; }
      "->" { return Token::Arrow; }
      "|" { return Token::Bar; }
      "|>" { return Token::Pipe; }
      "||" { return Token::Or; }
      "&&" { return Token::And; }
      "!" { return Token::Not; }
      "==" { return Token::Equal; }
      "!=" { return Token::NotEqual; }
      "<=" { return Token::LessEqual; }
      ">=" { return Token::GreaterEqual; }
      "<" { return Token::Less; }
      ">" { return Token::Greater; }
      "+" { return Token::Plus; }
      "-" { return Token::Minus; }
      "*" { return Token::Star; }
      "/" { return Token::Slash; }
      "%" { return Token::Percent; }
      "@" { return Token::At; }
      "**" { return Token::StarStar; }

      "\x00" {
        if (start_ == limit_) {
          cursor_ = limit_;
          return Token::End;
        }
        unexpected();
        continue;
      }
      * {
        if (auto text = foreignText()) {
          value.text = *text;
          return Token::String;
        }
        if (const char* ours = foreignMark())
          return scanInstead(ours, value);
        continue;
      }
    */
  }
}

} // namespace parser::baton

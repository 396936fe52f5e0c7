// The scanner: one re2c rule per kind of token. What a rule's token is worth is in literals.cpp.
//
// The text ends in a NUL byte, which std::string promises; a NUL before the end is an unexpected
// byte like any other. `/` is a letter inside and at the end of a name but not at its start, so
// `%x// note` is the local `x//`; the longest match decides, as in TVM.
#include "parser/relay/lexer.h"

namespace parser {

using Token = Grammar::token;

Lexer::Kind Lexer::next(Value& value, lang::SourceRange& range) {
  skippedText_ = false;
  Kind kind = scan(value);
  range = here();
  atStart_ = false;
  return kind;
}

Lexer::Kind Lexer::scan(Value& value) {
  const char* marker = nullptr;
  /*!re2c
    re2c:api:style = free-form;
    re2c:define:YYCTYPE = "unsigned char";
    re2c:define:YYCURSOR = "cursor_";
    re2c:define:YYMARKER = "marker";
    re2c:yyfill:enable = 0;

    blank = [ \t\n] | "\r\n";
    letter = [A-Za-z_];
    identifier = letter (letter | [0-9/])*;
    run = [0-9.eE+\-]*;
    suffix = [0-9A-Za-z_];
  */
  for (;;) {
    start_ = cursor_;
    /*!re2c
      blank+ { continue; }
      "//" { lineComment(); continue; }
      "/*" { blockComment(); continue; }
      "#[" { hashItem(); continue; }
      "'" {
        if (foreignQuote())
          skippedText_ = true;
        else
          unexpectedMark();
        continue;
      }
      "#" { foreignComment(); continue; }
      "v" [0-9]+ "." [0-9]+ "." [0-9]+ {
        if (!atStart_) {
          cursor_ = start_ + lexeme().find('.');
          return named(Token::Identifier, value);
        }
        header(lexeme().substr(1));
        continue;
      }

      "let" { return Token::Let; }
      "fn" { return Token::Fn; }
      "def" { return Token::Def; }
      "if" { return Token::If; }
      "else" { return Token::Else; }
      "type" { return Token::Type; }
      "match" { return Token::Match; }
      "match?" { return Token::PartialMatch; }
      "extern" { return Token::Extern; }
      "free_var" { return Token::FreeVar; }
      "ref" { return Token::Ref; }
      "ref_read" { return Token::RefRead; }
      "ref_write" { return Token::RefWrite; }
      "True" { return Token::True; }
      "False" { return Token::False; }
      "_" { return Token::Wildcard; }
      "Tensor" { return named(Token::Tensor, value); }

      "-"* ("inf" | "nan") "f" ("16" | "32" | "64")? { return infinityOrNan(value); }
      identifier { return named(Token::Identifier, value); }
      identifier (blank* "." blank* identifier)+ { return dotted(value); }
      "%" identifier { return named(Token::Local, value); }
      "@" identifier { return named(Token::Global, value); }
      "%" [0-9]+ { return graph(value); }
      "meta[" [^\]\n\x00]* "][" [^\]\n\x00]* "]" { return meta(value); }

      "-"* [0-9] run ([fi] run)? suffix* { return number(value); }
      "." blank* [0-9]+ suffix* { return projection(value); }
      "\"" { return string(value); }

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
      "=" { return Token::Assign; }
      "=>" { return Token::FatArrow; }
      "-" [ \t\r\n]* ">" { return Token::Arrow; }
      "==" { return comparison(Token::Equal); }
      "!=" { return comparison(Token::NotEqual); }
      "<=" { return comparison(Token::LessEqual); }
      ">=" { return comparison(Token::GreaterEqual); }
      "<" { return Token::Less; }
      ">" { return Token::Greater; }
      "+" { return Token::Plus; }
      "-" { return Token::Minus; }
      "*" { return Token::Star; }
      "/" { return Token::Slash; }

      "\x00" {
        if (start_ == limit_) {
          cursor_ = limit_;
          return Token::End;
        }
        unexpectedMark();
        continue;
      }
      * { unexpectedMark(); continue; }
    */
  }
}

} // namespace parser

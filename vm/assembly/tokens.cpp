// A byte that is no UTF-8, or not to be shown, stands as `\xNN` in quotes.
#include "vm/assembly/tokens.h"

#include "lang/source/utf8.h"

#include <algorithm>

namespace assembly {

using lang::Message;

namespace {

bool isDigit(char c) {
  return c >= '0' && c <= '9';
}
bool isLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool isBlank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}
int hexDigit(char c) {
  if (isDigit(c))
    return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/// The byte that `\` and this letter mean.
std::optional<char> plainEscape(char letter) {
  switch (letter) {
  case 'n':
    return '\n';
  case 't':
    return '\t';
  case '"':
  case '\\':
    return letter;
  default:
    return std::nullopt;
  }
}

std::string foundText(const Token& token) {
  if (token.kind == TokenKind::End)
    return "end of text";
  if (token.kind == TokenKind::String)
    return "a string";
  constexpr size_t longest = 40;
  return fmt::format("`{}`", lang::printable(token.text.substr(0, longest)));
}

/// "`a`, `b` or c".
std::string listText(std::span<const std::string_view> names, const std::string& last) {
  std::string text;
  for (std::string_view name : names)
    text += fmt::format("{}`{}`", text.empty() ? "" : ", ", name);
  return text + (text.empty() ? "" : " or ") + last;
}

} // namespace

Tokens::Tokens(const lang::SourceFile& file, lang::Diagnostics& diagnostics)
    : text_(file.text()), base_(file.base()), diagnostics_(diagnostics) {
  next_ = lex();
}

Token Tokens::token(TokenKind kind, size_t start) const {
  return {kind, text_.substr(start, at_ - start), {uint32_t(base_ + start), uint32_t(base_ + at_)}};
}

void Tokens::end() {
  isGood_ = false;
  at_ = text_.size();
  next_ = token(TokenKind::End, at_);
}

void Tokens::skipBlanks() {
  while (true) {
    while (isBlank(at(at_)) || at(at_) == '\n')
      ++at_;
    if (at(at_) != '/' || at(at_ + 1) != '/')
      return;
    at_ = std::min(text_.find('\n', at_), text_.size());
  }
}

Token Tokens::lexString(size_t start) {
  for (++at_; at_ < text_.size() && at(at_) != '"' && at(at_) != '\n'; ++at_)
    at_ += at(at_) == '\\';
  if (at(at_) != '"') {
    at_ = std::min(at_, text_.size());
    fail(Message::UnterminatedString, {uint32_t(base_ + start), uint32_t(base_ + start + 1)});
    return next_;
  }
  ++at_;
  return token(TokenKind::String, start);
}

/// Goes to the end of the last line in a row that begins with `|`.
Token Tokens::lexLines(size_t start) {
  while (true) {
    at_ = std::min(text_.find('\n', at_), text_.size());
    size_t next = at_;
    while (isBlank(at(next)) || (at(next) == '\n' && next == at_))
      ++next;
    if (at(next) != '|')
      return token(TokenKind::String, start);
    at_ = next;
  }
}

Token Tokens::lex() {
  skipBlanks();
  size_t start = at_;
  char c = at(start);
  if (start >= text_.size())
    return token(TokenKind::End, start);
  if (c == '"')
    return lexString(start);
  if (c == '|')
    return lexLines(start);
  if (isLetter(c)) {
    while (isLetter(at(at_)) || isDigit(at(at_)) || at(at_) == '.')
      ++at_;
    return token(TokenKind::Name, start);
  }
  bool isReference = (c == '#' || c == '@') && isDigit(at(start + 1));
  if (isReference || isDigit(c) ||
      (c == '-' && (isDigit(at(start + 1)) || isLetter(at(start + 1))))) {
    auto goesOn = [&](char next) {
      bool isSign = (next == '-' || next == '+') && (at(at_ - 1) == 'e');
      return isDigit(next) || isLetter(next) || isSign || (next == '.' && at(at_ + 1) != '.');
    };
    for (++at_; goesOn(at(at_));)
      ++at_;
    return token(c == '#'   ? TokenKind::Index
                 : c == '@' ? TokenKind::Place
                            : TokenKind::Number,
                 start);
  }
  for (std::string_view symbol : {"#[", "..", "{", "}", "[", "]", ",", ":", "=", "+"})
    if (text_.substr(start).starts_with(symbol)) {
      at_ += symbol.size();
      return token(TokenKind::Symbol, start);
    }
  auto length = lang::decodeCharacter(text_.substr(start)).length;
  fail(Message::UnexpectedText, {uint32_t(base_ + start), uint32_t(base_ + start + length)},
       fmt::format("`{}`", lang::printable(text_.substr(start, length))));
  return next_;
}

Token Tokens::take() {
  Token taken = next_;
  wanted_.clear();
  if (isGood_)
    next_ = lex();
  return taken;
}

bool Tokens::isAt(std::string_view text) const {
  return isGood_ && (next_.kind == TokenKind::Name || next_.kind == TokenKind::Symbol) &&
         next_.text == text;
}

bool Tokens::accept(std::string_view text) {
  if (!isAt(text)) {
    wanted_.push_back(text);
    return false;
  }
  take();
  return true;
}

void Tokens::expect(std::string_view text) {
  if (!accept(text))
    failExpecting(fmt::format("`{}`", text));
}

Token Tokens::expect(TokenKind kind, std::string_view what) {
  if (isAt(kind))
    return take();
  failExpecting(std::string(what));
  return {};
}

void Tokens::failExpecting(std::string what) {
  constexpr size_t mostTold = 5;
  std::span<const std::string_view> others = wanted_;
  if (!others.empty() && fmt::format("`{}`", others.back()) == what)
    others = others.first(others.size() - 1);
  others = others.last(std::min(others.size(), mostTold));
  fail(Message::SyntaxError, next_.range, listText(others, what), foundText(next_));
}

std::optional<std::string> Tokens::unescaped(std::string_view text) const {
  std::string meant;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      meant += text[i];
      continue;
    }
    char letter = ++i < text.size() ? text[i] : '\0';
    if (auto plain = plainEscape(letter)) {
      meant += *plain;
      continue;
    }
    int high = i + 1 < text.size() ? hexDigit(text[i + 1]) : -1;
    int low = i + 2 < text.size() ? hexDigit(text[i + 2]) : -1;
    if (letter != 'x' || high < 0 || low < 0)
      return std::nullopt;
    meant += char(high << 4 | low);
    i += 2;
  }
  return meant;
}

std::string Tokens::string() {
  Token token = expect(TokenKind::String, "a string");
  if (token.kind == TokenKind::End)
    return "";
  if (token.text[0] == '"') {
    auto meant = unescaped(token.text.substr(1, token.text.size() - 2));
    if (!meant)
      fail(Message::SyntaxError, token.range,
           R"(`\n`, `\t`, `\\`, `\"` or `\x` and two digits behind each backslash)",
           "something else");
    return meant.value_or("");
  }
  std::string lines;
  for (size_t from = 0; from != std::string_view::npos;) {
    size_t bar = token.text.find('|', from), end = token.text.find('\n', bar);
    lines += lines.empty() && from == 0 ? "" : "\n";
    lines += token.text.substr(bar + 1, end - bar - 1);
    from = end;
  }
  return lines;
}

std::string quoted(std::string_view text) {
  std::string written = "\"";
  while (!text.empty()) {
    lang::Character next = lang::decodeCharacter(text);
    if (text[0] == '\n' || text[0] == '\t')
      written += text[0] == '\n' ? "\\n" : "\\t";
    else if (text[0] == '"' || text[0] == '\\')
      (written += '\\') += text[0];
    else if (lang::isPrintable(next))
      written += text.substr(0, next.length);
    else
      for (char byte : text.substr(0, next.length))
        written += fmt::format("\\x{:02x}", uint8_t(byte));
    text.remove_prefix(next.length);
  }
  return written + '"';
}

bool isLines(std::string_view text) {
  bool hasLines = false;
  while (!text.empty()) {
    lang::Character next = lang::decodeCharacter(text);
    bool isEnd = text[0] == '\n';
    hasLines |= isEnd;
    if (!isEnd && !lang::isPrintable(next))
      return false;
    text.remove_prefix(next.length);
  }
  return hasLines;
}

} // namespace assembly

// One pass over the characters.
#include "lower/text/tokens.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <fmt/format.h>

namespace text {

namespace {

constexpr std::array<std::string_view, 5> pairs{"->", "==", "!=", "<=", ">="};

bool isWordStart(char letter) {
  return std::isalpha(static_cast<unsigned char>(letter)) || letter == '_';
}
bool isWordPart(char letter) {
  return isWordStart(letter) || std::isdigit(static_cast<unsigned char>(letter));
}

/// How long the number is that starts here: digits, a fraction, an exponent.
size_t numberLength(std::string_view text) {
  size_t length = 0;
  auto digits = [&] {
    while (length < text.size() && std::isdigit(static_cast<unsigned char>(text[length])))
      ++length;
  };
  digits();
  if (length < text.size() && text[length] == '.') {
    ++length;
    digits();
  }
  if (length < text.size() && text[length] == 'e') {
    size_t before = length++;
    if (length < text.size() && (text[length] == '+' || text[length] == '-'))
      ++length;
    size_t exponent = length;
    digits();
    if (length == exponent)
      length = before;
  }
  return length;
}

std::string shown(const Token& token) {
  return token.kind == TokenKind::End ? "the end of the line" : fmt::format("`{}`", token.text);
}

Token tokenAt(std::string_view line, uint32_t number, size_t column) {
  std::string_view rest = line.substr(column);
  TokenKind kind = TokenKind::Sign;
  size_t length = 1;
  if (isWordStart(rest[0])) {
    kind = TokenKind::Word;
    length = size_t(std::ranges::find_if_not(rest, isWordPart) - rest.begin());
  } else if (std::isdigit(static_cast<unsigned char>(rest[0]))) {
    kind = TokenKind::Number;
    length = numberLength(rest);
  } else if (std::ranges::find(pairs, rest.substr(0, 2)) != pairs.end()) {
    length = 2;
  }
  Token token{kind, rest.substr(0, length), number, uint32_t(column + 1)};
  if (kind == TokenKind::Sign &&
      std::string_view("()[],:+-*/%<>=").find(rest[0]) == std::string_view::npos &&
      token.text != "!=")
    refuseAt(token, "this character has no meaning here");
  return token;
}

} // namespace

void refuseAt(const Token& token, const std::string& problem) {
  throw Unreadable{fmt::format("{}:{}: {}", token.line, token.column, problem)};
}

std::vector<Line> linesOf(std::string_view text) {
  std::vector<Line> lines;
  uint32_t number = 0;
  while (!text.empty()) {
    ++number;
    size_t length = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, length);
    text.remove_prefix(std::min(length + 1, text.size()));
    line = line.substr(0, line.find('#'));
    Line made{0, {}};
    size_t column = 0;
    while (column < line.size()) {
      if (line[column] == ' ' || line[column] == '\r') {
        ++column;
        continue;
      }
      if (made.tokens.empty())
        made.indent = uint32_t(column);
      made.tokens.push_back(tokenAt(line, number, column));
      column += made.tokens.back().text.size();
    }
    if (made.tokens.empty())
      continue;
    made.tokens.push_back({TokenKind::End, {}, number, uint32_t(line.size() + 1)});
    lines.push_back(std::move(made));
  }
  return lines;
}

bool Cursor::takeIf(std::string_view text) {
  bool is = this->is(text);
  if (is)
    take();
  return is;
}

const Token& Cursor::expect(std::string_view text) {
  if (!is(text))
    refuseAt(peek(), fmt::format("expected `{}`, but found {}", text, shown(peek())));
  return take();
}

const Token& Cursor::word(std::string_view what) {
  if (peek().kind != TokenKind::Word)
    refuseAt(peek(), fmt::format("expected {}, but found {}", what, shown(peek())));
  return take();
}

int64_t Cursor::whole(std::string_view what) {
  const Token& token = peek();
  int64_t value = 0;
  auto end = token.text.data() + token.text.size();
  if (token.kind != TokenKind::Number)
    refuseAt(token, fmt::format("expected {}, but found {}", what, shown(token)));
  if (std::from_chars(token.text.data(), end, value) != std::from_chars_result{end, std::errc{}})
    refuseAt(token, fmt::format("`{}` is no whole number of 64 bits", token.text));
  take();
  return value;
}

void Cursor::end() {
  if (peek().kind != TokenKind::End)
    refuseAt(peek(), fmt::format("expected the end of the line, but found {}", shown(peek())));
}

} // namespace text

// Strings know the escapes that TVM's printer writes; any other backslash is an ordinary byte.
#include "parser/surface/scanner.h"

#include "parser/surface/clipped.h"

#include <algorithm>
#include <cctype>

namespace parser {

using lang::Message;

namespace {

int hexDigit(char c) {
  if (c >= '0' && c <= '9')
    return c - '0';
  if (c >= 'a' && c <= 'f')
    return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/// Decodes the escape at the start of `text` (behind the backslash): the byte, and how many
/// characters it took; 0 when the backslash is an ordinary byte.
size_t decodeEscape(std::string_view text, char& byte) {
  if (text.empty())
    return 0;
  switch (text[0]) {
  case '"':
  case '\\':
    byte = text[0];
    return 1;
  case 't':
    byte = '\t';
    return 1;
  case 'r':
    byte = '\r';
    return 1;
  case 'n':
    byte = '\n';
    return 1;
  case 'x':
    if (text.size() < 3 || hexDigit(text[1]) < 0 || hexDigit(text[2]) < 0)
      return 0;
    byte = char(hexDigit(text[1]) * 16 + hexDigit(text[2]));
    return 3;
  default:
    return 0;
  }
}

std::string decodeString(std::string_view raw) {
  std::string text;
  text.reserve(raw.size());
  for (size_t i = 0; i < raw.size(); ++i) {
    char byte = raw[i];
    if (byte == '\\')
      i += decodeEscape(raw.substr(i + 1), byte);
    text.push_back(byte);
  }
  return text;
}

} // namespace

bool fitsInteger(int64_t value, uint8_t width) {
  int64_t limit = int64_t(1) << (width - 1);
  return width == 64 || (value >= -limit && value < limit);
}

bool hasNonzeroDigit(std::string_view digits) {
  for (char c : digits) {
    if (c >= '1' && c <= '9')
      return true;
    if (c == 'e' || c == 'E')
      return false;
  }
  return false;
}

Scanner::Scanner(runtime::Arena& arena, const lang::SourceFile& file,
                 lang::Diagnostics& diagnostics)
    : arena_(arena), diagnostics_(diagnostics), begin_(file.text().data()),
      limit_(begin_ + file.text().size()), base_(file.base()), cursor_(begin_), start_(begin_) {}

std::string_view Scanner::textOf(lang::SourceRange range) const {
  return {begin_ + (range.begin - base_), range.end - range.begin};
}

lang::SourceRange Scanner::rangeOf(const char* from, const char* to) const {
  return {base_ + uint32_t(from - begin_), base_ + uint32_t(to - begin_)};
}

Text Scanner::quoted() {
  const char* first = cursor_;
  bool escapes = false;
  while (cursor_ < limit_ && *cursor_ != '"') {
    bool isEscape = *cursor_ == '\\';
    escapes |= isEscape;
    cursor_ += isEscape && cursor_ + 1 < limit_ ? 2 : 1;
  }
  std::string_view raw(first, size_t(cursor_ - first));
  if (cursor_ == limit_)
    diagnostics_.report(Message::UnterminatedString, rangeOf(start_, first));
  else
    ++cursor_;
  return toText(escapes ? arena_.copyText(decodeString(raw)) : raw);
}

bool Scanner::hidesQuotient(lang::SourceRange gap) const {
  std::string_view text = textOf(gap);
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  text = text.substr(0, text.find('\n'));
  if (!text.starts_with("//") || text.starts_with("///"))
    return false;
  text.remove_prefix(2);
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  auto isOfName = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '%';
  };
  size_t end = size_t(std::ranges::find_if_not(text, isOfName) - text.begin());
  size_t next = text.find_first_not_of(" \t", end);
  return end > 0 && next != std::string_view::npos &&
         std::string_view(";)]},").find(text[next]) != std::string_view::npos;
}

void Scanner::lineComment() {
  size_t length = std::min(rest().find('\n'), rest().size());
  cursor_ += length;
  comments_.push_back(here());
}

void Scanner::blockComment() {
  size_t depth = 1;
  while (depth > 0) {
    size_t mark = rest().find_first_of("*/");
    if (mark == std::string_view::npos || mark + 1 >= rest().size()) {
      diagnostics_.report(Message::UnterminatedComment, rangeOf(start_, start_ + 2));
      cursor_ = limit_;
      break;
    }
    cursor_ += mark + 1;
    bool closes = cursor_[-1] == '*' && *cursor_ == '/';
    bool opens = cursor_[-1] == '/' && *cursor_ == '*';
    if (closes || opens)
      ++cursor_;
    depth += size_t(opens);
    depth -= size_t(closes);
  }
  comments_.push_back(here());
}

std::optional<Text> Scanner::foreignQuote(std::string_view close) {
  constexpr size_t longest = 2000;
  std::string_view near = rest().substr(0, longest);
  size_t end = near.find(close);
  std::string_view text = near.substr(0, end);
  if (end == std::string_view::npos || text.find('\n') != std::string_view::npos)
    return std::nullopt;
  const char* opened = cursor_;
  cursor_ += end + close.size();
  diagnostics_.report(Message::UnexpectedText, here(), "`" + clipped(lexeme()) + "`")
      .suggest(
          {"a string stands in double quotes: {}",
           {{rangeOf(start_, opened), "\""}, {rangeOf(cursor_ - close.size(), cursor_), "\""}}});
  return toText(text);
}

void Scanner::foreignComment() {
  skippedText_ = true;
  cursor_ += std::min(rest().find('\n'), rest().size());
  diagnostics_.report(Message::UnexpectedText, rangeOf(start_, start_ + 1), "`#`")
      .suggest({"a comment begins with {}", {{rangeOf(start_, start_ + 1), "//"}}});
}

lang::Diagnostic& Scanner::unexpected() {
  skippedText_ = true;
  auto isForeign = [](char c) { return (static_cast<unsigned char>(c) & 0x80) != 0 || c == 0; };
  bool foreign = isForeign(*start_);
  while (foreign && cursor_ < limit_ && isForeign(*cursor_))
    ++cursor_;
  bool isDoubled = (*start_ == '&' || *start_ == '|') && cursor_ < limit_ && *cursor_ == *start_;
  cursor_ += isDoubled ? 1 : 0;
  bool printable = *start_ > ' ' && *start_ <= '~';
  std::string what = printable         ? "`" + std::string(lexeme()) + "`"
                     : *start_ == '\r' ? "carriage return without a line feed"
                     : (static_cast<unsigned char>(*start_) & 0x80) != 0
                         ? "text outside ASCII: `" + clipped(lexeme()) + "`"
                         : "control character";
  return diagnostics_.report(Message::UnexpectedText, here(), what);
}

} // namespace parser

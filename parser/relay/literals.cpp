// What tokens are worth: numbers, strings, names, comments, hash items.
//
// Numbers: a decimal point or an exponent needs the suffix `f`; a run of minus signs belongs to the
// literal, each flips the sign. An integer without width is 32 bits wide when its value, sign
// included, fits, else 64. Beyond TVM: `nanf`, `inff16`, `inff64`, float64 denormals and the
// smallest integers of each width.
#include "parser/relay/operator_hints.h"
#include "parser/surface/clipped.h"

#include <charconv>
#include <cmath>
#include <limits>

namespace parser {

using Token = Grammar::token;
using lang::Message;

namespace {

constexpr std::string_view keywords[] = {"let",      "fn",   "def",      "if",
                                         "else",     "type", "match",    "extern",
                                         "free_var", "ref",  "ref_read", "ref_write"};

/// The width behind a suffix letter: `fallback` when empty, 0 when there is no such width.
uint8_t widthOf(std::string_view digits, uint8_t fallback) {
  if (digits.empty())
    return fallback;
  return digits == "16" ? 16 : digits == "32" ? 32 : digits == "64" ? 64 : 0;
}

double largest(uint8_t width) {
  return width == 16   ? 65504.0
         : width == 32 ? double(std::numeric_limits<float>::max())
                       : std::numeric_limits<double>::max();
}

} // namespace

Lexer::Lexer(runtime::Arena& arena, const lang::SourceFile& file, lang::Diagnostics& diagnostics,
             const lang::OperatorTable* operators)
    : Scanner(arena, file, diagnostics), operators_(operators) {}

// Names.

/// A name; `%` and `@` in front are left out of its text.
Lexer::Kind Lexer::named(Kind kind, Value& value) {
  bool hasSigil = kind == Token::Local || kind == Token::Global;
  std::string_view name = lexeme().substr(hasSigil ? 1 : 0);
  value.text = toText(name);
  if (hasSigil)
    for (std::string_view keyword : keywords)
      if (name == keyword)
        diagnostics_.report(Message::KeywordAsName, here(), name);
  return kind;
}

Lexer::Kind Lexer::dotted(Value& value) {
  std::string_view text = lexeme();
  if (text.find_first_of(" \t\r\n") != std::string_view::npos) {
    std::string joined;
    for (char c : text)
      if (c != ' ' && c != '\t' && c != '\r' && c != '\n')
        joined.push_back(c);
    text = arena_.copyText(joined);
  }
  value.text = toText(text);
  return Token::DottedName;
}

Lexer::Kind Lexer::graph(Value& value) {
  std::string_view digits = lexeme().substr(1);
  value.number = 0;
  if (std::from_chars(digits.data(), cursor_, value.number).ec != std::errc())
    diagnostics_.report(Message::NumberOutOfRange, here(), clipped(lexeme()), "a graph number");
  return Token::Graph;
}

Lexer::Kind Lexer::meta(Value& value) {
  std::string_view text = lexeme();
  size_t keyEnd = text.find(']');
  std::string_view index = text.substr(keyEnd + 2, text.size() - keyEnd - 3);
  value.meta = {toText(text.substr(5, keyEnd - 5)), 0};
  auto [end, error] = std::from_chars(index.data(), index.data() + index.size(), value.meta.index);
  if (error != std::errc() || end != index.data() + index.size())
    diagnostics_.report(Message::MalformedNumber, here(), clipped(index))
        .note("a meta reference is written `meta[type.Key][0]`, without blanks");
  return Token::Meta;
}

// Numbers.

namespace {

/// Digits that run together with the signs between them, apart: `1 - 2`.
std::string withBlanks(std::string_view digits) {
  std::string text;
  for (size_t i = 0; i < digits.size(); ++i) {
    bool isSign = digits[i] == '+' || digits[i] == '-';
    bool isExponent = i > 0 && (digits[i - 1] == 'e' || digits[i - 1] == 'E');
    text +=
        isSign && i > 0 && !isExponent ? fmt::format(" {} ", digits[i]) : std::string(1, digits[i]);
  }
  return text;
}

} // namespace

Lexer::Kind Lexer::number(Value& value) {
  std::string_view text = lexeme();
  size_t minuses = text.find_first_not_of('-');
  std::string_view magnitude = text.substr(minuses);
  size_t runEnd = std::min(magnitude.find_first_not_of("0123456789.eE+-"), magnitude.size());
  std::string_view digits = magnitude.substr(0, runEnd), suffix = magnitude.substr(runEnd);
  bool negative = minuses % 2 == 1;
  return suffix.starts_with('f') ? real(negative, digits, suffix.substr(1), value)
                                 : integer(negative, digits, suffix, value);
}

Lexer::Kind Lexer::integer(bool negative, std::string_view digits, std::string_view suffix,
                           Value& value) {
  bool hasSuffix = suffix.starts_with('i');
  uint8_t width = hasSuffix ? widthOf(suffix.substr(1), 1) : suffix.empty() ? 1 : 0;
  value.integer = {0, {runtime::DTypeCode::Int, 32}, false};
  if (width == 0 || digits.find_first_not_of("0123456789") != std::string_view::npos) {
    auto& finding = diagnostics_.report(Message::MalformedNumber, here(), clipped(lexeme()));
    double real = 0;
    const char* end = digits.data() + digits.size();
    if (!suffix.empty())
      finding.note("widths are 16, 32 and 64: `1i64`, `2.5f16`");
    else if (std::from_chars(digits.data(), end, real).ptr == end)
      finding.suggest({"a real number ends in `f`, `f16` or `f64`: {}",
                       {{here(), fmt::format("{}f", lexeme())}}});
    else
      finding.suggest({"`+` and `-` between numbers have blanks on both sides: {}",
                       {{here(), withBlanks(lexeme())}}});
    return Token::Integer;
  }
  uint64_t magnitude = 0;
  uint64_t limit = (uint64_t(1) << 63) - (negative ? 0 : 1);
  bool overflow =
      std::from_chars(digits.data(), digits.data() + digits.size(), magnitude).ec != std::errc() ||
      magnitude > limit;
  int64_t result = overflow ? 0 : int64_t(negative ? 0 - magnitude : magnitude);
  if (width == 1)
    width = fitsInteger(result, 32) ? 32 : 64;
  if (overflow || !fitsInteger(result, width))
    diagnostics_.report(Message::NumberOutOfRange, here(), clipped(lexeme()),
                        fmt::format("int{}", width == 32 && overflow ? 64 : width));
  else
    value.integer.value = result;
  value.integer.type.bits = width;
  return Token::Integer;
}

Lexer::Kind Lexer::real(bool negative, std::string_view digits, std::string_view suffix,
                        Value& value) {
  uint8_t width = widthOf(suffix, 32);
  value.real = {0, {runtime::DTypeCode::Float, width == 0 ? uint8_t(32) : width}};
  double result = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), result);
  if (width == 0 || end != digits.data() + digits.size() || error == std::errc::invalid_argument) {
    diagnostics_.report(Message::MalformedNumber, here(), clipped(lexeme()));
    return Token::Float;
  }
  bool vanished = result == 0 && hasNonzeroDigit(digits);
  if (error != std::errc() || vanished || result > largest(width))
    diagnostics_.report(Message::NumberOutOfRange, here(), clipped(lexeme()),
                        fmt::format("float{}", width));
  else
    value.real.value = negative ? -result : result;
  return Token::Float;
}

Lexer::Kind Lexer::infinityOrNan(Value& value) {
  std::string_view text = lexeme();
  size_t minuses = text.find_first_not_of('-');
  std::string_view word = text.substr(minuses);
  double result = word.starts_with("inf") ? std::numeric_limits<double>::infinity()
                                          : std::numeric_limits<double>::quiet_NaN();
  value.real = {std::copysign(result, minuses % 2 == 1 ? -1.0 : 1.0),
                {runtime::DTypeCode::Float, widthOf(word.substr(4), 32)}};
  return Token::Float;
}

Lexer::Kind Lexer::projection(Value& value) {
  std::string_view text = lexeme();
  std::string_view digits = text.substr(text.find_first_of("0123456789"));
  value.number = 0;
  auto [end, error] = std::from_chars(digits.data(), cursor_, value.number);
  if (error == std::errc::result_out_of_range)
    diagnostics_.report(Message::NumberOutOfRange, here(), clipped(digits), "a tuple index");
  else if (end != cursor_)
    diagnostics_.report(Message::MalformedNumber, here(), clipped(text));
  return Token::Projection;
}

// Strings and hash items.

Lexer::Kind Lexer::string(Value& value) {
  value.text = quoted();
  return Token::String;
}

/// `#[version = "0.0.5"]` or `#[metadata]`.
void Lexer::hashItem() {
  size_t length = std::min(rest().find(']'), rest().size());
  std::string_view item = rest().substr(0, length);
  cursor_ += std::min(length + 1, rest().size());
  auto trim = [](std::string_view text) {
    size_t first = std::min(text.find_first_not_of(" \t\r\n"), text.size());
    size_t last = text.find_last_not_of(" \t\r\n") + 1;
    return text.substr(first, last > first ? last - first : 0);
  };
  item = trim(item);
  if (item == "metadata") {
    metadata_ = rangeOf(cursor_, limit_);
    cursor_ = limit_;
    return;
  }
  size_t equals = item.find('=');
  if (!item.starts_with("version") || equals == std::string_view::npos) {
    diagnostics_.report(Message::UnexpectedText, here(), "`" + clipped(lexeme()) + "`")
        .note("`#[version = \"0.0.5\"]` and `#[metadata]` are the items of this form");
    return;
  }
  std::string_view version = trim(item.substr(equals + 1));
  bool isQuoted = version.size() >= 2 && version.front() == '"' && version.back() == '"';
  header(isQuoted ? version.substr(1, version.size() - 2) : version);
}

void Lexer::header(std::string_view version) {
  if (!atStart_ || versionRange_.isValid()) {
    diagnostics_.report(Message::UnexpectedText, here(), "`" + clipped(lexeme()) + "`")
        .note("the version stands before everything else, once");
    return;
  }
  if (version != "0.0.5" && version != "0.0.4")
    diagnostics_.report(Message::UnknownVersion, here(), clipped(version))
        .note("known versions are 0.0.5 and 0.0.4");
  version_ = version;
  versionRange_ = here();
}

// What is no token.

/// A comparison must not touch another operator: TVM drops the second one silently.
Lexer::Kind Lexer::comparison(Kind kind) {
  std::string_view after = rest();
  size_t minuses = std::min(after.find_first_not_of('-'), after.size());
  std::string_view operand = after.substr(minuses);
  bool isComment = after.starts_with("//") || after.starts_with("/*");
  bool isNegative = minuses > 0 && !operand.empty() &&
                    ((operand[0] >= '0' && operand[0] <= '9') || operand.starts_with("inff") ||
                     operand.starts_with("nanf"));
  if (after.empty() || isComment || isNegative ||
      std::string_view("=<>!+-*/").find(after[0]) == std::string_view::npos)
    return kind;
  ++cursor_;
  diagnostics_.report(Message::UnexpectedText, here(), "`" + std::string(lexeme()) + "`")
      .note("two operators touch");
  return kind;
}

/// Hints at what the bytes mean in other languages.
void Lexer::unexpectedMark() {
  auto& report = unexpected();
  bool printable = *start_ > ' ' && *start_ <= '~';
  if (*start_ == '.')
    report.note("a value has no members: functions are called as in `f(%x)`");
  else if (*start_ == '@' || *start_ == '%')
    report.note(fmt::format("`{}` begins a name and is no operator", *start_));
  if (*start_ == '.')
    suggestMemberCall(report, *this, here().begin);
  else if (*start_ == '!' || *start_ == '~')
    suggestPrefixCall(report, *this, here(), lexeme());
  else if (printable)
    suggestInfixCall(report, *this, here());
}

} // namespace parser

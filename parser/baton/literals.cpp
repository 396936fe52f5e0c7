// What numbers are worth. One without a suffix takes the type that its use asks for, so only its
// value is read here; with a suffix it must fit that type.
#include "parser/baton/lexer.h"
#include "parser/surface/clipped.h"
#include "runtime/dtype.h"

#include <charconv>
#include <cmath>
#include <limits>

namespace parser::baton {

using Token = Grammar::token;
using lang::Message;
using surface::NumberKind;

namespace {

struct Suffix {
  std::string_view text;
  NumberKind kind;
  uint8_t width;
};

constexpr Suffix suffixes[] = {
    {"i8", NumberKind::Signed, 8},     {"i16", NumberKind::Signed, 16},
    {"i32", NumberKind::Signed, 32},   {"i64", NumberKind::Signed, 64},
    {"u8", NumberKind::Unsigned, 8},   {"u16", NumberKind::Unsigned, 16},
    {"u32", NumberKind::Unsigned, 32}, {"u64", NumberKind::Unsigned, 64},
    {"f16", NumberKind::Float, 16},    {"f32", NumberKind::Float, 32},
    {"f64", NumberKind::Float, 64},    {"bf16", NumberKind::BFloat, 16},
};

const Suffix* find(std::string_view text) {
  for (const Suffix& suffix : suffixes)
    if (suffix.text == text)
      return &suffix;
  return nullptr;
}

bool isFloat(const Suffix& suffix) {
  return suffix.kind == NumberKind::Float || suffix.kind == NumberKind::BFloat;
}

/// One more than the largest number of a type; 0 where that is no number of 64 bits.
uint64_t limitOf(const Suffix& suffix) {
  int bits = suffix.width - (suffix.kind == NumberKind::Signed ? 1 : 0);
  return bits == 64 ? 0 : uint64_t(1) << bits;
}

double largest(const Suffix* suffix) {
  if (!suffix || suffix->width == 64)
    return std::numeric_limits<double>::max();
  return suffix->width == 16 && suffix->kind == NumberKind::Float
             ? 65504.0
             : double(std::numeric_limits<float>::max());
}

} // namespace

int Lexer::number(Value& value) {
  std::string_view text = lexeme();
  size_t end = 0;
  for (bool afterExponent = false; end < text.size(); ++end) {
    char c = text[end];
    bool isDigit = c >= '0' && c <= '9';
    bool isExponent = (c == 'e' || c == 'E') && end + 1 < text.size() && !afterExponent &&
                      ((text[end + 1] >= '0' && text[end + 1] <= '9') || text[end + 1] == '+' ||
                       text[end + 1] == '-');
    bool isSign = (c == '+' || c == '-') && (text[end - 1] == 'e' || text[end - 1] == 'E');
    if (!isDigit && c != '.' && !isExponent && !isSign)
      break;
    afterExponent |= isExponent;
  }
  std::string_view digits = text.substr(0, end), suffix = text.substr(end);
  const Suffix* known = find(suffix);
  bool isReal = digits.find_first_of(".eE") != std::string_view::npos;
  if (!suffix.empty() && !known) {
    auto& report = diagnostics_.report(Message::MalformedNumber, here(), clipped(text));
    if (suffix == "f")
      report.suggest({"a number takes the type that its use asks for: {}",
                      {{here(), isReal ? std::string(digits) : fmt::format("{}.0", digits)}}});
    report.note("a number may end in its type: `1i64`, `0.5f16`");
  } else if (known && isReal && !isFloat(*known)) {
    diagnostics_.report(Message::MalformedNumber, here(), clipped(text))
        .note("an integer has no fraction and no exponent");
  }
  bool isRealToken = isReal || (known && isFloat(*known));
  return isRealToken ? real(digits, suffix, value) : integer(digits, suffix, value);
}

int Lexer::integer(std::string_view digits, std::string_view suffix, Value& value) {
  const Suffix* known = find(suffix);
  uint64_t magnitude = 0;
  bool overflow =
      std::from_chars(digits.data(), digits.data() + digits.size(), magnitude).ec != std::errc();
  constexpr Suffix widest = {"i64", NumberKind::Signed, 64};
  const Suffix& type = known ? *known : widest;
  uint64_t limit = limitOf(type);
  bool needsMinus = type.kind == NumberKind::Signed && magnitude == limit;
  if (overflow || (magnitude >= limit && limit > 0 && !needsMinus)) {
    diagnostics_.report(Message::NumberOutOfRange, here(), clipped(lexeme()), type.text);
    magnitude = 0;
  }
  value.integer = {int64_t(magnitude), known ? known->width : uint8_t(0),
                   known ? known->kind : NumberKind::Signed, needsMinus && !overflow};
  return Token::Integer;
}

int Lexer::real(std::string_view digits, std::string_view suffix, Value& value) {
  const Suffix* known = find(suffix);
  bool isReal = known && isFloat(*known);
  double result = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), result);
  bool vanished = result == 0 && hasNonzeroDigit(digits);
  if (error != std::errc() || vanished || result > largest(known)) {
    diagnostics_.report(Message::NumberOutOfRange, here(), clipped(lexeme()),
                        known ? known->text : "f64");
    result = 0;
  }
  value.real = {result, isReal ? known->width : uint8_t(0),
                isReal ? known->kind : NumberKind::Float};
  return Token::Float;
}

int Lexer::projection(Value& value) {
  std::string_view digits = lexeme().substr(1);
  value.number = 0;
  if (std::from_chars(digits.data(), cursor_, value.number).ec != std::errc())
    diagnostics_.report(Message::NumberOutOfRange, here(), clipped(digits), "a tuple index");
  return Token::Projection;
}

} // namespace parser::baton

// What numbers are worth. One without a suffix takes the type that its use asks for, so only its
// value is read here; with a suffix it must fit that type.
#include "parser/baton/lexer.h"
#include "parser/surface/clipped.h"
#include "runtime/short_names.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <limits>

namespace parser::baton {

using Token = Grammar::token;
using lang::Message;
using runtime::DType;

namespace {

/// One more than the largest number of a type; 0 where that is no number of 64 bits.
uint64_t limitOf(DType type) {
  int bits = type.bits - (type.isSigned() ? 1 : 0);
  return bits == 64 ? 0 : uint64_t(1) << bits;
}

double largest(DType type) {
  if (type.bits == 64)
    return std::numeric_limits<double>::max();
  return type == runtime::Float16 ? 65504.0 : double(std::numeric_limits<float>::max());
}

/// The type that a suffix says, else one of no bits.
ElementType typeOf(std::optional<DType> suffix, runtime::DTypeCode code) {
  return suffix ? ElementType{suffix->code, suffix->bits} : ElementType{code, 0};
}

/// The value of what is written as `0xff` or `0b101` elsewhere.
std::optional<uint64_t> otherBase(std::string_view digits, std::string_view suffix) {
  int base = suffix[0] == 'x' ? 16 : suffix[0] == 'b' ? 2 : suffix[0] == 'o' ? 8 : 0;
  uint64_t value = 0;
  const char* last = suffix.data() + suffix.size();
  bool isRead = digits == "0" && base > 0 && suffix.size() > 1 &&
                std::from_chars(suffix.data() + 1, last, value, base).ptr == last;
  return isRead ? std::optional(value) : std::nullopt;
}

/// What other languages write behind a number.
void suggestNumber(lang::Diagnostic& report, lang::SourceRange range, std::string_view digits,
                   std::string_view suffix) {
  bool isReal = digits.find_first_of(".eE") != std::string_view::npos;
  auto isOfNumber = [](char c) { return c == '_' || (c >= '0' && c <= '9'); };
  std::string joined(suffix);
  std::erase(joined, '_');
  if (suffix == "f" || suffix == "F")
    report.suggest({"a number takes the type that its use asks for: {}",
                    {{range, isReal ? std::string(digits) : fmt::format("{}.0", digits)}}});
  else if (suffix == "L" || suffix == "l" || suffix == "ll")
    report.suggest({"write {}", {{range, fmt::format("{}i64", digits)}}});
  else if (auto value = otherBase(digits, suffix))
    report.suggest({"numbers are decimal: {}", {{range, fmt::format("{}", *value)}}});
  else if (std::ranges::all_of(suffix, isOfNumber))
    report.suggest(
        {"digits stand side by side: {}", {{range, fmt::format("{}{}", digits, joined)}}});
  else
    report.suggest({"a product is written {}", {{range, fmt::format("{} * {}", digits, suffix)}}});
  report.note("a number may end in its type: `1i64`, `0.5f16`");
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
  auto known = runtime::parseShortDType(suffix);
  bool isReal = digits.find_first_of(".eE") != std::string_view::npos;
  if (!suffix.empty() && !known) {
    suggestNumber(diagnostics_.report(Message::MalformedNumber, here(), clipped(text)), here(),
                  digits, suffix);
  } else if (known && isReal && !known->isFloat()) {
    diagnostics_.report(Message::MalformedNumber, here(), clipped(text))
        .note("an integer has no fraction and no exponent");
  }
  bool isRealToken = isReal || (known && known->isFloat());
  return isRealToken ? real(digits, suffix, value) : integer(digits, suffix, value);
}

int Lexer::integer(std::string_view digits, std::string_view suffix, Value& value) {
  auto known = runtime::parseShortDType(suffix);
  uint64_t magnitude = 0;
  bool overflow =
      std::from_chars(digits.data(), digits.data() + digits.size(), magnitude).ec != std::errc();
  DType type = known.value_or(runtime::Int64);
  uint64_t limit = limitOf(type);
  bool needsMinus = type.isSigned() && magnitude == limit;
  if (overflow || (magnitude >= limit && limit > 0 && !needsMinus)) {
    diagnostics_.report(Message::NumberOutOfRange, here(), clipped(lexeme()),
                        runtime::shortDTypeName(type));
    magnitude = 0;
  }
  value.integer = {int64_t(magnitude), typeOf(known, runtime::DTypeCode::Int),
                   needsMinus && !overflow};
  return Token::Integer;
}

int Lexer::real(std::string_view digits, std::string_view suffix, Value& value) {
  auto known = runtime::parseShortDType(suffix);
  if (known && !known->isFloat())
    known = std::nullopt;
  DType type = known.value_or(runtime::Float64);
  double result = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), result);
  bool vanished = result == 0 && hasNonzeroDigit(digits);
  if (error != std::errc() || vanished || result > largest(type)) {
    diagnostics_.report(Message::NumberOutOfRange, here(), clipped(lexeme()),
                        runtime::shortDTypeName(type));
    result = 0;
  }
  value.real = {result, typeOf(known, runtime::DTypeCode::Float)};
  return Token::Float;
}

/// `inf` and `nan`, with a suffix or without.
int Lexer::special(Value& value) {
  std::string_view text = lexeme();
  double number = text.starts_with("inf") ? std::numeric_limits<double>::infinity()
                                          : std::numeric_limits<double>::quiet_NaN();
  value.real = {number,
                typeOf(runtime::parseShortDType(text.substr(3)), runtime::DTypeCode::Float)};
  return Token::Float;
}

/// `#relay.Constant[0]`.
int Lexer::meta(Value& value) {
  std::string_view text = lexeme();
  size_t open = text.find('[');
  value.meta = {toText(text.substr(1, open - 1)), 0};
  if (std::from_chars(text.data() + open + 1, cursor_, value.meta.index).ec != std::errc())
    diagnostics_.report(Message::NumberOutOfRange, here(), clipped(text), "a reference");
  return Token::Meta;
}

int Lexer::projection(Value& value) {
  std::string_view digits = lexeme().substr(1);
  value.number = 0;
  if (std::from_chars(digits.data(), cursor_, value.number).ec != std::errc())
    diagnostics_.report(Message::NumberOutOfRange, here(), clipped(digits), "a tuple index");
  return Token::Projection;
}

} // namespace parser::baton

// One table for each kind of word; looking up is a walk over it.
#include "lower/tensor/words.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <fmt/format.h>

namespace tensor {

namespace {

constexpr std::array<std::string_view, 10> combinerWords{
    "+", "*", "max", "min", "and", "or", "argmax", "argmax_last", "argmin", "argmin_last"};
constexpr std::array<std::string_view, 10> combinerNouns{
    "sum", "product", "maximum",     "minimum", "all",
    "any", "argmax",  "argmax_last", "argmin",  "argmin_last"};

struct Sign {
  ScalarFunction function;
  std::string_view sign;
  int strength;
};
constexpr std::array<Sign, 10> signs{{{ScalarFunction::Add, "+", 2},
                                      {ScalarFunction::Subtract, "-", 2},
                                      {ScalarFunction::Multiply, "*", 3},
                                      {ScalarFunction::Divide, "/", 3},
                                      {ScalarFunction::Equal, "==", 1},
                                      {ScalarFunction::NotEqual, "!=", 1},
                                      {ScalarFunction::Less, "<", 1},
                                      {ScalarFunction::LessEqual, "<=", 1},
                                      {ScalarFunction::Greater, ">", 1},
                                      {ScalarFunction::GreaterEqual, ">=", 1}}};

std::optional<Combiner> combinerIn(std::span<const std::string_view> words, std::string_view word) {
  auto found = std::ranges::find(words, word);
  return found == words.end() ? std::nullopt : std::optional(Combiner(found - words.begin()));
}

} // namespace

std::string_view combinerWord(Combiner combiner) {
  return combinerWords[size_t(combiner)];
}
std::optional<Combiner> combinerOf(std::string_view word) {
  return combinerIn(combinerWords, word);
}
std::string_view combinerNoun(Combiner combiner) {
  return combinerNouns[size_t(combiner)];
}
std::optional<Combiner> combinerOfNoun(std::string_view noun) {
  return combinerIn(combinerNouns, noun);
}
bool findsPlace(Combiner combiner) {
  return combiner >= Combiner::ArgMaximum;
}

std::string_view signOf(ScalarFunction function) {
  auto found = std::ranges::find(signs, function, &Sign::function);
  return found == signs.end() ? std::string_view() : found->sign;
}

std::string wordOf(ScalarFunction function) {
  std::string word;
  for (char letter : scalarFunctionName(function)) {
    if (std::isupper(static_cast<unsigned char>(letter)) && !word.empty())
      word += '_';
    word += char(std::tolower(static_cast<unsigned char>(letter)));
  }
  return word;
}

std::optional<ScalarFunction> functionOf(std::string_view word) {
  if (auto found = std::ranges::find(signs, word, &Sign::sign); found != signs.end())
    return found->function;
  for (size_t i = 0; i < runtime::scalarFunctionCount; ++i)
    if (wordOf(ScalarFunction(i)) == word)
      return ScalarFunction(i);
  return std::nullopt;
}

int strengthOf(std::string_view sign) {
  auto found = std::ranges::find(signs, sign, &Sign::sign);
  return found == signs.end() ? 0 : found->strength;
}

runtime::DType resultTypeOf(ScalarFunction function, runtime::DType operand) {
  return scalarFunctionGivesBool(function) ? runtime::Bool : operand;
}

std::optional<NumberText> numberOf(std::string_view text, runtime::DType dtype) {
  NumberText number;
  const char* end = text.data() + text.size();
  auto read = dtype.isFloat() ? std::from_chars(text.data(), end, number.real)
                              : std::from_chars(text.data(), end, number.integer);
  bool isWhole = read.ec == std::errc{} && read.ptr == end;
  return isWhole ? std::optional(number) : std::nullopt;
}

std::string textOfNumber(double real, int64_t integer, runtime::DType dtype) {
  return dtype.isFloat() ? fmt::format("{}", real) : fmt::format("{}", integer);
}

} // namespace tensor

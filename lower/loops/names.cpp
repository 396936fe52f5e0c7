// One table for each kind of word; looking up is a walk over it.
#include "lower/loops/names.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace loops {

namespace {

constexpr std::array<std::string_view, 10> combinerWords{
    "+", "*", "max", "min", "and", "or", "argmax", "argmax_last", "argmin", "argmin_last"};
constexpr std::array<std::string_view, 4> runKindWords{"for", "unroll", "vector", "parallel"};
constexpr std::array<std::string_view, 2> numbersWords{"reference", "reordered"};

struct Sign {
  ScalarFunction function;
  std::string_view sign;
};
constexpr std::array<Sign, 10> signs{{{ScalarFunction::Add, "+"},
                                      {ScalarFunction::Subtract, "-"},
                                      {ScalarFunction::Multiply, "*"},
                                      {ScalarFunction::Divide, "/"},
                                      {ScalarFunction::Equal, "=="},
                                      {ScalarFunction::NotEqual, "!="},
                                      {ScalarFunction::Less, "<"},
                                      {ScalarFunction::LessEqual, "<="},
                                      {ScalarFunction::Greater, ">"},
                                      {ScalarFunction::GreaterEqual, ">="}}};

template <typename Kind, size_t count>
std::optional<Kind> kindOf(const std::array<std::string_view, count>& words,
                           std::string_view word) {
  auto found = std::ranges::find(words, word);
  return found == words.end() ? std::nullopt : std::optional(Kind(found - words.begin()));
}

} // namespace

std::string_view combinerWord(Combiner combiner) {
  return combinerWords[size_t(combiner)];
}
std::optional<Combiner> combinerOf(std::string_view word) {
  return kindOf<Combiner>(combinerWords, word);
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
  for (char letter : runtime::scalarFunctionName(function)) {
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

std::string_view runKindWord(RunKind kind) {
  return runKindWords[size_t(kind)];
}
std::optional<RunKind> runKindOf(std::string_view word) {
  return kindOf<RunKind>(runKindWords, word);
}

std::string_view numbersWord(Numbers numbers) {
  return numbersWords[size_t(numbers)];
}
std::optional<Numbers> numbersOf(std::string_view word) {
  return kindOf<Numbers>(numbersWords, word);
}

bool isReserved(std::string_view word) {
  constexpr std::array<std::string_view, 9> words{"min", "max",  "if",   "alloc", "let",
                                                  "in",  "size", "over", "else"};
  return std::ranges::find(words, word) != words.end() || runKindOf(word);
}

DType resultTypeOf(ScalarFunction function, DType operand) {
  return runtime::scalarFunctionGivesBool(function) ? runtime::Bool : operand;
}

} // namespace loops

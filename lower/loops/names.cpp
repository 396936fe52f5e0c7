// One table for each kind of word; looking up is a walk over it.
#include "lower/loops/names.h"

#include <algorithm>
#include <array>

namespace loops {

namespace {

constexpr std::array<std::string_view, 5> runKindWords{"for", "unroll", "vector", "parallel",
                                                       "group"};
constexpr std::array<std::string_view, 2> numbersWords{"reference", "reordered"};

template <typename Kind, size_t count>
std::optional<Kind> kindOf(const std::array<std::string_view, count>& words,
                           std::string_view word) {
  auto found = std::ranges::find(words, word);
  return found == words.end() ? std::nullopt : std::optional(Kind(found - words.begin()));
}

} // namespace

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

} // namespace loops

// Names first, then what others call them, then what is said of them.
#include "driver/lookup.h"

#include "lang/source/edit_distance.h"
#include "runtime/formats/quote.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>

namespace driver {

bool containsWord(std::string_view text, std::string_view word) {
  auto isSame = [](char a, char b) { return std::tolower(uint8_t(a)) == std::tolower(uint8_t(b)); };
  return word.empty() || !std::ranges::search(text, word, isSame).empty();
}

namespace {

/// Where a word stands in an entry, the best place first.
enum class Place : uint8_t { Name, Synonym, Summary, Details, Nowhere };

/// Whether other libraries call an entry so.
bool isOtherName(const Findable& entry, std::string_view word) {
  return std::ranges::any_of(entry.synonyms, [&](std::string_view name) {
    return name.size() == word.size() && containsWord(name, word);
  });
}

Place placeOf(std::string_view word, const Findable& entry) {
  if (containsWord(entry.name, word) || isOtherName(entry, word))
    return Place::Name;
  if (std::ranges::any_of(entry.synonyms,
                          [&](std::string_view name) { return containsWord(name, word); }))
    return Place::Synonym;
  if (containsWord(entry.summary, word))
    return Place::Summary;
  return containsWord(entry.details, word) ? Place::Details : Place::Nowhere;
}

} // namespace

std::vector<size_t> foundWith(std::span<const Findable> all, std::string_view word) {
  auto best = Place::Nowhere;
  for (const Findable& entry : all)
    best = std::min(best, placeOf(word, entry));
  std::vector<size_t> found;
  for (size_t i = 0; i < all.size(); ++i)
    if (best != Place::Nowhere && placeOf(word, all[i]) == best)
      found.push_back(i);
  return found;
}

std::vector<size_t> foundCalled(std::span<const Findable> all, std::string_view word) {
  std::vector<size_t> found;
  for (size_t i = 0; i < all.size(); ++i)
    if (isOtherName(all[i], word))
      found.push_back(i);
  return found;
}

std::string linesOf(std::span<const Findable> all, const std::vector<size_t>& chosen) {
  std::string text;
  for (size_t i : chosen)
    text += fmt::format("{:<32} {}\n", all[i].name, all[i].summary);
  return text;
}

std::string nothingFound(std::string_view what, std::string_view word,
                         std::span<const Findable> all) {
  std::vector<std::string_view> names;
  for (const Findable& entry : all)
    names.push_back(entry.name);
  auto near = lang::similarNames(word, names);
  return fmt::format("there is no {} {}, and none that is described with that{}", what,
                     formats::backquoted(word),
                     near.empty() ? "" : fmt::format("; did you mean `{}`?", near[0]));
}

} // namespace driver

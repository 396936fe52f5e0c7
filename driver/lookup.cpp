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
enum class Place : uint8_t { Name, Synonym, Summary, Details, Inside, Nowhere };

char small(char letter) {
  return char(std::tolower(uint8_t(letter)));
}

bool isOfWord(char letter) {
  return std::isalnum(uint8_t(letter));
}

/// Whether a text has the word where one begins, and, where it is to be whole, where it ends.
bool beginsWord(std::string_view text, std::string_view word, bool isWhole = false) {
  for (size_t at = 0; at + word.size() <= text.size(); ++at) {
    size_t end = at + word.size();
    bool isBound = (at == 0 || !isOfWord(text[at - 1])) &&
                   (!isWhole || end == text.size() || !isOfWord(text[end]));
    if (isBound && std::ranges::equal(text.substr(at, word.size()), word, {}, small, small))
      return true;
  }
  return word.empty();
}

/// Whether other libraries call an entry so.
bool isOtherName(const Findable& entry, std::string_view word) {
  return std::ranges::any_of(entry.synonyms, [&](std::string_view name) {
    return name.size() == word.size() && containsWord(name, word);
  });
}

Place placeOf(std::string_view word, const Findable& entry) {
  auto begins = [&](std::string_view text) { return beginsWord(text, word); };
  auto contains = [&](std::string_view text) { return containsWord(text, word); };
  if (begins(entry.name) || isOtherName(entry, word))
    return Place::Name;
  if (std::ranges::any_of(entry.synonyms, begins))
    return Place::Synonym;
  if (begins(entry.summary))
    return Place::Summary;
  if (begins(entry.details))
    return Place::Details;
  bool isInside = contains(entry.name) || std::ranges::any_of(entry.synonyms, contains);
  return isInside ? Place::Inside : Place::Nowhere;
}

std::vector<std::string_view> partsOf(std::string_view words) {
  std::vector<std::string_view> parts;
  for (size_t begin = 0; begin < words.size();) {
    size_t end = std::min(words.find(' ', begin), words.size());
    if (end > begin)
      parts.push_back(words.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

} // namespace

std::vector<size_t> foundWith(std::span<const Findable> all, std::string_view words) {
  const std::vector<std::string_view> parts = partsOf(words);
  auto worstOf = [&](const Findable& entry) {
    auto place = Place::Name;
    for (std::string_view part : parts)
      place = std::max(place, placeOf(part, entry));
    return place;
  };
  auto best = Place::Nowhere;
  for (const Findable& entry : all)
    best = std::min(best, worstOf(entry));
  std::vector<size_t> found;
  for (size_t i = 0; i < all.size(); ++i)
    if (best != Place::Nowhere && worstOf(all[i]) == best)
      found.push_back(i);
  std::ranges::stable_partition(found, [&](size_t i) {
    return std::ranges::all_of(
        parts, [&](std::string_view part) { return beginsWord(all[i].name, part, true); });
  });
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

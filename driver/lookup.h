// Finding what has a page by a word: what `baton operators` and `baton doc` list.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace driver {

/// Something that can be asked about, with the line that sums it up and what else it may be found
/// by.
struct Findable {
  std::string name;
  std::string_view summary;
  /// What other libraries call it.
  std::vector<std::string_view> synonyms = {};
  std::string_view details = {};
};

/// Whether a text has a word in it, in large or small letters.
bool containsWord(std::string_view text, std::string_view word);

/// Those that have all words, parted by blanks, in the best place that any has: where a word of the
/// name begins, of a synonym, of the summary, of the details, or inside of a name. Names with
/// whole words come first. All of them for no word.
std::vector<size_t> foundWith(std::span<const Findable> all, std::string_view words);

/// Those that are called so elsewhere.
std::vector<size_t> foundCalled(std::span<const Findable> all, std::string_view word);

/// A line for each of them.
std::string linesOf(std::span<const Findable> all, const std::vector<size_t>& chosen);

/// What is said where nothing has the word: `there is no WHAT `word`, and none that is described
/// with that`, with the nearest name.
std::string nothingFound(std::string_view what, std::string_view word,
                         std::span<const Findable> all);

} // namespace driver

// Words that mean something in other languages and libraries, and nothing here.
#pragma once

#include <string_view>

namespace parser {

/// Whether a list of words, which blanks part, has a word.
bool isAmong(std::string_view word, std::string_view words);

/// What is said of a word of other languages, in Baton's notation.
struct ForeignWord {
  std::string_view words;
  std::string_view says;
  /// What is written for it, if that is another word.
  std::string_view ours = {};
};

/// A word that begins something, or is a value, in other languages; null for other words.
const ForeignWord* foreignWord(std::string_view word);
/// A type of other languages; null for other words.
const ForeignWord* foreignType(std::string_view word);
/// What libraries for tensors define and the library here has otherwise, as `Linear`; null for
/// other words.
const ForeignWord* foreignDefinition(std::string_view word);
/// What every tensor has in other libraries, as `dtype`; null for other words.
const ForeignWord* foreignMember(std::string_view word);
/// Whether a word is what programs of Python call a library for tensors: `torch`, `np`, `F`.
bool isForeignLibrary(std::string_view word);

} // namespace parser

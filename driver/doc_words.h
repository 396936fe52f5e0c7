// What `baton doc` says of words of the language itself: sections of docs/notation.md, which ships
// inside the program.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace driver {

/// docs/notation.md.
struct NotationText {
  std::string_view file;
  std::string_view text;
};

std::span<const NotationText> notationTexts();

/// The page of a word or sign of the language, such as `match` or `|>`; empty for anything else.
std::string wordPage(std::string_view word);

} // namespace driver

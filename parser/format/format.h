// Programs in their canonical layout.
#pragma once

#include "parser/format/tokens.h"

#include <optional>
#include <string>

namespace parser::format {

/// The longest line where lines can be broken.
inline constexpr size_t lineWidth = 100;

struct LaidOut {
  std::string text;
  /// Of the text that it was made from.
  Tokens tokens;
};

/// The text of a file whose syntax is good, laid out. What is laid out twice stays as it is. The
/// file must outlive the tokens.
LaidOut layOut(const lang::SourceFile& file, surface::Notation notation);

/// A text without mistakes, or a part of one with its brackets, laid out.
std::string laidOut(std::string text, surface::Notation notation = surface::Notation::Baton);

/// What a text and its layout differ in beside blanks and line ends: words that tell it, or nothing
/// where they have the same tokens and comments. `sameCommas` tells whether they have the same
/// commas too; where they have not, the second one is to be read before it is believed.
struct Difference {
  std::string text;
  bool sameCommas = true;
};
Difference difference(const Tokens& before, const lang::SourceFile& after);

} // namespace parser::format

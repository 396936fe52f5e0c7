// Habits of other languages, one row each: where reading fails by one, what is said of it, and what
// is made of it.
#pragma once

#include "parser/baton/mistake_text.h"

#include <optional>

namespace parser::baton {

/// A habit that explains why reading failed.
struct FoundHabit {
  lang::SourceRange range;
  std::string_view says;
  /// The change that is suggested, if one is; nothing in it was tried.
  std::vector<lang::Edit> edits;
  /// One for where that does not help.
  std::vector<lang::Edit> others = {};
};

/// The first row of the table that fits.
std::optional<FoundHabit> findHabit(const MistakeText& text);

} // namespace parser::baton

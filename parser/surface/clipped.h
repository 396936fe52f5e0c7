// Pieces of the text in messages, which may be of any length.
#pragma once

#include <string>
#include <string_view>

namespace parser {

/// The text, or its beginning and dots when it is long.
inline std::string clipped(std::string_view text) {
  constexpr size_t most = 40;
  std::string shown(text.substr(0, most));
  return text.size() > most ? shown.append("...") : shown;
}

} // namespace parser

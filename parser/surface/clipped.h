// Pieces of the text in messages, which may be of any length.
#pragma once

#include <string>
#include <string_view>

namespace parser {

/// The text, or its beginning and dots when it is long.
inline std::string clipped(std::string_view text) {
  constexpr size_t most = 40;
  return text.size() <= most ? std::string(text) : std::string(text.substr(0, most)) + "...";
}

} // namespace parser

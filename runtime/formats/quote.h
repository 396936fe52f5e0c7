// Names from files and command lines, made fit for an error message: they may hold any bytes, and
// may be of any length and number.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace formats {

/// `text` in backquotes, with control bytes and broken UTF-8 written as `\xNN`, cut when long.
std::string backquoted(std::string_view text);

/// "the file has `a`, `b` and 3 more", or "the file has no tensors".
std::string listedKeys(const std::vector<std::string>& keys);

} // namespace formats

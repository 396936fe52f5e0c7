// Base64 as RFC 4648 has it: the standard alphabet, with padding, without line breaks.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace parser {

std::string encodeBase64(std::span<const std::byte> bytes);

/// Nothing when the text is no complete base64: wrong length, foreign characters, padding in the
/// middle, or leftover bits that are not zero.
std::optional<std::vector<std::byte>> decodeBase64(std::string_view text);

} // namespace parser

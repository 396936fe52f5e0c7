// Four characters carry three bytes.
#include "parser/metadata/base64.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace parser {

namespace {

constexpr std::string_view alphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr uint8_t foreign = 0xFF;

constexpr std::array<uint8_t, 256> makeDigits() {
  std::array<uint8_t, 256> digits{};
  digits.fill(foreign);
  for (size_t i = 0; i < alphabet.size(); ++i)
    digits[uint8_t(alphabet[i])] = uint8_t(i);
  return digits;
}

constexpr std::array<uint8_t, 256> digitOf = makeDigits();

} // namespace

std::string encodeBase64(std::span<const std::byte> bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    size_t count = std::min<size_t>(3, bytes.size() - i);
    uint32_t word = 0;
    for (size_t k = 0; k < 3; ++k)
      word = word << 8 | (k < count ? uint32_t(bytes[i + k]) : 0);
    for (size_t k = 0; k < 4; ++k)
      text.push_back(k <= count ? alphabet[word >> (18 - 6 * k) & 63] : '=');
  }
  return text;
}

std::optional<std::vector<std::byte>> decodeBase64(std::string_view text) {
  if (text.size() % 4 != 0)
    return std::nullopt;
  size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  size_t digits = text.size() - padding;
  std::vector<std::byte> bytes(text.size() / 4 * 3 - padding);
  uint32_t word = 0;
  size_t next = 0;
  unsigned bits = 0;
  for (size_t i = 0; i < digits; ++i) {
    uint8_t digit = digitOf[uint8_t(text[i])];
    if (digit == foreign)
      return std::nullopt;
    word = (word << 6 | digit) & 0xFFFFFF;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes[next++] = std::byte(word >> bits & 0xFF);
    }
  }
  if ((word & ((1u << bits) - 1)) != 0)
    return std::nullopt;
  return bytes;
}

} // namespace parser

// Quoting for error messages. All bytes above 0x7E but well-formed UTF-8 are escaped, so a message
// is always valid UTF-8 and cannot carry terminal control sequences.
#include "runtime/formats/quote.h"

#include <fmt/format.h>

namespace formats {

namespace {

constexpr size_t longestQuote = 200;
constexpr size_t mostKeysListed = 20;

/// The length of the UTF-8 sequence of a printable character at the front of `text`, or 0.
/// C1 controls (U+0080 to U+009F) count as not printable.
size_t printableLength(std::string_view text) {
  auto byteAt = [&](size_t i) { return i < text.size() ? uint8_t(text[i]) : uint8_t(0); };
  uint8_t first = byteAt(0);
  if (first < 0x80)
    return first >= 0x20 && first != 0x7F ? 1 : 0;
  size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4)
    return 0;
  for (size_t i = 1; i < length; ++i)
    if ((byteAt(i) & 0xC0) != 0x80)
      return 0;
  uint8_t second = byteAt(1);
  bool overlong = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
  bool surrogate = first == 0xED && second >= 0xA0;
  bool tooLarge = first == 0xF4 && second >= 0x90;
  bool control = first == 0xC2 && second < 0xA0;
  return overlong || surrogate || tooLarge || control ? 0 : length;
}

} // namespace

std::string backquoted(std::string_view text) {
  std::string result = "`";
  while (!text.empty() && result.size() < longestQuote) {
    size_t length = printableLength(text);
    if (length == 0) {
      result += fmt::format("\\x{:02x}", uint8_t(text.front()));
      length = 1;
    } else {
      result += text.substr(0, length);
    }
    text.remove_prefix(length);
  }
  return result + (text.empty() ? "`" : "...`");
}

std::string listedKeys(const std::vector<std::string>& keys) {
  if (keys.empty())
    return "the file has no tensors";
  std::string result = "the file has ";
  for (size_t i = 0; i < keys.size() && i < mostKeysListed; ++i)
    result += (i == 0 ? "" : ", ") + backquoted(keys[i]);
  if (keys.size() > mostKeysListed)
    result += fmt::format(" and {} more", keys.size() - mostKeysListed);
  return result;
}

} // namespace formats

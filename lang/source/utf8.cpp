// Decoding, and coarse tables of character classes: wide scripts and pictographs, marks that
// combine, and format characters that could make a line look other than it is.
#include "lang/source/utf8.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>

namespace lang {

namespace {

struct Span {
  uint32_t first;
  uint32_t last;
};

constexpr Span hidden[] = {{0x0000, 0x001F}, {0x007F, 0x009F}, {0x061C, 0x061C}, {0x200E, 0x200F},
                           {0x2028, 0x202E}, {0x2066, 0x2069}, {0xFEFF, 0xFEFF}, {0xFFF9, 0xFFFB}};
constexpr Span combining[] = {
    {0x0300, 0x036F}, {0x200B, 0x200D}, {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}};
constexpr Span wide[] = {{0x1100, 0x115F}, {0x2E80, 0xA4CF},   {0xAC00, 0xD7A3},
                         {0xF900, 0xFAFF}, {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},
                         {0xFFE0, 0xFFE6}, {0x1F300, 0x1FAFF}, {0x20000, 0x3FFFD}};

template <size_t count>
bool isIn(uint32_t code, const Span (&spans)[count]) {
  return std::any_of(std::begin(spans), std::end(spans),
                     [&](Span span) { return code >= span.first && code <= span.last; });
}

/// How long a character is that begins with this byte; 0 when none does.
uint8_t lengthFrom(uint8_t first) {
  if (first < 0x80)
    return 1;
  if (first < 0xC2 || first > 0xF4)
    return 0;
  return first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
}

} // namespace

Character decodeCharacter(std::string_view text) {
  uint8_t first = uint8_t(text[0]);
  uint8_t length = lengthFrom(first);
  if (length == 0 || length > text.size())
    return {};
  uint32_t code = length == 1 ? first : first & (0x7Fu >> length);
  for (uint8_t i = 1; i < length; ++i) {
    uint8_t byte = uint8_t(text[i]);
    if ((byte & 0xC0) != 0x80)
      return {};
    code = code << 6 | (byte & 0x3Fu);
  }
  constexpr uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
  bool isSurrogate = code >= 0xD800 && code <= 0xDFFF;
  if (code < smallest[length] || code > 0x10FFFF || isSurrogate)
    return {};
  return {code, length, true};
}

bool isPrintable(Character character) {
  return character.isWellFormed && !isIn(character.code, hidden);
}

uint32_t displayWidth(uint32_t code) {
  if (code < 0x0300)
    return 1;
  return isIn(code, combining) ? 0 : isIn(code, wide) ? 2 : 1;
}

std::string printable(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    Character character = decodeCharacter(text);
    if (isPrintable(character))
      result += text.substr(0, character.length);
    else
      result += '?';
    text.remove_prefix(character.length);
  }
  return result;
}

std::string jsonQuoted(std::string_view text) {
  std::string result = "\"";
  while (!text.empty()) {
    Character character = decodeCharacter(text);
    if (!character.isWellFormed)
      result += "\xEF\xBF\xBD";
    else if (character.code == '"' || character.code == '\\')
      result += {'\\', char(character.code)};
    else if (!isPrintable(character))
      result += fmt::format("\\u{:04x}", character.code);
    else
      result += text.substr(0, character.length);
    text.remove_prefix(character.length);
  }
  return result + '"';
}

std::string withoutByteOrderMark(std::string text) {
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  if (text.starts_with(mark))
    text.erase(0, mark.size());
  return text;
}

} // namespace lang

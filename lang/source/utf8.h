// Characters of texts that may be anything: what a terminal may be sent, and how wide it shows it.
//
// Everything is total: bytes that are no UTF-8 decode one by one as characters that must not be
// shown, as do controls and the marks that turn the direction of text around.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lang {

/// One character at the front of a text.
struct Character {
  /// 0 for a byte that begins no well-formed character.
  uint32_t code = 0;
  uint8_t length = 1;
  bool isWellFormed = false;
};

/// Decodes the character at the front of a text that is not empty.
Character decodeCharacter(std::string_view text);

/// True for what may be sent to a terminal as it is; line breaks and tabs may not.
bool isPrintable(Character character);

/// The columns that a printable character takes: 0, 1 or 2.
uint32_t displayWidth(uint32_t code);

/// The text with `?` for every character that is not printable.
std::string printable(std::string_view text);

/// The text as a JSON string with its quotes; bytes that are no UTF-8 become U+FFFD.
std::string jsonQuoted(std::string_view text);

/// The text without what some editors put in front of UTF-8, which no place counts.
std::string withoutByteOrderMark(std::string text);

} // namespace lang

// A source line as it is shown: tabs widened, unprintable characters replaced, and of a long line
// only a window. The window's width bounds the work, whatever the length of the line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lang {

/// The shown part of a line.
struct DisplayLine {
  std::string text;
  /// The bytes of the line that are shown.
  uint32_t firstByte = 0;
  uint32_t endByte = 0;
  /// Where the shown characters begin, in bytes of the line and in columns of `text`; the last
  /// entry is the end of the window.
  std::vector<uint32_t> bytes;
  std::vector<uint32_t> columns;

  /// The column at which the character that holds `byte` begins.
  uint32_t columnOf(uint32_t byte) const;
  /// The column behind the character that ends before `byte`, or holds it.
  uint32_t columnBehind(uint32_t byte) const;
};

/// Shows a line whole if it fits `width` columns, else what is around byte `focus`, with `...`
/// where it is cut.
DisplayLine displayLine(std::string_view line, uint32_t focus, uint32_t width);

} // namespace lang

// Decoding around the focus, then choosing the window.
#include "lang/source/display_line.h"

#include "lang/source/utf8.h"

#include <algorithm>

namespace lang {

namespace {

constexpr uint32_t tabWidth = 4;
/// Bytes looked at per column of the window: characters have at most four, and some have no width.
constexpr uint32_t bytesPerColumn = 8;
constexpr std::string_view cut = "...";

/// One character on its way to the window.
struct Cell {
  uint32_t byte;
  uint32_t column;
  uint32_t width;
  std::string text;
};

/// A stretch of a line, and how wide it is.
struct Stretch {
  std::vector<Cell> cells;
  uint32_t width = 0;
  uint32_t begin = 0;
  uint32_t end = 0;
};

Stretch decode(std::string_view line, uint32_t begin, uint32_t end) {
  Stretch stretch;
  stretch.begin = begin;
  uint32_t at = begin;
  while (at < end) {
    Character character = decodeCharacter(line.substr(at));
    Cell cell{at, stretch.width, 1, "?"};
    if (line[at] == '\t') {
      cell.width = tabWidth - stretch.width % tabWidth;
      cell.text = std::string(cell.width, ' ');
    } else if (isPrintable(character)) {
      cell.width = displayWidth(character.code);
      cell.text = line.substr(at, character.length);
    }
    stretch.width += cell.width;
    stretch.cells.push_back(std::move(cell));
    at += character.length;
  }
  stretch.end = at;
  return stretch;
}

bool isContinuation(char byte) {
  return (uint8_t(byte) & 0xC0) == 0x80;
}

/// What may be shown around the focus, and some more.
Stretch stretchAround(std::string_view line, uint32_t focus, uint32_t width) {
  uint32_t begin = focus > width ? focus - width : 0;
  for (int i = 0; i < 3 && begin > 0 && begin < focus && isContinuation(line[begin]); ++i)
    ++begin;
  uint64_t end = uint64_t(begin) + uint64_t(width) * bytesPerColumn;
  return decode(line, begin, uint32_t(std::min<uint64_t>(end, line.size())));
}

/// The first column of a window of `width` columns that has the focus a third from its left, or
/// further right when the line ends before.
uint32_t windowStart(const Stretch& stretch, uint32_t focus, uint32_t width, bool reachesEnd) {
  uint32_t focusColumn = stretch.width;
  for (const Cell& cell : stretch.cells)
    if (cell.byte >= focus) {
      focusColumn = cell.column;
      break;
    }
  uint32_t start = focusColumn > width / 3 ? focusColumn - width / 3 : 0;
  if (reachesEnd && start + width > stretch.width)
    start = stretch.width > width ? stretch.width - width : 0;
  return start;
}

} // namespace

uint32_t DisplayLine::columnOf(uint32_t byte) const {
  auto after = std::upper_bound(bytes.begin(), bytes.end(), byte);
  return columns[after == bytes.begin() ? 0 : size_t(after - bytes.begin()) - 1];
}

uint32_t DisplayLine::columnBehind(uint32_t byte) const {
  auto at = std::lower_bound(bytes.begin(), bytes.end(), byte);
  return at == bytes.end() ? columns.back() : columns[size_t(at - bytes.begin())];
}

DisplayLine displayLine(std::string_view line, uint32_t focus, uint32_t width) {
  focus = std::min(focus, uint32_t(line.size()));
  Stretch stretch = stretchAround(line, focus, width);
  bool reachesEnd = stretch.end >= line.size();
  bool isWhole = stretch.begin == 0 && reachesEnd && stretch.width <= width;
  uint32_t start = isWhole ? 0 : windowStart(stretch, focus, width, reachesEnd);
  uint32_t stop = isWhole ? stretch.width : start + width;

  DisplayLine shown;
  bool cutsFront = stretch.begin > 0 || start > 0;
  uint32_t offset = cutsFront ? uint32_t(cut.size()) : 0;
  shown.text = cutsFront ? cut : "";
  shown.firstByte = shown.endByte = stretch.end;
  uint32_t column = offset;
  for (const Cell& cell : stretch.cells) {
    if (cell.column < start)
      continue;
    if (cell.column + cell.width > stop) {
      shown.endByte = cell.byte;
      break;
    }
    if (shown.bytes.empty())
      shown.firstByte = cell.byte;
    shown.bytes.push_back(cell.byte);
    shown.columns.push_back(column);
    shown.text += cell.text;
    column += cell.width;
  }
  shown.bytes.push_back(shown.endByte);
  shown.columns.push_back(column);
  if (shown.endByte < line.size())
    shown.text += cut;
  return shown;
}

} // namespace lang

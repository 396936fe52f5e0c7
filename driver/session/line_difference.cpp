// The longest common subsequence, after what is alike at both ends; of texts too long for that, all
// in between differs.
#include "driver/session/line_difference.h"

#include <algorithm>
#include <vector>

namespace driver {

namespace {

using Lines = std::vector<std::string_view>;

constexpr size_t mostPairs = 4'000'000;
/// Lines that stay are shown on both sides of those that do not.
constexpr size_t context = 2;

Lines linesOf(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    size_t end = std::min(text.find('\n'), text.size() - 1);
    lines.push_back(text.substr(0, text[end] == '\n' ? end : end + 1));
    text.remove_prefix(end + 1);
  }
  return lines;
}

struct Line {
  char mark;
  std::string_view text;
};

/// The lines between what is alike at both ends.
void addMiddle(const Lines& before, const Lines& after, size_t start, size_t end,
               std::vector<Line>& lines) {
  const size_t rows = before.size() - start - end, columns = after.size() - start - end;
  const bool isSmall = columns == 0 || rows < mostPairs / columns;
  // The length of what is common from a line of each on.
  std::vector<uint32_t> common((isSmall ? rows + 1 : 1) * (columns + 1));
  auto at = [&](size_t row, size_t column) -> uint32_t& {
    return common[row * (columns + 1) + column];
  };
  if (isSmall)
    for (size_t row = rows; row-- > 0;)
      for (size_t column = columns; column-- > 0;)
        at(row, column) = before[start + row] == after[start + column]
                              ? at(row + 1, column + 1) + 1
                              : std::max(at(row + 1, column), at(row, column + 1));
  size_t row = 0, column = 0;
  while (row < rows || column < columns) {
    bool areAlike =
        isSmall && row < rows && column < columns && before[start + row] == after[start + column];
    bool isGone = column == columns ||
                  (row < rows && (!isSmall || at(row + 1, column) >= at(row, column + 1)));
    if (areAlike)
      lines.push_back({' ', before[start + row++]}), ++column;
    else if (isGone)
      lines.push_back({'-', before[start + row++]});
    else
      lines.push_back({'+', after[start + column++]});
  }
}

} // namespace

std::string lineDifference(std::string_view first, std::string_view second) {
  const Lines before = linesOf(first), after = linesOf(second);
  const size_t shorter = std::min(before.size(), after.size());
  size_t start = 0, end = 0;
  while (start < shorter && before[start] == after[start])
    ++start;
  while (end < shorter - start && before[before.size() - 1 - end] == after[after.size() - 1 - end])
    ++end;
  std::vector<Line> lines;
  for (size_t i = start - std::min(start, context); i < start; ++i)
    lines.push_back({' ', before[i]});
  addMiddle(before, after, start, end, lines);
  for (size_t i = 0; i < std::min(end, context); ++i)
    lines.push_back({' ', before[before.size() - end + i]});
  std::string text;
  for (const Line& line : lines) {
    text += line.mark;
    text += line.text;
    text += '\n';
  }
  return text;
}

} // namespace driver

// Dimensions stand right-aligned in columns: column 0 holds the first dimensions, or when shapes
// are aligned at the back, the last column holds the last ones.
#include "lang/source/render_shapes.h"

#include "lang/source/excerpt.h"
#include "lang/source/utf8.h"

#include <algorithm>
#include <optional>

namespace lang {

namespace {

constexpr size_t mostColumns = 16;
constexpr size_t mostRows = 12;
constexpr size_t widestText = 40;
constexpr size_t widestOrigin = 80;
constexpr std::string_view omission = "...";

size_t widthOf(std::string_view text) {
  size_t width = 0;
  while (!text.empty()) {
    Character character = decodeCharacter(text);
    width += displayWidth(character.code);
    text.remove_prefix(character.length);
  }
  return width;
}

/// The text as it may be shown, cut off where it is too wide.
std::string fitting(std::string_view text, size_t widest = widestText) {
  std::string shown = printable(text.substr(0, 4 * widest + 4));
  size_t width = 0, length = 0;
  while (length < shown.size()) {
    Character next = decodeCharacter(std::string_view(shown).substr(length));
    if (width + displayWidth(next.code) > widest)
      return shown.substr(0, length) + std::string(omission);
    width += displayWidth(next.code);
    length += next.length;
  }
  return shown;
}

std::string padded(std::string text, size_t width) {
  return text + std::string(width - std::min(width, widthOf(text)), ' ');
}

/// Which of `count` lines or columns are shown when `most` have room: all, or some at both ends and
/// those that are wanted; nothing stands for a gap.
std::vector<std::optional<size_t>> shownOf(size_t count, const std::vector<bool>& isWanted,
                                           size_t most) {
  size_t edge = most / 4, room = most - 2 * edge;
  std::vector<std::optional<size_t>> shown;
  for (size_t i = 0; i < count; ++i) {
    bool isNear = count <= most || i < edge || i + edge >= count;
    if (!isNear && isWanted[i] && room > 0) {
      isNear = true;
      --room;
    }
    if (isNear)
      shown.push_back(i);
    else if (shown.empty() || shown.back())
      shown.push_back(std::nullopt);
  }
  return shown;
}

/// A row in columns of text.
struct RowLine {
  std::string text;
  /// Carets below the marked dimensions, without blanks at the end.
  std::string carets;
};

/// Finds the columns of a table, and writes rows in them.
class ShapeColumns {
public:
  explicit ShapeColumns(const ShapeTable& table) : table_(table) {
    for (const ShapeRow& row : table.rows)
      columns_ = std::max(columns_, row.dims.size());
    std::vector<bool> marked(columns_, false);
    for (const ShapeRow& row : table.rows)
      for (size_t mark : row.marks)
        if (mark < row.dims.size())
          marked[mark + offset(row)] = true;
    shown_ = shownOf(columns_, marked, mostColumns);
    size_t left = 1;
    for (const auto& column : shown_) {
      size_t width = column ? 0 : omission.size();
      for (const ShapeRow& row : table.rows)
        if (column && has(row, *column))
          width = std::max(width, widthOf(cell(row, column)));
      left += width;
      ends_.push_back(left);
      left += 2;
    }
    width_ = ends_.empty() ? 2 : ends_.back() + 1;
  }

  /// The columns that the widest shape takes with its parentheses.
  size_t width() const { return width_; }

  RowLine line(const ShapeRow& row) const {
    RowLine result;
    if (row.dims.empty()) {
      result.text = std::string(table_.fromBack ? width_ - 2 : 0, ' ') + "()";
      return result;
    }
    for (size_t i = 0; i < shown_.size(); ++i) {
      if (shown_[i] ? !has(row, *shown_[i]) : !reachesGap(row, i))
        continue;
      std::string text = cell(row, shown_[i]);
      size_t begin = ends_[i] - widthOf(text);
      bool isFirst = result.text.find_first_not_of(' ') == std::string::npos;
      result.text = padded(isFirst ? "" : result.text + ",", begin - isFirst);
      result.text += (isFirst ? "(" : "") + text;
      if (shown_[i] && isMarked(row, *shown_[i]))
        result.carets = padded(result.carets, begin) + std::string(widthOf(text), '^');
    }
    result.text += ")";
    return result;
  }

  /// True when two rows mark the same columns.
  bool sameMarks(const ShapeRow& left, const ShapeRow& right) const {
    return std::ranges::all_of(shown_, [&](const std::optional<size_t>& column) {
      return !column || isMarked(left, *column) == isMarked(right, *column);
    });
  }

private:
  size_t offset(const ShapeRow& row) const {
    return table_.fromBack ? columns_ - row.dims.size() : 0;
  }
  bool has(const ShapeRow& row, size_t column) const {
    return column >= offset(row) && column - offset(row) < row.dims.size();
  }
  bool isMarked(const ShapeRow& row, size_t column) const {
    return has(row, column) && std::ranges::count(row.marks, column - offset(row)) > 0;
  }
  /// A gap lies between two shown columns.
  bool reachesGap(const ShapeRow& row, size_t gap) const {
    return has(row, *shown_[gap - 1] + 1) || has(row, *shown_[gap + 1] - 1);
  }
  std::string cell(const ShapeRow& row, const std::optional<size_t>& column) const {
    return column ? fitting(row.dims[*column - offset(row)]) : std::string(omission);
  }

  const ShapeTable& table_;
  size_t columns_ = 0;
  std::vector<std::optional<size_t>> shown_;
  /// Where the shown columns end.
  std::vector<size_t> ends_;
  size_t width_ = 0;
};

std::string originText(const ShapeRow& row, const SourceMap& sources, const SourceFile* here,
                       Notation notation) {
  std::string text = fitting(row.origin.in(notation), widestOrigin);
  const SourceFile* file = sources.find(row.originRange);
  if (!file)
    return text;
  text += fmt::format("{}line {}", text.empty() ? "" : ", ",
                      file->position(row.originRange.begin).line);
  if (here && file != here)
    text += " of " + fitting(file->name());
  return text;
}

/// The carets of two rows that mark the same columns.
std::string merged(std::string above, const std::string& below) {
  above.resize(std::max(above.size(), below.size()), ' ');
  for (size_t i = 0; i < below.size(); ++i)
    if (below[i] == '^')
      above[i] = '^';
  return above;
}

/// Writes the lines of a table in the order of its rows.
class LineWriter {
public:
  LineWriter(const Finding& finding, const SourceMap& sources, size_t gutter,
             const RenderOptions& options)
      : finding_(finding), sources_(sources), here_(sources.find(finding.range)), gutter_(gutter),
        options_(options), columns_(finding.shapes) {
    for (const ShapeRow& row : finding.shapes.rows) {
      nameWidth_ = std::max(nameWidth_, widthOf(shown(row.name)));
      dtypeWidth_ = std::max(dtypeWidth_, widthOf(shown(row.dtype)));
    }
  }

  std::string text() {
    const auto& rows = finding_.shapes.rows;
    std::vector<bool> marked;
    for (const ShapeRow& row : rows)
      marked.push_back(!row.marks.empty());
    auto shown = shownOf(rows.size(), marked, mostRows);
    line(std::string(gutter_ + 1, ' ') + painted(" |", Style::Gutter, options_));
    for (size_t i = 0; i < shown.size(); ++i) {
      bool isLast = i + 1 == shown.size();
      if (!shown[i]) {
        size_t omitted = *shown[i + 1] - *shown[i - 1] - 1;
        line(lead() + fmt::format("... {} more", omitted));
        continue;
      }
      const ShapeRow& row = rows[*shown[i]];
      write(row, isLast || !shown[i + 1] ? nullptr : &rows[*shown[i + 1]]);
    }
    return std::move(out_);
  }

private:
  void line(std::string text) {
    text.resize(text.find_last_not_of(' ') + 1);
    out_ += text + '\n';
  }

  std::string shown(const Words& words) const { return fitting(words.in(options_.notation)); }

  /// What is before the name.
  std::string lead() {
    std::string sign = isFirst_ ? painted("=", Style::Gutter, options_) : " ";
    isFirst_ = false;
    return std::string(gutter_ + 2, ' ') + sign + ' ';
  }

  /// A row, and its carets unless those of `next` will stand for both.
  void write(const ShapeRow& row, const ShapeRow* next) {
    std::string name = shown(row.name);
    RowLine shape = columns_.line(row);
    std::string origin = originText(row, sources_, here_, options_.notation);
    line(lead() + painted(name + ":", Style::Note, options_) +
         std::string(nameWidth_ - widthOf(name) + 1, ' ') +
         padded(shape.text, columns_.width() + 1) + padded(shown(row.dtype), dtypeWidth_ + 3) +
         (origin.empty() ? origin : painted(origin, Style::Gutter, options_)));
    carets_ = merged(std::move(carets_), shape.carets);
    if (carets_.empty() || (next && !shape.carets.empty() && columns_.sameMarks(row, *next)))
      return;
    Style style = finding_.severity == Severity::Error ? Style::Error : Style::Warning;
    size_t blanks = carets_.find('^');
    line(std::string(gutter_ + 4 + nameWidth_ + 2 + blanks, ' ') +
         painted(carets_.substr(blanks), style, options_));
    carets_.clear();
  }

  const Finding& finding_;
  const SourceMap& sources_;
  const SourceFile* here_;
  size_t gutter_;
  const RenderOptions& options_;
  ShapeColumns columns_;
  size_t nameWidth_ = 0;
  size_t dtypeWidth_ = 0;
  bool isFirst_ = true;
  std::string carets_;
  std::string out_;
};

} // namespace

std::string renderShapes(const Finding& finding, const SourceMap& sources, size_t gutter,
                         const RenderOptions& options) {
  if (finding.shapes.rows.empty())
    return "";
  return LineWriter(finding, sources, gutter, options).text();
}

std::string shapesJson(const ShapeTable& table, const SourceMap& sources, Notation notation) {
  auto listed = [](const auto& items, auto&& text) {
    std::string list;
    for (const auto& item : items)
      list += (list.empty() ? "" : ",") + text(item);
    return "[" + list + "]";
  };
  return listed(table.rows, [&](const ShapeRow& row) {
    std::string place;
    if (const SourceFile* file = sources.find(row.originRange)) {
      LineColumn at = file->position(row.originRange.begin);
      place = fmt::format(R"(,"line":{},"column":{})", at.line, at.column);
    }
    return fmt::format(R"({{"name":{},"shape":{},"dtype":{},"marks":{},"origin":{}{}}})",
                       jsonQuoted(row.name.in(notation)), listed(row.dims, jsonQuoted),
                       jsonQuoted(row.dtype.in(notation)),
                       listed(row.marks, [](size_t mark) { return std::to_string(mark); }),
                       jsonQuoted(row.origin.in(notation)), place);
  });
}

} // namespace lang

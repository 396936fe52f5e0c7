// From marks to lines of files, from those to rows of text.
//
// A place of several lines is marked on its first and its last line only. Marks of one line that do
// not fit one window get a window each, so nothing that is said is lost.
#include "lang/source/excerpt.h"

#include "lang/source/display_line.h"
#include "lang/source/utf8.h"

#include <algorithm>
#include <map>
#include <span>

namespace lang {

namespace {

/// A mark on one line, in bytes of the line from 0.
struct LineMark {
  uint32_t begin;
  uint32_t end;
  bool isPrimary;
  std::string text;
};

/// The place of the first mark in a file, and the marked lines by number.
struct FileMarks {
  const SourceFile* file;
  LineColumn first;
  std::map<uint32_t, std::vector<LineMark>> lines;
};

/// First and last line and column of a place; `last` is the place of its last byte.
struct Extent {
  LineColumn first;
  LineColumn last;
};

Extent extentOf(const SourceFile& file, SourceRange range) {
  LineColumn first = file.position(range.begin);
  if (range.end <= range.begin)
    return {first, first};
  return {first, file.position(range.end - 1)};
}

void addMark(FileMarks& marks, const Mark& mark) {
  auto [first, last] = extentOf(*marks.file, mark.range);
  bool isEmpty = mark.range.end <= mark.range.begin;
  if (first.line == last.line) {
    uint32_t end = isEmpty ? first.column - 1 : last.column;
    marks.lines[first.line].push_back({first.column - 1, end, mark.isPrimary, mark.text});
    return;
  }
  uint32_t firstEnd = uint32_t(marks.file->line(first.line).size());
  marks.lines[first.line].push_back({first.column - 1, firstEnd, mark.isPrimary, ""});
  size_t indent = marks.file->line(last.line).find_first_not_of(" \t");
  uint32_t lastBegin = uint32_t(std::min<size_t>(indent, last.column - 1));
  marks.lines[last.line].push_back({lastBegin, last.column, mark.isPrimary, mark.text});
}

std::vector<FileMarks> collect(const std::vector<Mark>& marks, const SourceMap& sources) {
  std::vector<FileMarks> files;
  for (const Mark& mark : marks) {
    const SourceFile* file = sources.find(mark.range);
    if (!file)
      continue;
    auto known = std::find_if(files.begin(), files.end(),
                              [&](const FileMarks& entry) { return entry.file == file; });
    if (known == files.end())
      known = files.insert(files.end(), FileMarks{file, file->position(mark.range.begin), {}});
    addMark(*known, mark);
  }
  return files;
}

/// A mark in columns of the shown line.
struct ShownMark {
  uint32_t begin;
  uint32_t end;
  const LineMark* mark;
};

/// What is shown of a line, and the marks in it.
struct Window {
  DisplayLine shown;
  std::vector<LineMark> marks;
};

/// Writes the rows of an excerpt.
class ExcerptWriter {
public:
  ExcerptWriter(Severity severity, size_t gutter, const RenderOptions& options)
      : severity_(severity), gutter_(gutter), options_(options) {}

  void place(const SourceFile& file, LineColumn at, bool isFirst) {
    out_ +=
        std::string(gutter_ + 1, ' ') + painted(isFirst ? "--> " : "::: ", Style::Gutter, options_);
    out_ += fmt::format("{}:{}:{}\n", printable(file.name()), at.line, at.column);
    row("", "");
  }

  /// The lines between two that are shown: one is shown too, more are left out.
  void between(const SourceFile& file, uint32_t before, uint32_t after) {
    if (after == before + 2)
      return row(fmt::format("{}", before + 1),
                 displayLine(file.line(before + 1), 0, options_.columns).text);
    if (after > before + 2)
      out_ += painted("...", Style::Gutter, options_) + '\n';
  }

  /// A line with its marks, in as many windows as they need, from left to right. The finding
  /// chooses its window first.
  void line(const SourceFile& file, uint32_t number, std::vector<LineMark> marks) {
    std::ranges::stable_sort(marks, std::ranges::greater{}, &LineMark::isPrimary);
    std::vector<Window> windows;
    while (!marks.empty()) {
      DisplayLine shown = displayLine(file.line(number), marks[0].begin, options_.columns);
      auto outside =
          std::stable_partition(marks.begin() + 1, marks.end(), [&](const LineMark& mark) {
            return mark.begin >= shown.firstByte && mark.begin <= shown.endByte;
          });
      windows.push_back({std::move(shown), {marks.begin(), outside}});
      marks.erase(marks.begin(), outside);
    }
    std::ranges::stable_sort(windows, {},
                             [](const Window& window) { return window.shown.firstByte; });
    for (const Window& window : windows) {
      row(fmt::format("{}", number), window.shown.text);
      underline(window.shown, window.marks);
    }
  }

  std::string take() { return std::move(out_); }

private:
  void row(std::string_view number, std::string_view text) {
    std::string left = fmt::format(" {:>{}} |", number, gutter_);
    out_ += painted(left, Style::Gutter, options_);
    if (!text.empty())
      out_ += ' ';
    out_ += text;
    out_ += '\n';
  }

  Style styleOf(bool isPrimary) const {
    if (!isPrimary)
      return Style::Gutter;
    return severity_ == Severity::Error ? Style::Error : Style::Warning;
  }

  /// The row of `^` and `-`, with the text of the last mark behind it.
  void underline(const DisplayLine& shown, std::span<const LineMark> marks) {
    std::vector<ShownMark> places;
    for (const LineMark& mark : marks) {
      uint32_t begin = shown.columnOf(mark.begin);
      uint32_t end = std::max(begin + 1, shown.columnBehind(mark.end));
      places.push_back({begin, end, &mark});
    }
    std::stable_sort(places.begin(), places.end(),
                     [](const ShownMark& a, const ShownMark& b) { return a.begin < b.begin; });
    std::string symbols;
    for (bool primaryTurn : {false, true})
      for (const ShownMark& place : places)
        if (place.mark->isPrimary == primaryTurn) {
          symbols.resize(std::max<size_t>(symbols.size(), place.end), ' ');
          std::fill(symbols.begin() + place.begin, symbols.begin() + place.end,
                    primaryTurn ? '^' : '-');
        }
    std::string text = paintSymbols(symbols);
    std::erase_if(places, [](const ShownMark& place) { return place.mark->text.empty(); });
    if (!places.empty() && places.back().end == symbols.size()) {
      text +=
          ' ' + painted(places.back().mark->text, styleOf(places.back().mark->isPrimary), options_);
      places.pop_back();
    }
    row("", text);
    hangTexts(places);
  }

  std::string paintSymbols(const std::string& symbols) const {
    std::string text;
    for (size_t begin = 0, end = 0; begin < symbols.size(); begin = end) {
      end = std::min(symbols.find_first_not_of(symbols[begin], begin), symbols.size());
      std::string run = symbols.substr(begin, end - begin);
      text += run[0] == ' ' ? run : painted(run, styleOf(run[0] == '^'), options_);
    }
    return text;
  }

  /// The other texts, each in a row below its mark, the rightmost first.
  void hangTexts(std::vector<ShownMark>& places) {
    while (!places.empty()) {
      ShownMark last = places.back();
      places.pop_back();
      std::string text;
      uint32_t column = 0;
      for (const ShownMark& place : places)
        if (place.begin >= column && place.begin < last.begin) {
          text += std::string(place.begin - column, ' ');
          text += painted("|", styleOf(place.mark->isPrimary), options_);
          column = place.begin + 1;
        }
      text += std::string(last.begin - column, ' ');
      row("", text + painted(last.mark->text, styleOf(last.mark->isPrimary), options_));
    }
  }

  Severity severity_;
  size_t gutter_;
  const RenderOptions& options_;
  std::string out_;
};

} // namespace

std::string painted(std::string_view text, Style style, const RenderOptions& options) {
  std::string plain = printable(text);
  if (!options.colour)
    return plain;
  constexpr std::string_view codes[] = {"1;31", "1;33", "1;36", "1;34", "1"};
  return fmt::format("\x1b[{}m{}\x1b[0m", codes[size_t(style)], plain);
}

std::string renderExcerpt(const std::vector<Mark>& marks, Severity severity,
                          const SourceMap& sources, size_t gutter, const RenderOptions& options) {
  ExcerptWriter writer(severity, gutter, options);
  bool isFirst = true;
  for (const FileMarks& file : collect(marks, sources)) {
    writer.place(*file.file, file.first, isFirst);
    isFirst = false;
    uint32_t previous = 0;
    for (const auto& [number, lineMarks] : file.lines) {
      if (previous != 0)
        writer.between(*file.file, previous, number);
      writer.line(*file.file, number, lineMarks);
      previous = number;
    }
  }
  return writer.take();
}

size_t gutterWidth(const std::vector<Mark>& marks, const SourceMap& sources) {
  uint32_t largest = 1;
  for (const Mark& mark : marks)
    if (const SourceFile* file = sources.find(mark.range))
      largest = std::max(largest, extentOf(*file, mark.range).last.line);
  return fmt::formatted_size("{}", largest);
}

} // namespace lang

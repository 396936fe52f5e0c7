// Of what edits change, people see the whole of one line: long parts that stay are left out.
#include "lang/source/edit.h"

#include <algorithm>
#include <optional>

namespace lang {

namespace {

/// Longer code is cut where it is shown.
constexpr size_t longestCode = 90;
/// Code that stays is shown up to this length.
constexpr size_t longestKept = 40;

/// The bytes of a range of a file.
std::string_view textOf(const SourceFile& file, SourceRange range) {
  return file.text().substr(range.begin - file.base(), range.end - range.begin);
}

bool lies(const SourceFile& file, SourceRange range) {
  return range.begin >= file.base() && range.begin <= range.end &&
         range.end - file.base() <= file.text().size();
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  size_t first = std::min(text.find_first_not_of(blanks), text.size());
  // What comes behind something else in a list is shown without the comma.
  if (text.substr(first).starts_with(", "))
    first += 2;
  size_t last = text.find_last_not_of(blanks) + 1;
  return text.substr(first, last > first ? last - first : 0);
}

/// Text that stays between edits: all of it, or `...` when it is too long for a line.
std::string keptText(std::string_view text) {
  bool isShort = text.size() <= longestKept && text.find('\n') == std::string_view::npos;
  return isShort ? std::string(text) : "...";
}

/// The new code of a settled edit, which has one text.
std::string textOf(const Edit& edit) {
  return edit.text.plain();
}

/// The new code that a suggestion makes.
std::string codeOf(const Suggestion& suggestion, const SourceFile& file) {
  SourceRange whole = suggestion.shown;
  for (const Edit& edit : suggestion.edits)
    whole = cover(whole, edit.range);
  std::string code;
  uint32_t place = whole.begin;
  for (const Edit& edit : suggestion.edits) {
    code += keptText(textOf(file, {place, edit.range.begin})) + textOf(edit);
    place = edit.range.end;
  }
  code += keptText(textOf(file, {place, whole.end}));
  code = trimmed(code);
  bool isLong = code.size() > longestCode || code.find('\n') != std::string::npos;
  return isLong ? code.substr(0, std::min(longestCode, code.find('\n'))) + "..." : code;
}

} // namespace

std::optional<std::vector<Edit>> settledEdits(const SourceFile& file, std::vector<Edit> edits) {
  std::ranges::stable_sort(edits, {}, [](const Edit& edit) { return edit.range.begin; });
  uint32_t place = file.base();
  for (Edit& edit : edits) {
    if (!lies(file, edit.range) || edit.range.begin < place)
      return std::nullopt;
    place = edit.range.end;
    if (edit.copied.isValid() && !lies(file, edit.copied))
      return std::nullopt;
    edit.text = edit.copied.isValid() ? std::string(textOf(file, edit.copied))
                                      : edit.text.in(file.notation());
    edit.copied = {};
  }
  return edits;
}

std::string editedText(const SourceFile& file, std::span<const Edit> edits) {
  std::string text;
  uint32_t place = file.base();
  for (const Edit& edit : edits) {
    text += textOf(file, {place, edit.range.begin});
    text += textOf(edit);
    place = edit.range.end;
  }
  return text.append(file.text().substr(place - file.base()));
}

uint32_t movedPlace(uint32_t place, std::span<const Edit> edits, bool isEnd) {
  int64_t moved = place;
  for (const Edit& edit : edits) {
    bool isBefore = edit.range.end <= place && (isEnd || edit.range.begin < place);
    if (isBefore)
      moved += int64_t(textOf(edit).size()) - int64_t(edit.range.end - edit.range.begin);
  }
  return uint32_t(moved);
}

std::optional<uint32_t> originalPlace(uint32_t place, std::span<const Edit> edits) {
  int64_t moved = 0;
  for (const Edit& edit : edits) {
    int64_t begin = edit.range.begin + moved;
    if (place <= begin)
      break;
    if (place < begin + int64_t(textOf(edit).size()))
      return std::nullopt;
    moved += int64_t(textOf(edit).size()) - int64_t(edit.range.end - edit.range.begin);
  }
  return uint32_t(place - moved);
}

std::vector<std::string> helpLines(std::span<const Suggestion> suggestions,
                                   const SourceMap& sources, Notation notation) {
  std::vector<std::string> lines;
  for (size_t i = 0; i < suggestions.size();) {
    const std::string text = suggestions[i].text.in(notation);
    std::string codes;
    for (; i < suggestions.size() && suggestions[i].text.in(notation) == text; ++i) {
      const SourceFile* file =
          suggestions[i].edits.empty() ? nullptr : sources.find(suggestions[i].edits[0].range);
      if (file)
        codes += fmt::format("{}`{}`", codes.empty() ? "" : " or ", codeOf(suggestions[i], *file));
    }
    size_t mark = text.find("{}");
    lines.push_back(
        mark == std::string::npos ? text : text.substr(0, mark) + codes + text.substr(mark + 2));
  }
  return lines;
}

} // namespace lang

// Line tables, made on the first question.
#include "lang/source/source.h"

#include <algorithm>

namespace lang {

SourceRange cover(SourceRange first, SourceRange second) {
  if (!first.isValid())
    return second;
  if (!second.isValid())
    return first;
  return {std::min(first.begin, second.begin), std::max(first.end, second.end)};
}

SourceFile::SourceFile(std::string name, std::string text, uint32_t base)
    : name_(std::move(name)), text_(std::move(text)), base_(base) {}

const std::vector<uint32_t>& SourceFile::lineStarts() const {
  if (lineStarts_.empty()) {
    lineStarts_.push_back(0);
    for (uint32_t i = 0; i < text_.size(); ++i)
      if (text_[i] == '\n')
        lineStarts_.push_back(i + 1);
  }
  return lineStarts_;
}

LineColumn SourceFile::position(uint32_t offset) const {
  uint32_t local = std::min<uint32_t>(offset - base_, uint32_t(text_.size()));
  const auto& starts = lineStarts();
  auto next = std::upper_bound(starts.begin(), starts.end(), local);
  uint32_t line = uint32_t(next - starts.begin());
  return {line, local - starts[line - 1] + 1};
}

std::string_view SourceFile::line(uint32_t number) const {
  const auto& starts = lineStarts();
  if (number == 0 || number > starts.size())
    return {};
  uint32_t begin = starts[number - 1];
  uint32_t end = number < starts.size() ? starts[number] - 1 : uint32_t(text_.size());
  std::string_view line = std::string_view(text_).substr(begin, end - begin);
  if (line.ends_with('\r'))
    line.remove_suffix(1);
  return line;
}

const SourceFile* SourceMap::add(std::string name, std::string text) {
  constexpr uint32_t limit = uint32_t(1) << 31;
  if (text.size() >= limit - next_)
    return nullptr;
  files_.emplace_back(std::move(name), std::move(text), next_);
  next_ += uint32_t(files_.back().text().size()) + 1;
  return &files_.back();
}

const SourceFile* SourceMap::find(SourceRange range) const {
  if (!range.isValid())
    return nullptr;
  auto after = std::upper_bound(
      files_.begin(), files_.end(), range.begin,
      [](uint32_t offset, const SourceFile& file) { return offset < file.base(); });
  return after == files_.begin() ? nullptr : &*std::prev(after);
}

} // namespace lang

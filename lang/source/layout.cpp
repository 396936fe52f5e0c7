// Measuring groups and putting lines together, each in passes over the marks.
#include "lang/source/layout.h"

#include <algorithm>

namespace lang {

namespace {

constexpr uint32_t tooWide = UINT32_MAX / 2;

/// Characters as they are shown: UTF-8 bytes that go on a character do not count.
uint32_t columnsOf(std::string_view words) {
  return uint32_t(std::ranges::count_if(words, [](char c) { return (c & '\xC0') != '\x80'; }));
}

} // namespace

void Layout::text(std::string_view words) {
  words_ += words;
  marks_.push_back({Kind::Text, uint32_t(words.size())});
}

/// One rendering.
class LayoutRenderer {
public:
  LayoutRenderer(const Layout& layout, size_t width) : layout_(layout), width_(width) {}

  std::string render() {
    measure();
    size_t word = 0;
    for (size_t i = 0; i < layout_.marks_.size(); ++i) {
      const Layout::Mark& mark = layout_.marks_[i];
      if (mark.kind == Kind::Text) {
        write(std::string_view(layout_.words_).substr(word, mark.size));
        word += mark.size;
      } else {
        perform(i, mark.kind);
      }
    }
    return std::move(out_);
  }

private:
  using Kind = Layout::Kind;

  /// A group as it is gone through from its end: its width on one line up to the first line that is
  /// broken anyhow, and of what stands behind it.
  struct Measured {
    uint32_t width = 0;
    uint32_t behind = 0;
    bool hasHardLine = false;
  };

  /// For each opening the width of its group on one line, for each fill line that of what follows
  /// up to the next place for a break; both with what stands behind up to such a place.
  void measure() {
    const auto& marks = layout_.marks_;
    widths_.assign(marks.size(), 0);
    std::vector<uint32_t> text = textWidths();
    // The outermost one is no group.
    std::vector<Measured> groups(1);
    uint32_t next = 0;
    for (size_t i = marks.size(); i-- > 0;) {
      next += text[i];
      groups.back().width += text[i];
      measure(i, marks[i].kind, groups, next);
    }
  }

  void measure(size_t i, Kind kind, std::vector<Measured>& groups, uint32_t& next) {
    switch (kind) {
    case Kind::Close:
      return groups.push_back({0, next});
    case Kind::OpenHugging:
    case Kind::OpenStrict:
      widths_[i] = opened(groups, kind == Kind::OpenStrict);
      return;
    case Kind::HardLine:
      next = 0;
      groups.back() = {.hasHardLine = true};
      return;
    case Kind::FillLine:
      widths_[i] = next + 1;
      [[fallthrough]];
    case Kind::Line:
      ++groups.back().width;
      [[fallthrough]];
    case Kind::SoftLine:
      next = 0;
      return;
    default:
      return;
    }
  }

  /// Ends the innermost group, whose opening has been reached; its width.
  static uint32_t opened(std::vector<Measured>& groups, bool isStrict) {
    Measured group = groups.back();
    groups.pop_back();
    Measured& outer = groups.back();
    if (group.hasHardLine)
      outer = {.hasHardLine = true};
    outer.width += group.width;
    return isStrict && group.hasHardLine ? tooWide : group.width + group.behind;
  }

  std::vector<uint32_t> textWidths() const {
    std::vector<uint32_t> widths(layout_.marks_.size());
    std::string_view words = layout_.words_;
    for (size_t i = 0; i < widths.size(); ++i) {
      widths[i] = columnsOf(words.substr(0, layout_.marks_[i].size));
      words.remove_prefix(layout_.marks_[i].size);
    }
    return widths;
  }

  void perform(size_t i, Kind kind) {
    switch (kind) {
    case Kind::OpenHugging:
    case Kind::OpenStrict:
      broken_.push_back(column() + widths_[i] > width_);
      return;
    case Kind::Close:
      broken_.pop_back();
      return;
    case Kind::Indent:
      indentation_ += isBroken() ? 2 : 0;
      return;
    case Kind::Dedent:
      indentation_ -= isBroken() ? 2 : 0;
      return;
    case Kind::FillLine:
      return column() + widths_[i] > width_ ? endLine() : write(" ");
    case Kind::HardLine:
      return endLine();
    case Kind::Line:
      return isBroken() ? endLine() : write(" ");
    default:
      return isBroken() ? endLine() : void();
    }
  }

  bool isBroken() const { return broken_.empty() || broken_.back(); }
  size_t column() const { return column_ + (atStart_ ? indentation_ : 0); }

  void write(std::string_view words) {
    if (atStart_ && !words.empty()) {
      out_.append(indentation_, ' ');
      column_ = indentation_;
      atStart_ = false;
    }
    out_ += words;
    column_ += columnsOf(words);
  }

  void endLine() {
    out_ += '\n';
    column_ = 0;
    atStart_ = true;
  }

  const Layout& layout_;
  size_t width_;
  std::vector<uint32_t> widths_;
  std::vector<bool> broken_;
  std::string out_;
  size_t indentation_ = 0;
  size_t column_ = 0;
  bool atStart_ = true;
};

std::string Layout::render(size_t width) const {
  return LayoutRenderer(*this, width).render();
}

} // namespace lang

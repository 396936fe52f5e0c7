// Measuring groups from the end and putting lines together from the beginning, a pass each.
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
  addWords(Kind::Text, words);
}

void Layout::aside(std::string_view words) {
  addWords(Kind::Aside, words);
}

void Layout::note(std::string_view words) {
  addWords(Kind::Note, words);
}

void Layout::textIfBroken(std::string_view words) {
  addWords(Kind::TextIfBroken, words);
}

void Layout::addWords(Kind kind, std::string_view words) {
  words_ += words;
  bool takesRoom = kind == Kind::Text || kind == Kind::Note;
  uint32_t columns = takesRoom ? columnsOf(words.substr(0, words.find('\n'))) : 0;
  marks_.push_back({kind, uint32_t(words.size()), columns});
}

void Layout::clear() {
  words_.clear();
  marks_.clear();
}

/// One rendering.
class LayoutRenderer {
public:
  LayoutRenderer(const Layout& layout, size_t width, std::string& out)
      : layout_(layout), width_(width), out_(out) {}

  void render() {
    measure();
    std::string_view words = layout_.words_;
    for (size_t i = 0; i < layout_.marks_.size(); ++i) {
      const Layout::Mark& mark = layout_.marks_[i];
      if (mark.kind > Kind::TextIfBroken) {
        perform(i, mark.kind);
        continue;
      }
      if (mark.kind != Kind::TextIfBroken || isBroken())
        write(words.substr(0, mark.size));
      words.remove_prefix(mark.size);
    }
  }

private:
  using Kind = Layout::Kind;

  /// A group as it is gone through from its end. Its head is what stands in front of the first line
  /// of the block that it ends in.
  struct Measured {
    uint32_t width = 0;
    /// What stands behind it, up to the next place for a break.
    uint32_t behind = 0;
    uint32_t head = 0;
    bool hasHead = false;
    /// The block is this group and none inside of it.
    bool isBlock = false;
    /// A line in it is broken anyhow.
    bool isBroken = false;
    /// What is in front now is no part of the last element.
    bool isBehindElement = false;
    /// A line in front of the block is broken anyhow.
    bool isHeadBroken = false;

    bool hugs() const { return hasHead && !isHeadBroken; }
  };

  /// Of an opening: how wide its group is on one line, and its head, both with what cannot be told
  /// apart from them. Of a line: what follows up to the next place for a break.
  struct Width {
    uint32_t flat = 0;
    uint32_t head = 0;
  };

  void measure() {
    const auto& marks = layout_.marks_;
    widths_.assign(marks.size(), {});
    // The outermost one is no group.
    groups_.assign(1, {});
    uint32_t next = 0;
    for (size_t i = marks.size(); i-- > 0;) {
      uint32_t columns = marks[i].columns;
      next += marks[i].kind == Kind::Note ? 0 : columns;
      groups_.back().width += columns;
      groups_.back().head += columns;
      measure(i, marks[i].kind, next);
    }
  }

  void measure(size_t i, Kind kind, uint32_t& next) {
    switch (kind) {
    case Kind::Close:
      groups_.push_back({.behind = next});
      return;
    case Kind::OpenHugging:
    case Kind::OpenStrict:
    case Kind::OpenValue:
    case Kind::OpenLooseValue:
      return opened(i);
    case Kind::Line:
    case Kind::SoftLine:
    case Kind::FillLine:
    case Kind::HardLine:
    case Kind::BlockLine:
    case Kind::HardBlockLine:
      widths_[i].flat = next + 1;
      next = 0;
      return measureLine(groups_.back(), kind);
    default:
      return;
    }
  }

  static void measureLine(Measured& group, Kind kind) {
    bool isBlock = kind == Kind::BlockLine || kind == Kind::HardBlockLine;
    if (kind != Kind::SoftLine) {
      ++group.width;
      ++group.head;
    }
    group.isBroken |= kind == Kind::HardLine || kind == Kind::HardBlockLine;
    if (isBlock) {
      group.head = 0;
      group.hasHead = group.isBlock = true;
      group.isHeadBroken = false;
      group.isBehindElement = false;
      return;
    }
    group.isHeadBroken |= kind == Kind::HardLine;
    group.isBehindElement |= group.width > 1;
  }

  /// Ends the innermost group, whose opening has been reached.
  void opened(size_t i) {
    Measured group = groups_.back();
    groups_.pop_back();
    widths_[i] = {group.isBroken ? tooWide : group.width + group.behind,
                  group.hugs() ? group.head : tooWide};
    Measured& outer = groups_.back();
    outer.width += group.width;
    outer.isBroken |= group.isBroken;
    bool mayEnd = group.isBlock || layout_.marks_[i].kind != Kind::OpenStrict;
    if (mayEnd && group.hugs() && !outer.isBehindElement) {
      outer.head = group.head;
      outer.hasHead = true;
      outer.isBlock = outer.isHeadBroken = false;
    } else {
      outer.head += group.width;
      outer.isHeadBroken |= group.isBroken;
    }
  }

  void perform(size_t i, Kind kind) {
    switch (kind) {
    case Kind::OpenHugging:
      return broken_.push_back(!fits(widths_[i].flat) && !fits(widths_[i].head));
    case Kind::OpenStrict:
      return broken_.push_back(!fits(widths_[i].flat));
    case Kind::OpenValue:
    case Kind::OpenLooseValue:
      return broken_.push_back(breaksValue(i, kind == Kind::OpenLooseValue));
    case Kind::Close:
      return broken_.pop_back();
    case Kind::Indent:
      indentation_ += isBroken() ? 2 : 0;
      return;
    case Kind::Dedent:
      indentation_ -= isBroken() ? 2 : 0;
      return;
    case Kind::FillLine:
      return fits(widths_[i].flat) ? write(" ") : endLine();
    case Kind::HardLine:
    case Kind::HardBlockLine:
      return endLine();
    case Kind::SoftLine:
      return isBroken() ? endLine() : void();
    default:
      return isBroken() ? endLine() : write(" ");
    }
  }

  bool fits(uint32_t columns) const { return column() + columns <= width_; }

  /// Whether a value begins on a line of its own.
  bool breaksValue(size_t i, bool isLoose) const {
    if (isLoose || fits(widths_[i].flat))
      return !fits(widths_[i].flat);
    // Without the blank in front.
    bool fitsBelow = indentation_ + 1 + widths_[i].flat <= width_;
    if (fitsBelow || fits(widths_[i].head))
      return fitsBelow;
    constexpr size_t lineBehindIndent = 2;
    return !fits(widths_[i + lineBehindIndent].flat);
  }

  bool isBroken() const { return broken_.empty() || broken_.back(); }
  size_t column() const { return column_ + (atStart_ ? lineIndentation_ : 0); }

  void write(std::string_view words) {
    if (words.empty())
      return;
    if (atStart_) {
      out_.append(lineIndentation_, ' ');
      column_ = lineIndentation_;
      atStart_ = false;
    }
    out_ += words;
    size_t last = words.rfind('\n');
    column_ = last == std::string_view::npos ? column_ + columnsOf(words)
                                             : columnsOf(words.substr(last + 1));
  }

  void endLine() {
    out_ += '\n';
    lineIndentation_ = indentation_;
    column_ = 0;
    atStart_ = true;
  }

  const Layout& layout_;
  size_t width_;
  std::string& out_;
  std::vector<Width> widths_;
  std::vector<Measured> groups_;
  std::vector<bool> broken_;
  size_t indentation_ = 0;
  /// Of the line that has begun: what begins in it may indent the next ones.
  size_t lineIndentation_ = 0;
  size_t column_ = 0;
  bool atStart_ = true;
};

void Layout::renderTo(std::string& out, size_t width) const {
  LayoutRenderer(*this, width, out).render();
}

std::string Layout::render(size_t width) const {
  std::string out;
  renderTo(out, width);
  return out;
}

} // namespace lang

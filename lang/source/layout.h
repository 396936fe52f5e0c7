// Laying out code: a text as words and the places where it may be broken, in groups that stay on
// one line where they fit. It is a flat list of marks, so neither a long program nor a deep one
// takes recursion.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lang {

class Layout {
public:
  void text(std::string_view words);
  /// Words that nothing is broken for, such as a comment at the end of a line.
  void aside(std::string_view words);
  /// Words that groups around them make room for, but not those in front of them.
  void note(std::string_view words);
  /// Words that stand only where the group around them is broken.
  void textIfBroken(std::string_view words);
  /// A blank, or the end of a line where the group around it is broken.
  void line() { add(Kind::Line); }
  /// Nothing, or the end of a line where the group around it is broken.
  void softLine() { add(Kind::SoftLine); }
  /// A blank, or the end of a line where what follows up to the next place does not fit.
  void fillLine() { add(Kind::FillLine); }
  /// The end of a line.
  void hardLine() { add(Kind::HardLine); }
  /// A line behind what opens a block. Groups around a block that is the last of their parts need
  /// not be broken when it is.
  void blockLine() { add(Kind::BlockLine); }
  /// The same, always the end of a line.
  void hardBlockLine() { add(Kind::HardBlockLine); }
  /// A group, which is broken where it neither fits nor is what stands in front of the block that
  /// it ends in short enough.
  void openHugging() { add(Kind::OpenHugging); }
  /// One that is broken where it does not fit, whatever it ends in.
  void openStrict() { add(Kind::OpenStrict); }
  /// A value and the line in front of it, with an indentation around both: broken where the value
  /// then fits in one line, or where even its beginning is too long for this one.
  void openValue() { add(Kind::OpenValue); }
  /// One that is broken where it does not fit in the line.
  void openLooseValue() { add(Kind::OpenLooseValue); }
  void close() { add(Kind::Close); }
  /// Where the group around them is broken, lines in between begin further right.
  void indent() { add(Kind::Indent); }
  void dedent() { add(Kind::Dedent); }

  /// The text, with lines of at most `width` characters where groups can be broken so.
  std::string render(size_t width) const;
  /// The same behind what is there.
  void renderTo(std::string& out, size_t width) const;
  void clear();

private:
  friend class LayoutRenderer;
  enum class Kind : uint8_t {
    Text,
    Aside,
    Note,
    TextIfBroken,
    Line,
    SoftLine,
    FillLine,
    HardLine,
    BlockLine,
    HardBlockLine,
    OpenHugging,
    OpenStrict,
    OpenValue,
    OpenLooseValue,
    Close,
    Indent,
    Dedent
  };
  struct Mark {
    Kind kind;
    /// Of words: how many bytes they have, and how wide their first line is.
    uint32_t size = 0;
    uint32_t columns = 0;
  };
  void add(Kind kind) { marks_.push_back({kind}); }
  void addWords(Kind kind, std::string_view words);

  std::string words_;
  std::vector<Mark> marks_;
};

} // namespace lang

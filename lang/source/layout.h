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
  /// A blank, or the end of a line where the group around it is broken.
  void line() { add(Kind::Line); }
  /// Nothing, or the end of a line where the group around it is broken.
  void softLine() { add(Kind::SoftLine); }
  /// A blank, or the end of a line where what follows up to the next place does not fit.
  void fillLine() { add(Kind::FillLine); }
  /// The end of a line.
  void hardLine() { add(Kind::HardLine); }
  /// A group, which is broken where it is too wide, counted up to the first line that is broken
  /// anyhow inside of it, such as one of a function's body among arguments.
  void openHugging() { add(Kind::OpenHugging); }
  /// One that is also broken where there is such a line.
  void openStrict() { add(Kind::OpenStrict); }
  void close() { add(Kind::Close); }
  /// Where the group around them is broken, lines in between begin further right.
  void indent() { add(Kind::Indent); }
  void dedent() { add(Kind::Dedent); }

  /// The text, with lines of at most `width` characters where groups can be broken so.
  std::string render(size_t width) const;

private:
  friend class LayoutRenderer;
  enum class Kind : uint8_t {
    Text,
    Line,
    SoftLine,
    FillLine,
    HardLine,
    OpenHugging,
    OpenStrict,
    Close,
    Indent,
    Dedent
  };
  struct Mark {
    Kind kind;
    uint32_t size = 0;
  };
  void add(Kind kind) { marks_.push_back({kind}); }

  std::string words_;
  std::vector<Mark> marks_;
};

} // namespace lang

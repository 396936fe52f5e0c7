// From tokens to lines.
#pragma once

#include "lang/source/layout.h"
#include "parser/format/tokens.h"

namespace parser::format {

/// Lays out definitions, one after the other.
class DefinitionWriter {
public:
  explicit DefinitionWriter(const Tokens& tokens) : tokens_(tokens) {}

  /// Adds the tokens from `begin` to `end`, whose structure is known, with comments between them
  /// and at the end of the last line. The first token has its comments from `comment` on; gives the
  /// first one that it has not written.
  uint32_t write(uint32_t begin, uint32_t end, uint32_t comment, std::string& out);

private:
  /// What stands in front of a token.
  enum class Gap : uint8_t { None, Blank, Soft, Line, Fill, Hard, Block, HardBlock };
  enum class FrameKind : uint8_t {
    /// Brackets with nothing in them, or with brackets alone; a value that stays where it is.
    Plain,
    Chain,
    /// A chain behind its first operator.
    Operators,
    Value,
    List,
    Fill,
    Braces,
    /// Braces whose elements have a line each.
    Lines,
    Branch,
    Statements
  };

  const Token& at(uint32_t i) const { return tokens_.tokens[i]; }
  const Comment& comment(uint32_t i) const { return tokens_.comments[i]; }

  void token(uint32_t i);
  void separator(uint32_t i);
  void beginChains(uint32_t count);
  void open(uint32_t i);
  void openGroup(uint32_t i);
  void close(uint32_t i);
  void beginValue(uint32_t i);
  void endFrames(uint32_t count);

  Gap gapBefore(uint32_t i) const;
  Gap tightGap(uint32_t i) const;
  Gap gapBehindSeparator(uint32_t i) const;
  bool dropsComma(uint32_t i) const;
  FrameKind bracketFrame() const;

  void startLine(Gap gap, uint32_t i);
  bool lineComments(uint32_t until, bool isFirst);
  void inlineComments(uint32_t until);
  void endLine(uint32_t last);
  uint32_t firstInline(uint32_t until) const;
  void write(Gap gap);

  const Tokens& tokens_;
  lang::Layout layout_;
  std::vector<FrameKind> frames_;
  uint32_t begin_ = 0;
  uint32_t end_ = 0;
  uint32_t nextComment_ = 0;
  /// What the token before says of the gap, if it does.
  bool isGapKnown_ = false;
  Gap gap_ = Gap::None;
  /// How many brackets are open in which no line is broken.
  uint32_t unbroken_ = 0;
};

} // namespace parser::format

// A comma or semicolon goes in front of the comments that stand before it, so that a comment at the
// end of a line stays there. Whatever line a comment ends is broken in all groups around it.
#include "parser/format/write.h"

#include "parser/format/format.h"

#include <algorithm>

namespace parser::format {

uint32_t DefinitionWriter::write(uint32_t begin, uint32_t end, uint32_t comment, std::string& out) {
  begin_ = begin;
  end_ = end;
  nextComment_ = comment;
  layout_.clear();
  frames_.assign(1, FrameKind::Statements);
  bool isImport = begin < end && at(begin).role == Role::Import;
  if (isImport) {
    layout_.openHugging();
    layout_.indent();
  }
  gap_ = Gap::None;
  isGapKnown_ = true;
  for (uint32_t i = begin; i < end; ++i)
    token(i);
  uint32_t last =
      end < tokens_.tokens.size() ? at(end).comments : uint32_t(tokens_.comments.size());
  endLine(last);
  if (isImport) {
    layout_.dedent();
    layout_.close();
  }
  layout_.renderTo(out, lineWidth);
  return nextComment_;
}

void DefinitionWriter::token(uint32_t i) {
  const Token& token = at(i);
  if (token.role == Role::Comma || token.role == Role::Semicolon)
    return separator(i);
  if (isCloser(token.role))
    return close(i);
  bool isFirstOperator = token.role == Role::Infix && frames_.back() == FrameKind::Chain &&
                         !token.isOther && !token.isTight;
  if (isFirstOperator) {
    layout_.indent();
    frames_.back() = FrameKind::Operators;
  }
  startLine(gapBefore(i), i);
  isGapKnown_ = false;
  beginChains(token.opens);
  if (isOpener(token.role))
    return open(i);
  bool beginsBranches = token.role == Role::If && !token.isOther;
  if (beginsBranches) {
    layout_.openStrict();
    frames_.push_back(FrameKind::Branch);
  }
  layout_.text(tokens_.textOf(token));
  if (token.startsValue)
    return beginValue(i);
  endFrames(token.closes);
}

/// What goes on behind operators is indented, also as the first operand of another chain.
void DefinitionWriter::beginChains(uint32_t count) {
  for (; count > 0; --count) {
    if (unbroken_ > 0) {
      frames_.push_back(FrameKind::Plain);
      continue;
    }
    layout_.openHugging();
    if (count > 1)
      layout_.indent();
    frames_.push_back(count > 1 ? FrameKind::Operators : FrameKind::Chain);
  }
}

/// Its comments wait for what comes behind it, but for those that end no line.
void DefinitionWriter::separator(uint32_t i) {
  inlineComments(at(i).comments);
  if (!dropsComma(i))
    layout_.text(tokens_.textOf(at(i)));
  gap_ = gapBehindSeparator(i);
  isGapKnown_ = true;
  endFrames(at(i).closes);
}

/// Whether a comma behind the last element means nothing, so that the layout decides.
bool DefinitionWriter::dropsComma(uint32_t i) const {
  if (at(i).role != Role::Comma || i + 1 >= end_ || !isCloser(at(i + 1).role))
    return false;
  return at(at(i + 1).mate).isCommaFree;
}

DefinitionWriter::FrameKind DefinitionWriter::bracketFrame() const {
  size_t k = frames_.size() - 1;
  while (k > 0 && (frames_[k] == FrameKind::Operators || frames_[k] == FrameKind::Value))
    --k;
  return frames_[k];
}

DefinitionWriter::Gap DefinitionWriter::gapBehindSeparator(uint32_t i) const {
  FrameKind frame = bracketFrame();
  if (at(i).role == Role::Semicolon)
    return frame == FrameKind::List ? Gap::Line : Gap::Hard;
  switch (frame) {
  case FrameKind::Statements:
  case FrameKind::Fill:
    return Gap::Fill;
  case FrameKind::Plain:
    return Gap::Blank;
  case FrameKind::Lines:
    return Gap::Hard;
  default:
    return Gap::Line;
  }
}

// Brackets.

void DefinitionWriter::open(uint32_t i) {
  const Token& token = at(i);
  layout_.text(tokens_.textOf(token));
  bool hasNothing = !token.hasElements && at(token.mate).comments == token.comments;
  if (token.staysInLine)
    ++unbroken_;
  bool isPlain = hasNothing || unbroken_ > 0 ||
                 (token.hasOneBracket && token.role != Role::OpenBrace &&
                  (token.isCommaFree || at(token.mate - 1).role != Role::Comma));
  isGapKnown_ = true;
  if (isPlain) {
    frames_.push_back(FrameKind::Plain);
    gap_ = Gap::None;
    return;
  }
  openGroup(i);
}

void DefinitionWriter::openGroup(uint32_t i) {
  const Token& token = at(i);
  if (token.brackets == Brackets::Branch) {
    // All branches are in the group that the `if` began.
    frames_.push_back(FrameKind::Statements);
    layout_.indent();
    gap_ = token.isForced ? Gap::HardBlock : Gap::Block;
    return;
  }
  bool isBraces = token.role == Role::OpenBrace && token.brackets != Brackets::Attributes;
  token.endsInBlock ? layout_.openHugging() : layout_.openStrict();
  layout_.indent();
  frames_.push_back(token.brackets == Brackets::Block ? FrameKind::Statements
                    : isBraces && token.isForced      ? FrameKind::Lines
                    : isBraces                        ? FrameKind::Braces
                    : token.hasNumbersOnly            ? FrameKind::Fill
                                                      : FrameKind::List);
  gap_ = !isBraces ? Gap::Soft : token.isForced ? Gap::HardBlock : Gap::Block;
}

void DefinitionWriter::close(uint32_t i) {
  const Token& token = at(i);
  const Token& opener = at(token.mate);
  bool isPlain = frames_.back() == FrameKind::Plain;
  inlineComments(token.comments);
  bool isBraces = token.role == Role::CloseBrace && token.brackets != Brackets::Attributes;
  if (!isPlain && opener.isCommaFree && opener.brackets != Brackets::Tight)
    layout_.textIfBroken(",");
  bool ends = lineComments(token.comments, isOpener(at(i - 1).role));
  if (!isPlain) {
    layout_.dedent();
    write(ends ? Gap::Hard : isBraces ? Gap::Line : Gap::Soft);
    if (token.brackets != Brackets::Branch)
      layout_.close();
  } else if (ends) {
    write(Gap::Hard);
  }
  unbroken_ -= opener.staysInLine ? 1 : 0;
  layout_.text(tokens_.textOf(token));
  frames_.pop_back();
  isGapKnown_ = false;
  endFrames(token.closes);
}

// Groups.

/// A value may begin on a line of its own, but for those whose lines end in a brace anyway.
void DefinitionWriter::beginValue(uint32_t i) {
  isGapKnown_ = true;
  gap_ = Gap::Blank;
  const Token& next = at(i + 1);
  bool stays = next.role == Role::Fn || (next.role == Role::OpenBrace && next.opens == 0);
  bool hasComments = next.comments > at(i).comments;
  if (stays && !hasComments) {
    frames_.push_back(FrameKind::Plain);
    return;
  }
  bool isBody = at(begin_).role == Role::Def && frames_.size() == 1;
  if (at(i).hasStatements || hasComments)
    layout_.openStrict();
  else if (isBody && (next.opens > 0 || next.role == Role::If))
    layout_.openLooseValue();
  else
    layout_.openValue();
  layout_.indent();
  frames_.push_back(FrameKind::Value);
  gap_ = at(i).hasStatements ? Gap::Hard : Gap::Line;
}

void DefinitionWriter::endFrames(uint32_t count) {
  for (; count > 0; --count) {
    FrameKind kind = frames_.back();
    frames_.pop_back();
    if (kind == FrameKind::Plain)
      continue;
    if (kind != FrameKind::Branch && kind != FrameKind::Chain)
      layout_.dedent();
    layout_.close();
  }
}

// Between tokens.

DefinitionWriter::Gap DefinitionWriter::gapBefore(uint32_t i) const {
  if (isGapKnown_)
    return gap_;
  const Token& token = at(i);
  const Token& before = at(i - 1);
  if (token.isElement)
    return bracketFrame() == FrameKind::Fill ? Gap::Fill : unbroken_ > 0 ? Gap::Blank : Gap::Line;
  if (token.role == Role::Infix && !token.isOther)
    return token.isTight ? Gap::None : unbroken_ > 0 ? Gap::Blank : Gap::Line;
  bool isPrefixed = before.role == Role::Prefix || (before.role == Role::Infix && before.isOther);
  bool isTight = token.isTight && token.role != Role::Fn;
  bool isBeforeTight = before.isTight && before.role != Role::Fn;
  if (isPrefixed || isTight || isBeforeTight || token.role == Role::Colon)
    return Gap::None;
  return tightGap(i);
}

/// Of brackets and fields.
DefinitionWriter::Gap DefinitionWriter::tightGap(uint32_t i) const {
  const Token& token = at(i);
  const Token& before = at(i - 1);
  if (before.role == Role::Dot)
    return Gap::None;
  if (token.role == Role::Dot || token.role == Role::Suffix)
    return before.role == Role::Number ? Gap::Blank : Gap::None;
  bool isBehindName = token.role != Role::OpenBrace && isOpener(token.role) &&
                      (token.brackets == Brackets::Call || token.brackets == Brackets::Tight);
  bool isSpaced = before.role == Role::With || (before.role == Role::Fn && !before.isTight);
  return isBehindName && !isSpaced ? Gap::None : Gap::Blank;
}

void DefinitionWriter::startLine(Gap gap, uint32_t i) {
  uint32_t until = at(i).comments;
  bool isFirst = i == begin_ || isOpener(at(i - 1).role);
  bool isHard = gap == Gap::Hard;
  if (lineComments(firstInline(until), isFirst)) {
    isHard = true;
    gap = gap == Gap::Block || gap == Gap::HardBlock ? Gap::HardBlock : Gap::Hard;
    isFirst = false;
  }
  // A comment that touches a name is part of it in Relay's text.
  if (gap == Gap::None && nextComment_ < until && !isFirst)
    gap = Gap::Blank;
  write(gap);
  uint8_t lineEnds = nextComment_ < until ? comment(nextComment_).lineEnds : at(i).lineEnds;
  if (isHard && lineEnds > 1 && !isFirst)
    layout_.hardLine();
  for (; nextComment_ < until; ++nextComment_) {
    layout_.text(comment(nextComment_).text);
    write(Gap::Blank);
  }
}

void DefinitionWriter::write(Gap gap) {
  switch (gap) {
  case Gap::None:
    return;
  case Gap::Blank:
    return layout_.text(" ");
  case Gap::Soft:
    return layout_.softLine();
  case Gap::Line:
    return layout_.line();
  case Gap::Fill:
    return layout_.fillLine();
  case Gap::Hard:
    return layout_.hardLine();
  case Gap::Block:
    return layout_.blockLine();
  case Gap::HardBlock:
    return layout_.hardBlockLine();
  }
}

// Comments.

/// The first of the comments up to a token that stand in one line with it.
uint32_t DefinitionWriter::firstInline(uint32_t until) const {
  while (until > nextComment_ && !comment(until - 1).endsLine)
    --until;
  return until;
}

/// Comments behind a token that end no line, where all up to the next one are such. What comes next
/// may be on another line then, or have a comma in front of it, and be laid out the same.
void DefinitionWriter::inlineComments(uint32_t until) {
  if (firstInline(until) > nextComment_)
    return;
  for (; nextComment_ < until; ++nextComment_) {
    layout_.note(" ");
    layout_.note(comment(nextComment_).text);
  }
}

/// Comments that end lines, and what stands in front of them; true where there are some.
bool DefinitionWriter::lineComments(uint32_t until, bool isFirst) {
  bool ends = false;
  for (; nextComment_ < until; ++nextComment_) {
    const Comment& next = comment(nextComment_);
    if (next.lineEnds == 0 && !ends) {
      layout_.aside(" ");
    } else {
      layout_.hardLine();
      if (next.lineEnds > 1 && !isFirst)
        layout_.hardLine();
    }
    isFirst = false;
    layout_.aside(next.text);
    ends = next.endsLine;
  }
  return ends;
}

/// Comments that end the line of the last token.
void DefinitionWriter::endLine(uint32_t last) {
  uint32_t until = firstInline(last);
  for (bool ends = false; nextComment_ < until && comment(nextComment_).lineEnds == 0 && !ends;
       ++nextComment_) {
    layout_.aside(" ");
    layout_.aside(comment(nextComment_).text);
    ends = comment(nextComment_).endsLine;
  }
}

} // namespace parser::format

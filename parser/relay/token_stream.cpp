// Bracket balancing and the skipping after syntax errors.
#include "parser/relay/token_stream.h"

#include "parser/relay/token_names.h"

#include <algorithm>

namespace parser {

namespace {

using Token = Grammar::token;

enum : size_t { Paren, Bracket, Brace, NoBracket };

size_t openerIndex(Grammar::token_kind_type kind) {
  switch (kind) {
  case Token::LeftParen:
    return Paren;
  case Token::LeftBracket:
    return Bracket;
  case Token::LeftBrace:
    return Brace;
  default:
    return NoBracket;
  }
}

size_t closerIndex(Grammar::token_kind_type kind) {
  switch (kind) {
  case Token::RightParen:
    return Paren;
  case Token::RightBracket:
    return Bracket;
  case Token::RightBrace:
    return Brace;
  default:
    return NoBracket;
  }
}

constexpr Grammar::token_kind_type closers[] = {Token::RightParen, Token::RightBracket,
                                                Token::RightBrace};

bool startsDefinition(Grammar::token_kind_type kind) {
  return kind == Token::Def || kind == Token::Type || kind == Token::Extern;
}

} // namespace

Grammar::token_kind_type TokenStream::next(Value& value, lang::SourceRange& range) {
  if (!again_) {
    previous_ = {current_.kind, current_.range};
    balanced();
  }
  again_ = false;
  while (recovering_ && !isLandmark())
    balanced();
  if (recovering_) {
    recoveryDepth_ = std::min(recoveryDepth_, openers_.size());
    recovering_ = current_.kind != Token::End && !startsDefinition(current_.kind);
  }
  value = current_.value;
  range = current_.range;
  return current_.kind;
}

/// After a syntax error brackets may be out of step until the next definition, so what is wrong
/// with them, or stands behind one, is no news.
bool TokenStream::isConsequence() const {
  bool mayFollowBracket = closerIndex(current_.kind) != NoBracket || current_.kind == Token::Else ||
                          current_.kind == Token::Comma;
  return failed_ && mayFollowBracket;
}

void TokenStream::beginRecovery(uint32_t place) {
  failed_ = true;
  recoveryDepth_ = openers_.size();
  while (recoveryDepth_ > 0 && openers_[recoveryDepth_ - 1].range.begin >= place)
    --recoveryDepth_;
  if (closerIndex(current_.kind) != NoBracket && closedPlace_ < place)
    ++recoveryDepth_;
  recovering_ = true;
  again_ = true;
}

/// While skipping: whether the current token is one to go on at.
bool TokenStream::isLandmark() const {
  if (current_.kind == Token::End || startsDefinition(current_.kind))
    return true;
  if (closerIndex(current_.kind) != NoBracket)
    return openers_.size() < recoveryDepth_;
  return current_.kind == Token::Semicolon && openers_.size() <= recoveryDepth_;
}

/// Makes the next token of the balanced text the current one.
void TokenStream::balanced() {
  if (holds_ && openers_.size() > closeTo_) {
    size_t index = openerIndex(openers_.back().kind);
    uint32_t place = current_.range.end;
    pop();
    current_ = {closers[index], {}, {place, place}};
    reported_ = true;
    return;
  }
  if (holds_) {
    holds_ = false;
    current_ = held_;
  } else if (!stopped_) {
    reported_ = false;
    current_.kind = lexer_.next(current_.value, current_.range);
  }
  if (startsDefinition(current_.kind) && openers_.empty())
    failed_ = false;
  if (openerIndex(current_.kind) != NoBracket)
    open();
  else if (closerIndex(current_.kind) != NoBracket)
    close();
  else if ((startsDefinition(current_.kind) || current_.kind == Token::End) && !openers_.empty()) {
    if (!stopped_)
      reportUnclosed(0);
    closeDownTo(0);
  }
}

void TokenStream::open() {
  if (openers_.size() == surface::maximumDepth) {
    diagnostics_.report(lang::Message::NestingTooDeep, current_.range, surface::maximumDepth);
    stopped_ = true;
    current_.kind = Token::End;
    closeDownTo(0);
    return;
  }
  ++open_[openerIndex(current_.kind)];
  openers_.push_back({current_.kind, current_.range});
}

void TokenStream::close() {
  size_t index = closerIndex(current_.kind);
  while (index != NoBracket && open_[index] == 0) {
    if (!failed_)
      diagnostics_
          .report(lang::Message::UnexpectedText, current_.range, quotedTokenName(current_.kind))
          .note("no bracket is open that this one closes")
          .suggest({"leave it out", {{current_.range, ""}}});
    current_.kind = lexer_.next(current_.value, current_.range);
    index = closerIndex(current_.kind);
    reported_ = true;
  }
  if (index == NoBracket) {
    held_ = current_;
    holds_ = true;
    closeTo_ = openers_.size();
    return balanced();
  }
  size_t depth = openers_.size();
  while (openerIndex(openers_[depth - 1].kind) != index)
    --depth;
  if (depth < openers_.size()) {
    reportUnclosed(depth);
    return closeDownTo(depth);
  }
  pop();
}

void TokenStream::pop() {
  closedPlace_ = openers_.back().range.begin;
  --open_[openerIndex(openers_.back().kind)];
  openers_.pop_back();
}

/// Holds the current token back until only `depth` openers are open.
void TokenStream::closeDownTo(size_t depth) {
  held_ = current_;
  holds_ = true;
  closeTo_ = depth;
  current_.range.end = current_.range.begin;
  balanced();
}

/// Reports the innermost opener; all above `depth` want their closers.
void TokenStream::reportUnclosed(size_t depth) {
  if (failed_)
    return;
  constexpr std::string_view marks = ")]}";
  constexpr size_t mostMarks = 100;
  std::string missing;
  for (size_t i = openers_.size(); i > depth && missing.size() < mostMarks; --i)
    missing += marks[openerIndex(openers_[i - 1].kind)];
  uint32_t place = previous_.second.end;
  bool isBody = missing[0] == '}';
  const Opener& opener = openers_.back();
  size_t index = openerIndex(opener.kind);
  std::string found = describeToken(current_.kind, lexer_.textOf(current_.range));
  diagnostics_
      .report(lang::Message::SyntaxError, current_.range, quotedTokenName(closers[index]), found)
      .label(opener.range, quotedTokenName(opener.kind) + " opened here")
      .suggest({"close it: {}",
                {{{place, place}, isBody ? "\n" + missing : missing}},
                isBody ? lang::SourceRange{} : previous_.second});
}

} // namespace parser

// Bracket balancing and the skipping after syntax errors.
#include "parser/surface/token_stream.h"

#include "parser/surface/surface.h"

#include <algorithm>

namespace parser {

namespace {

constexpr size_t noBracket = 3;

size_t indexOf(const std::array<int, 3>& brackets, int kind) {
  return size_t(std::ranges::find(brackets, kind) - brackets.begin());
}

} // namespace

/// Which bracket a token opens; `noBracket` for others.
size_t TokenStream::openerIndex(int kind) const {
  return indexOf(table_.openers, kind);
}

size_t TokenStream::closerIndex(int kind) const {
  return indexOf(table_.closers, kind);
}

bool TokenStream::startsDefinition(int kind) const {
  return std::ranges::find(table_.definitions, kind) != table_.definitions.end();
}

int TokenStream::next(Value& value, lang::SourceRange& range) {
  if (!again_) {
    previous_ = {current_.kind, current_.range};
    balanced();
  }
  again_ = false;
  while (recovering_ && !isLandmark())
    balanced();
  if (recovering_) {
    recoveryDepth_ = std::min(recoveryDepth_, openers_.size());
    recovering_ = current_.kind != table_.end && !startsDefinition(current_.kind);
  }
  value = current_.value;
  range = current_.range;
  return current_.kind;
}

/// After a syntax error brackets may be out of step until the next definition, so what is wrong
/// with them, or stands behind one, is no news.
bool TokenStream::isConsequence() const {
  bool mayFollowBracket = closerIndex(current_.kind) != noBracket ||
                          current_.kind == table_.otherwise || current_.kind == table_.comma;
  return failed_ && mayFollowBracket;
}

void TokenStream::beginRecovery(uint32_t place) {
  failed_ = true;
  recoveryDepth_ = openers_.size();
  while (recoveryDepth_ > 0 && openers_[recoveryDepth_ - 1].range.begin >= place)
    --recoveryDepth_;
  if (closerIndex(current_.kind) != noBracket && closedPlace_ < place)
    ++recoveryDepth_;
  recovering_ = true;
  again_ = true;
}

/// While skipping: whether the current token is one to go on at.
bool TokenStream::isLandmark() const {
  if (current_.kind == table_.end || startsDefinition(current_.kind))
    return true;
  if (closerIndex(current_.kind) != noBracket)
    return openers_.size() < recoveryDepth_;
  return current_.kind == table_.semicolon && openers_.size() <= recoveryDepth_;
}

/// Makes the next token of the balanced text the current one.
void TokenStream::balanced() {
  if (holds_ && openers_.size() > closeTo_) {
    size_t index = openers_.back().bracket;
    uint32_t place = current_.range.end;
    pop();
    current_ = {table_.closers[index], {}, {place, place}};
    reported_ = true;
    return;
  }
  if (holds_) {
    holds_ = false;
    current_ = held_;
  } else if (!stopped_) {
    reported_ = false;
    current_.kind = table_.next(current_.value, current_.range);
  }
  if (startsDefinition(current_.kind) && openers_.empty())
    failed_ = false;
  if (openerIndex(current_.kind) != noBracket)
    open();
  else if (closerIndex(current_.kind) != noBracket)
    close();
  else if ((startsDefinition(current_.kind) || current_.kind == table_.end) && !openers_.empty()) {
    if (!stopped_)
      reportUnclosed(0);
    for (Count& count : counts_)
      count.forgiven = count.open;
    closeDownTo(0);
  }
}

void TokenStream::open() {
  if (openers_.size() == surface::maximumDepth) {
    diagnostics_.report(lang::Message::NestingTooDeep, current_.range, surface::maximumDepth);
    stopped_ = true;
    current_.kind = table_.end;
    closeDownTo(0);
    return;
  }
  ++counts_[openerIndex(current_.kind)].open;
  openers_.push_back({openerIndex(current_.kind), current_.range});
}

void TokenStream::close() {
  size_t index = closerIndex(current_.kind);
  while (index != noBracket && counts_[index].open == 0) {
    if (counts_[index].forgiven > 0)
      --counts_[index].forgiven;
    else if (!failed_)
      diagnostics_
          .report(lang::Message::UnexpectedText, current_.range, table_.quoted(current_.kind))
          .note("no bracket is open that this one closes")
          .suggest({"leave it out", {{current_.range, ""}}});
    current_.kind = table_.next(current_.value, current_.range);
    index = closerIndex(current_.kind);
    reported_ = true;
  }
  if (index == noBracket) {
    held_ = current_;
    holds_ = true;
    closeTo_ = openers_.size();
    return balanced();
  }
  size_t depth = openers_.size();
  while (openers_[depth - 1].bracket != index)
    --depth;
  if (depth < openers_.size()) {
    reportUnclosed(depth);
    return closeDownTo(depth);
  }
  pop();
}

void TokenStream::pop() {
  closedPlace_ = openers_.back().range.begin;
  --counts_[openers_.back().bracket].open;
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
    missing += marks[openers_[i - 1].bracket];
  uint32_t place = previous_.second.end;
  bool isBody = missing[0] == '}';
  const Opener& opener = openers_.back();
  std::string found = table_.described(current_.kind, scanner_.textOf(current_.range));
  lang::SourceRange gap{place, std::max(place, current_.range.begin)};
  if (scanner_.hidesQuotient(gap)) {
    uint32_t mark = place + uint32_t(scanner_.textOf(gap).find("//"));
    diagnostics_.report(lang::Message::ForeignForm, {mark, mark + 2}, Scanner::quotientWords);
    return;
  }
  diagnostics_
      .report(lang::Message::SyntaxError, current_.range,
              table_.quoted(table_.closers[opener.bracket]), found)
      .label(opener.range, table_.quoted(table_.openers[opener.bracket]) + " opened here")
      .suggest({"close it: {}",
                {{{place, place}, isBody ? "\n" + missing : missing}},
                isBody ? lang::SourceRange{} : previous_.second});
}

} // namespace parser

// Comments lose the blanks at their ends, and carriage returns.
#include "parser/format/token_reader.h"

#include <algorithm>
#include <fmt/format.h>

namespace parser::format {

namespace {

constexpr std::string_view blankBytes = " \t\r\n";

std::string withoutBytes(std::string_view text, std::string_view left) {
  std::string result;
  std::ranges::copy_if(text, std::back_inserter(result),
                       [&](char c) { return left.find(c) == std::string_view::npos; });
  return result;
}

} // namespace

std::vector<TokenKind> kindsByNumber(std::span<const std::pair<int, TokenKind>> rows) {
  constexpr size_t mostKinds = 256;
  std::vector<TokenKind> kinds(mostKinds);
  for (auto [number, kind] : rows)
    kinds[size_t(number)] = kind;
  return kinds;
}

bool endsOperand(Role role) {
  switch (role) {
  case Role::Name:
  case Role::Word:
  case Role::Number:
  case Role::StrictName:
  case Role::Suffix:
  case Role::CloseParen:
  case Role::CloseBracket:
  case Role::CloseBrace:
    return true;
  default:
    return false;
  }
}

bool isOpener(Role role) {
  return role >= Role::OpenParen && role <= Role::OpenBrace;
}

bool isCloser(Role role) {
  return role >= Role::CloseParen && role <= Role::CloseBrace;
}

TokenReader::TokenReader(const lang::SourceFile& file, surface::Notation notation)
    : base_(file.base()), end_(file.base()) {
  result_.notation = notation;
  result_.text = file.text();
  result_.tokens.reserve(file.text().size() / 3);
}

std::string_view TokenReader::textOf(lang::SourceRange range) const {
  return result_.text.substr(range.begin - base_, range.end - range.begin);
}

uint8_t TokenReader::goTo(lang::SourceRange range) {
  std::string_view gap = textOf({end_, range.begin});
  end_ = range.end;
  if (gap.empty() || gap == " ")
    return 0;
  return uint8_t(std::min<ptrdiff_t>(std::ranges::count(gap, '\n'), 2));
}

void TokenReader::addComments(const std::vector<lang::SourceRange>& comments, uint32_t before) {
  while (result_.comments.size() < comments.size()) {
    lang::SourceRange range = comments[result_.comments.size()];
    if (range.begin >= before)
      return;
    uint8_t lineEnds = goTo(range);
    if (lineEnds > 0 && isBehindComment_)
      result_.comments.back().endsLine = true;
    std::string_view text = textOf(range);
    text = text.substr(0, text.find_last_not_of(blankBytes) + 1);
    if (text.find('\r') != std::string_view::npos)
      text = result_.joined[range.begin - base_] = withoutBytes(text, "\r");
    bool endsLine = text.starts_with("//") || text.find('\n') != std::string_view::npos;
    result_.comments.push_back({text, lineEnds, endsLine});
    isBehindComment_ = true;
  }
}

void TokenReader::add(TokenKind kind, lang::SourceRange range,
                      const std::vector<lang::SourceRange>& comments) {
  size_t known = result_.comments.size();
  if (comments.size() > known)
    addComments(comments, range.begin);
  Token token{.begin = range.begin - base_,
              .size = range.end - range.begin,
              .comments = uint32_t(result_.comments.size()),
              .role = kind.role,
              .holds = kind.holds};
  token.lineEnds = goTo(range);
  if (token.lineEnds > 0 && isBehindComment_)
    result_.comments.back().endsLine = true;
  isBehindComment_ = false;
  auto ends = [](const Comment& comment) { return comment.lineEnds > 0 || comment.endsLine; };
  token.beginsLine = token.lineEnds > 0 || std::any_of(result_.comments.begin() + ptrdiff_t(known),
                                                       result_.comments.end(), ends);
  if (kind.mayHaveBlanks)
    join(token);
  result_.tokens.push_back(token);
}

/// Names with dots and the like may have blanks inside of them, where nothing hangs on these.
void TokenReader::join(Token& token) {
  std::string_view text = result_.textOf(token);
  if (text.find_first_of(blankBytes) == std::string_view::npos)
    return;
  token.hasBlanks = true;
  result_.joined[token.begin] = withoutBytes(text, blankBytes);
}

void TokenReader::addHeader(lang::SourceRange range, std::string_view version,
                            const std::vector<lang::SourceRange>& comments) {
  addComments(comments, range.begin);
  result_.commentsBeforeHeader = uint32_t(result_.comments.size());
  result_.headerLineEnds = goTo(range);
  if (isBehindComment_)
    result_.comments.back().endsLine = true;
  isBehindComment_ = false;
  result_.header = textOf(range).starts_with('v') ? fmt::format("v{}", version)
                                                  : fmt::format("#[version = \"{}\"]", version);
}

Tokens TokenReader::finish(lang::SourceRange metadata,
                           const std::vector<lang::SourceRange>& comments) {
  addComments(comments, UINT32_MAX);
  if (isBehindComment_)
    result_.comments.back().endsLine = true;
  if (metadata.isValid()) {
    size_t begin = result_.text.rfind("#[", metadata.begin - base_ - 1);
    result_.metadata = result_.text.substr(begin);
    result_.metadataLineEnds = goTo({base_ + uint32_t(begin), metadata.end});
  }
  return std::move(result_);
}

} // namespace parser::format

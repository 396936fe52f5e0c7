// What readers of both notations do with what their lexers say.
#pragma once

#include "parser/format/tokens.h"

#include <span>

namespace parser::format {

/// What a kind of token of a notation is.
struct TokenKind {
  Role role = Role::Word;
  Holds holds = Holds::None;
  bool mayHaveBlanks = false;
};

/// A table of kinds with a place for each.
std::vector<TokenKind> kindsByNumber(std::span<const std::pair<int, TokenKind>> rows);

/// Puts tokens and comments together, in the order of the text.
class TokenReader {
public:
  TokenReader(const lang::SourceFile& file, surface::Notation notation);

  /// `comments` are those that the lexer has found so far.
  void add(TokenKind kind, lang::SourceRange range, const std::vector<lang::SourceRange>& comments);
  void addHeader(lang::SourceRange range, std::string_view version,
                 const std::vector<lang::SourceRange>& comments);
  Tokens finish(lang::SourceRange metadata, const std::vector<lang::SourceRange>& comments);

private:
  std::string_view textOf(lang::SourceRange range) const;
  /// Line ends between what was read last and this place, which comes next.
  uint8_t goTo(lang::SourceRange range);
  void addComments(const std::vector<lang::SourceRange>& comments, uint32_t before);
  void join(Token& token);

  Tokens result_;
  uint32_t base_;
  uint32_t end_;
  bool isBehindComment_ = false;
};

} // namespace parser::format

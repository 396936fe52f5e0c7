// The words of a text of code, and what is said when another one is wanted.
//
// The first problem ends the text: what is read from then on is its end. So whoever reads asks
// `isGood` where it would go on for long, and nowhere else.
#pragma once

#include "lang/source/diagnostic.h"

#include <optional>

namespace assembly {

/// Index: `#3`. Place: `@12`. String: in quotes, or lines that begin with `|`.
enum class TokenKind : uint8_t { End, Name, Number, Index, Place, String, Symbol };

struct Token {
  TokenKind kind = TokenKind::End;
  std::string_view text = {};
  lang::SourceRange range = {};
};

class Tokens {
public:
  Tokens(const lang::SourceFile& file, lang::Diagnostics& diagnostics);

  bool isGood() const { return isGood_; }
  /// The token that is next.
  const Token& peek() const { return next_; }
  Token take();

  bool isAt(std::string_view text) const;
  bool isAt(TokenKind kind) const { return isGood_ && next_.kind == kind; }
  /// Goes past a name or symbol if it is next; else remembers that it would have been right.
  bool accept(std::string_view text);
  void expect(std::string_view text);
  /// A token of a kind, which `what` is called in messages; of the end of the text when there is
  /// none.
  Token expect(TokenKind kind, std::string_view what);
  /// The characters that a string means.
  std::string string();

  /// Something else than `what` is next, or than what would have been right before.
  void failExpecting(std::string what);
  /// Reports a problem of any kind, if it is the first one; else null.
  template <typename... Args>
  lang::Diagnostic* fail(lang::Message message, lang::SourceRange range, const Args&... args) {
    lang::Diagnostic* report = isGood_ ? &diagnostics_.report(message, range, args...) : nullptr;
    end();
    return report;
  }

private:
  Token lex();
  Token lexString(size_t start);
  Token lexLines(size_t start);
  Token token(TokenKind kind, size_t start) const;
  void skipBlanks();
  char at(size_t place) const { return place < text_.size() ? text_[place] : '\0'; }
  void end();
  std::optional<std::string> unescaped(std::string_view text) const;

  std::string_view text_;
  uint32_t base_;
  lang::Diagnostics& diagnostics_;
  size_t at_ = 0;
  Token next_;
  bool isGood_ = true;
  /// What would have been right in place of the next token; names and symbols of the grammar, which
  /// live as long as the program, and, at the end, anything.
  std::vector<std::string_view> wanted_;
};

/// A text in quotes that reads back as it is, byte for byte.
std::string quoted(std::string_view text);
/// Whether it may stand as lines behind `|`.
bool isLines(std::string_view text);

} // namespace assembly

// Texts as lines of tokens, and what is wrong with them: what loop nests and tensor functions
// share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace text {

enum class TokenKind : uint8_t { Word, Number, Sign, End };

struct Token {
  TokenKind kind;
  std::string_view text;
  uint32_t line, column;
};

/// A line that has tokens, the last of which is its End.
struct Line {
  uint32_t indent;
  std::vector<Token> tokens;
};

/// Thrown by whoever reads, and caught at the same door.
struct Unreadable {
  std::string problem;
};

[[noreturn]] void refuseAt(const Token& token, const std::string& problem);

/// Comments go from `#` to the end of the line.
std::vector<Line> linesOf(std::string_view text);

/// Reads tokens of one line.
class Cursor {
public:
  explicit Cursor(const Line& line) : next_(line.tokens.data()) {}

  const Token& peek() const { return *next_; }
  const Token& peekSecond() const { return next_->kind == TokenKind::End ? *next_ : next_[1]; }
  const Token& take() { return next_->kind == TokenKind::End ? *next_ : *next_++; }
  bool is(std::string_view text) const {
    return next_->kind != TokenKind::End && next_->text == text;
  }
  bool takeIf(std::string_view text);
  /// `what` says where it is expected.
  const Token& expect(std::string_view text);
  const Token& word(std::string_view what);
  int64_t whole(std::string_view what);
  void end();

private:
  const Token* next_;
};

} // namespace text

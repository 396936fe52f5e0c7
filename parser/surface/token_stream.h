// Tokens in balanced brackets: what the grammar sees.
//
// Every opener that the grammar gets is followed by its closer, whatever the text says: a missing
// closer is reported once, with the opener as a label, and made up; a closer too many is reported
// and dropped. So a syntax error in one body never runs into the next definition.
#pragma once

#include "parser/surface/scanner.h"

#include <array>
#include <functional>

namespace parser {

/// What the stream asks of the tokens of a notation, which are numbers to it.
struct TokenTable {
  /// Of parentheses, brackets and braces.
  std::array<int, 3> openers, closers;
  int end, semicolon, comma;
  /// `else`, which follows a bracket.
  int otherwise;
  /// What begins a definition.
  std::vector<int> definitions;
  /// The next token of the lexer.
  std::function<int(Value&, lang::SourceRange&)> next;
  /// The token as one would write or call it.
  std::string (*quoted)(int kind);
  /// What stands at a place.
  std::string (*described)(int kind, std::string_view text);
};

class TokenStream {
public:
  TokenStream(TokenTable table, const Scanner& scanner, lang::Diagnostics& diagnostics)
      : table_(std::move(table)), scanner_(scanner), diagnostics_(diagnostics) {}

  int next(Value& value, lang::SourceRange& range);

  /// True when a finding about brackets or stray text covers the place of the last token, so that
  /// a syntax error there is no news.
  bool isReported() const { return reported_ || scanner_.skippedText() || isConsequence(); }
  /// The token before the last one and its place; `End` and nowhere at the beginning.
  std::pair<int, lang::SourceRange> previous() const { return previous_; }
  /// After a syntax error at the last token, when everything from `place` on is to be skipped:
  /// from now on only landmarks come, until endRecovery(). These are `;` and the closer of the
  /// innermost bracket that is open at `place`, then those of the brackets around it; a definition
  /// or the end of the text is one always and ends recovery. The last token may come again.
  void beginRecovery(uint32_t place);
  void endRecovery() { recovering_ = false; }

private:
  struct Opener {
    size_t bracket;
    lang::SourceRange range;
  };
  struct Lexeme {
    int kind;
    Value value;
    lang::SourceRange range;
  };

  size_t openerIndex(int kind) const;
  size_t closerIndex(int kind) const;
  bool startsDefinition(int kind) const;
  bool isConsequence() const;
  void balanced();
  void open();
  void close();
  void pop();
  void closeDownTo(size_t depth);
  void reportUnclosed(size_t depth);
  bool isLandmark() const;

  TokenTable table_;
  const Scanner& scanner_;
  lang::Diagnostics& diagnostics_;
  std::vector<Opener> openers_;
  /// Of parentheses, brackets and braces: how many are open, and how many closers may come too
  /// many, since a definition closed their openers.
  struct Count {
    size_t open = 0, forgiven = 0;
  };
  Count counts_[3] = {};
  Lexeme current_{};
  std::pair<int, lang::SourceRange> previous_{};
  /// A token that waits until the openers above `closeTo_` are closed.
  Lexeme held_{};
  bool holds_ = false;
  size_t closeTo_ = 0;
  bool reported_ = false;
  bool stopped_ = false;
  bool recovering_ = false;
  /// There was a syntax error since the last definition began.
  bool failed_ = false;
  /// The last token is to be looked at again.
  bool again_ = false;
  /// Where the bracket opened that the current token, a closer, closes.
  uint32_t closedPlace_ = 0;
  size_t recoveryDepth_ = 0;
};

} // namespace parser

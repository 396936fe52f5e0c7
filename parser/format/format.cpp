// A text is laid out a definition at a time. Between definitions stands an empty line, unless both
// take one line and nobody left one.
#include "parser/format/format.h"

#include "parser/format/structure.h"
#include "parser/format/write.h"

#include <algorithm>
#include <fmt/format.h>

namespace parser::format {

namespace {

Tokens readTokens(const lang::SourceFile& file, surface::Notation notation) {
  return notation == surface::Notation::Baton ? batonTokens(file) : relayTokens(file);
}

class FileWriter {
public:
  explicit FileWriter(Tokens tokens)
      : tokens_(std::move(tokens)), starts_(findStructure(tokens_)), writer_(tokens_) {}

  LaidOut write() {
    out_.reserve(tokens_.text.size() + tokens_.text.size() / 4);
    header();
    if (starts_.empty() || starts_[0] > 0)
      starts_.insert(starts_.begin(), 0);
    for (size_t k = 0; k < starts_.size() && !tokens_.tokens.empty(); ++k)
      definition(starts_[k],
                 k + 1 < starts_.size() ? starts_[k + 1] : uint32_t(tokens_.tokens.size()));
    comments(uint32_t(tokens_.comments.size()));
    metadata();
    return {std::move(out_), std::move(tokens_)};
  }

private:
  void header() {
    if (tokens_.header.empty())
      return;
    comments(tokens_.commentsBeforeHeader);
    startItem(tokens_.headerLineEnds);
    out_ += tokens_.header;
    endItem();
  }

  void endItem() {
    out_ += '\n';
    isFirst_ = false;
  }

  void startItem(uint8_t lineEnds) {
    if (lineEnds > 1 && !isFirst_)
      out_ += '\n';
  }

  /// Those that stand on lines of their own.
  void comments(uint32_t until) {
    for (; comment_ < until; ++comment_) {
      const Comment& comment = tokens_.comments[comment_];
      startItem(comment.lineEnds);
      out_ += comment.text;
      if (comment.endsLine)
        endItem();
      else
        out_ += ' ';
    }
  }

  void definition(uint32_t begin, uint32_t end) {
    const Token& first = tokens_.tokens[begin];
    size_t before = out_.size();
    uint32_t inlineOnes = first.comments;
    while (inlineOnes > comment_ && !tokens_.comments[inlineOnes - 1].endsLine)
      --inlineOnes;
    bool isDocumented = inlineOnes > comment_;
    comments(inlineOnes);
    startItem(inlineOnes < first.comments ? tokens_.comments[inlineOnes].lineEnds : first.lineEnds);
    size_t start = out_.size();
    comment_ = writer_.write(begin, end, comment_, out_);
    bool takesOneLine = out_.find('\n', start) == std::string::npos;
    bool isApart = before == 0 || out_[before] == '\n' ||
                   (takesOneLine && !isDocumented && lastTookOneLine_) || !hasDefinition_;
    if (!isApart)
      out_.insert(before, 1, '\n');
    lastTookOneLine_ = takesOneLine;
    hasDefinition_ = true;
    endItem();
  }

  void metadata() {
    if (tokens_.metadata.empty())
      return;
    startItem(tokens_.metadataLineEnds);
    out_ += tokens_.metadata;
  }

  Tokens tokens_;
  std::vector<uint32_t> starts_;
  DefinitionWriter writer_;
  std::string out_;
  uint32_t comment_ = 0;
  bool isFirst_ = true;
  bool hasDefinition_ = false;
  bool lastTookOneLine_ = false;
};

std::string tokenText(const Tokens& tokens, size_t i) {
  if (i >= tokens.tokens.size())
    return "the end of the text";
  const Token& token = tokens.tokens[i];
  auto line = std::count(tokens.text.begin(), tokens.text.begin() + token.begin, '\n') + 1;
  return fmt::format("`{}` in line {}", tokens.textOf(token), line);
}

/// Whether a comma means nothing.
bool isFree(const Tokens& tokens, size_t i) {
  return i + 1 < tokens.tokens.size() && tokens.tokens[i].role == Role::Comma &&
         isCloser(tokens.tokens[i + 1].role) &&
         tokens.tokens[tokens.tokens[i + 1].mate].isCommaFree;
}

bool isSameToken(const Tokens& left, size_t i, const Tokens& right, size_t k) {
  const Token &one = left.tokens[i], &other = right.tokens[k];
  return one.role == other.role && left.textOf(one) == right.textOf(other);
}

bool isSameComment(const Comment& left, const Comment& right) {
  return left.text == right.text;
}

} // namespace

LaidOut layOut(const lang::SourceFile& file, surface::Notation notation) {
  return FileWriter(readTokens(file, notation)).write();
}

std::string laidOut(std::string text, surface::Notation notation) {
  lang::SourceMap sources;
  const lang::SourceFile* file = sources.add("", std::move(text));
  return file ? layOut(*file, notation).text : "";
}

Difference difference(const Tokens& left, const lang::SourceFile& after) {
  Tokens right = readTokens(after, left.notation);
  findStructure(right);
  Difference result;
  for (size_t i = 0, k = 0;; ++i, ++k) {
    bool skipsLeft = isFree(left, i), skipsRight = isFree(right, k);
    result.sameCommas &= skipsLeft == skipsRight;
    i += skipsLeft ? 1 : 0;
    k += skipsRight ? 1 : 0;
    bool isLeftEnd = i == left.tokens.size(), isRightEnd = k == right.tokens.size();
    if (isLeftEnd && isRightEnd)
      break;
    if (isLeftEnd || isRightEnd || !isSameToken(left, i, right, k)) {
      result.text = fmt::format("{} became {}", tokenText(left, i), tokenText(right, k));
      return result;
    }
  }
  if (!std::ranges::equal(left.comments, right.comments, isSameComment))
    result.text = "a comment was changed";
  else if (left.header != right.header || left.metadata != right.metadata)
    result.text = "the header or the metadata section was changed";
  return result;
}

} // namespace parser::format

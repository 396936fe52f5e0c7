// What a look into a comment or a text makes of it will not read, and so is not shown.
#include "parser/baton/mistake_text.h"

#include <algorithm>

namespace parser::baton {

using lang::SourceRange;

namespace {

/// How far the text around a mistake is looked at.
constexpr uint32_t farthest = 2000;
constexpr std::string_view ofMarks = "=+-*/<>:!&|.?%@;";

bool isMark(char c) {
  return ofMarks.find(c) != std::string_view::npos;
}

bool opens(char c) {
  return c == '(' || c == '[' || c == '{';
}

bool closes(char c) {
  return c == ')' || c == ']' || c == '}';
}

} // namespace

bool isOfName(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

size_t findWord(std::string_view text, std::string_view word) {
  for (size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    size_t end = at + word.size();
    if ((at == 0 || !isOfName(text[at - 1])) && (end == text.size() || !isOfName(text[end])))
      return at;
  }
  return std::string_view::npos;
}

MistakeText::MistakeText(const Lexer& lexer, const SyntaxMistake& mistake)
    : lexer_(lexer), mistake_(mistake) {
  // A made-up token may have any place, and at the beginning there is none before.
  bool isPlaced = mistake.beforeRange.isValid() && mistake.beforeRange.end <= mistake.range.begin;
  before_ = isPlaced ? mistake.beforeRange : SourceRange{mistake.range.begin, mistake.range.begin};
  marks_ = marksAround();
  called_ = calledBefore();
  dashes_ = dashesBefore();
}

bool MistakeText::expects(Grammar::symbol_kind_type kind) const {
  return std::ranges::find(mistake_.expected, kind) != mistake_.expected.end();
}

std::string_view MistakeText::from(uint32_t place) const {
  return text({place, std::min(lexer_.range().end, place + farthest)});
}

std::string_view MistakeText::upTo(uint32_t place) const {
  uint32_t begin = lexer_.range().begin;
  return text({place - begin > farthest ? place - farthest : begin, place});
}

bool MistakeText::isNewLine() const {
  return text({before_.end, found().begin}).find('\n') != std::string_view::npos;
}

SourceRange MistakeText::marksAround() const {
  std::string_view left = upTo(found().begin), right = from(found().begin);
  if (left.ends_with('(') && right.starts_with('*'))
    return {found().begin - 1, found().end};
  if (right.starts_with("(*"))
    return {found().begin, found().begin + 2};
  if (right.empty() || !isMark(right[0]))
    return found();
  uint32_t before = 0, behind = 0;
  while (before < left.size() && isMark(left[left.size() - 1 - before]))
    ++before;
  while (behind < right.size() && isMark(right[behind]))
    ++behind;
  return {found().begin - before, found().begin + behind};
}

SourceRange MistakeText::calledBefore() const {
  std::string_view left = upTo(before_.end);
  if (!left.ends_with(')'))
    return before_;
  size_t at = left.size(), depth = 0;
  do {
    --at;
    depth += closes(left[at]) ? 1 : opens(left[at]) ? size_t(-1) : 0;
  } while (at > 0 && depth > 0);
  size_t end = left.find_last_not_of(" \t", at == 0 ? 0 : at - 1) + 1, begin = std::min(end, at);
  while (begin > 0 && isOfName(left[begin - 1]))
    --begin;
  uint32_t first = before_.end - uint32_t(left.size());
  return {first + uint32_t(begin), first + uint32_t(std::min(end, at))};
}

/// Words behind two dashes are read as names that are subtracted, up to the second one.
SourceRange MistakeText::dashesBefore() const {
  std::string_view left = upTo(found().begin);
  std::string_view line = left.substr(left.rfind('\n') + 1);
  size_t at = line.find("-- ");
  bool isApart = at == 0 || (at != std::string_view::npos && line[at - 1] == ' ');
  if (!isApart || isNewLine())
    return before_;
  uint32_t place = found().begin - uint32_t(line.size() - at);
  return {place, place + 2};
}

SourceRange MistakeText::quotient() const {
  SourceRange gap{before_.end, found().begin};
  if (!lexer_.hidesQuotient(gap))
    return before_;
  uint32_t place = gap.begin + uint32_t(text(gap).find("//"));
  return {place, place + 2};
}

uint32_t MistakeText::expressionBegin(uint32_t place) const {
  std::string_view left = upTo(place);
  size_t at = left.size(), depth = 0;
  for (; at > 0; --at) {
    char c = left[at - 1];
    std::string_view mark = left.substr(at >= 2 ? at - 2 : 0, 2);
    bool isBody = (c == '=' && mark != "==" && mark != "<=" && mark != ">=" && mark != "!=" &&
                   (at == left.size() || left[at] != '=')) ||
                  mark == "=>";
    if (depth == 0 && (opens(c) || c == ',' || c == ';' || c == '\n' || isBody))
      break;
    depth += closes(c) ? 1 : opens(c) ? size_t(-1) : 0;
  }
  size_t begin = std::min(left.find_first_not_of(" \t\r\n", at), left.size());
  return place - uint32_t(left.size() - begin);
}

uint32_t MistakeText::expressionEnd(uint32_t place) const {
  std::string_view right = from(place);
  size_t at = 0, depth = 0;
  for (; at < right.size(); ++at) {
    char c = right[at];
    bool isEnd = closes(c) || c == ',' || c == ';' || c == '\n' || right.substr(at, 2) == "//";
    if (depth == 0 && isEnd)
      break;
    depth += opens(c) ? 1 : closes(c) ? size_t(-1) : 0;
  }
  size_t last = right.substr(0, at).find_last_not_of(" \t\r\n");
  return place + uint32_t(last == std::string_view::npos ? 0 : last + 1);
}

uint32_t MistakeText::closing(uint32_t opening) const {
  std::string_view right = from(opening);
  size_t depth = 0;
  for (size_t at = 0; at < right.size(); ++at) {
    depth += opens(right[at]) ? 1 : closes(right[at]) ? size_t(-1) : 0;
    if (depth == 0)
      return opening + uint32_t(at) + 1;
  }
  return opening;
}

} // namespace parser::baton

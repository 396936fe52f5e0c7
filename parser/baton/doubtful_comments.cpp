// A comment of words is none of these, and neither is one behind a mark that ends something.
#include "parser/baton/doubtful_comments.h"

#include "parser/baton/mistake_text.h"

#include <algorithm>
#include <fmt/format.h>

namespace parser::baton {

using lang::SourceRange;

namespace {

/// A name or a number, which may have a point.
std::string_view operandOf(std::string_view comment) {
  if (!comment.starts_with("//") || comment.starts_with("///"))
    return {};
  std::string_view text = comment.substr(2);
  text.remove_prefix(std::min(text.find_first_not_of(anyBlank), text.size()));
  text = text.substr(0, text.find_last_not_of(anyBlank) + 1);
  auto isOfOperand = [](char c) { return isOfName(c) || c == '.'; };
  return !text.empty() && isOfName(text[0]) && std::ranges::all_of(text, isOfOperand)
             ? text
             : std::string_view();
}

/// The text of a definition in front of a place in it, as far as it is near; nothing where the
/// place is in none.
std::string_view definitionBefore(const surface::File& file, const Lexer& lexer, uint32_t place) {
  auto behind = std::ranges::upper_bound(
      file.definitions, place, {},
      [](const surface::Definition* definition) { return definition->range.begin; });
  if (behind == file.definitions.begin())
    return {};
  constexpr uint32_t farthest = 10'000;
  uint32_t begin = (*(behind - 1))->range.begin;
  return lexer.textOf({std::max(begin, place - std::min(place, farthest)), place});
}

} // namespace

void warnOfDivisors(const surface::File& file, const Lexer& lexer, lang::Diagnostics& diagnostics) {
  for (SourceRange comment : file.comments) {
    std::string_view operand = operandOf(lexer.textOf(comment));
    if (operand.empty())
      continue;
    std::string_view before = definitionBefore(file, lexer, comment.begin);
    std::string_view line = before.substr(before.rfind('\n') + 1);
    size_t last = line.find_last_not_of(anyBlank);
    bool isBehind = last != std::string_view::npos &&
                    (isOfName(line[last]) || line[last] == ')' || line[last] == ']');
    bool isNumber = operand[0] >= '0' && operand[0] <= '9';
    if (isBehind && (isNumber || findWord(before, operand.substr(0, operand.find('.'))) !=
                                     std::string_view::npos))
      diagnostics.report(lang::Message::DoubtfulComment, {comment.begin, comment.begin + 2})
          .note("`floor_divide(a, b)` is the quotient without a rest; a comment of words is one");
  }
}

} // namespace parser::baton

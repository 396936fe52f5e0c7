// Marks of other languages and keyboards. One that means a token of the notation is read as that,
// so it is one finding.
#include "parser/baton/mistake_text.h"

#include <algorithm>
#include <fmt/format.h>

namespace parser::baton {

namespace {

using lang::Message;

struct Mark {
  std::string_view theirs;
  /// What is written here, read instead of it if it is a token; empty where nothing is like it.
  const char* ours;
  /// What is said of it; empty for that it is written as ours.
  std::string_view says = {};
  bool isToken = true;
  /// How a call begins that may be meant as well.
  std::string_view call = {};
};

constexpr std::string_view logic = "`&&`, `||` and `!` take single truth values, `logical_and` and "
                                   "the like go by element, `bitwise_and` by bit";

constexpr Mark marks[] = {
    {"×", "*"},
    {"⋅", "*"},
    {"·", "*"},
    {"∗", "*"},
    {"÷", "/"},
    {"−", "-"},
    {"–", "-"},
    {"≤", "<="},
    {"≥", ">="},
    {"≠", "!="},
    {"→", "->"},
    {"⇒", "=>"},
    {"∧", "&&"},
    {"∨", "||"},
    {"¬", "!"},
    {"…", ".."},
    {"\u00a0", " ", "this blank is not the one of the keyboard", false},
    {"\u3000", " ", "this blank is not the one of the keyboard", false},
    {"\u200b", "", "a character without width stands here", false},
    {"\ufeff", "", "a byte order mark stands here", false},
    {"²", " ** 2", "a square is written `x ** 2`", false},
    {"λ", "", "a function that is a value is written `fn (x) = value`", false},
    {"π", "3.14159265", "names have letters from a to z: pi is a number, or called so", false},
    {"^", "**", "a power is written `x ** n`, and bits are compared by `bitwise_xor`"},
    {"&", "&&", logic, false, "bitwise_and("},
    {"~=", "!="},
    {"~", "!", logic, false},
    {"$", "", "a function is called with parentheses: `f(x)`", false},
    {"'", "", "a type parameter is a name, as in `f[A](x: A)`, and a text stands in double quotes",
     false},
    {"\\", "", "a function that is a value is written `fn (x) = value`", false},
};

std::string_view trimmed(std::string_view text) {
  size_t begin = std::min(text.find_first_not_of(anyBlank), text.size());
  return text.substr(begin, text.find_last_not_of(anyBlank) + 1 - begin);
}

} // namespace

std::optional<Text> Lexer::foreignText() {
  constexpr std::pair<std::string_view, std::string_view> quotes[] = {
      {"“", "”"}, {"”", "”"}, {"„", "“"}, {"‘", "’"}, {"’", "’"}, {"«", "»"}};
  std::string_view text{start_, size_t(limit_ - start_)};
  for (auto [open, close] : quotes)
    if (text.starts_with(open)) {
      cursor_ = start_ + open.size();
      return foreignQuote(close);
    }
  return std::nullopt;
}

/// Suggests a call of an operator with what stands around the mark.
void Lexer::suggestCall(lang::Diagnostic& report, std::string_view head) const {
  lang::SourceRange mark = report.range;
  MistakeText text(*this, {0, mark, 0, {mark.begin, mark.begin}, {}});
  lang::SourceRange left{text.expressionBegin(mark.begin), mark.begin};
  lang::SourceRange right{mark.end, text.expressionEnd(mark.end)};
  if (left.begin >= left.end || right.begin >= right.end)
    return;
  report.suggest({"write {}",
                  {{{left.begin, right.end},
                    fmt::format("{}{}, {})", head, trimmed(textOf(left)), trimmed(textOf(right)))}},
                  {},
                  true});
}

const char* Lexer::foreignMark() {
  std::string_view text{start_, size_t(limit_ - start_)};
  auto isHere = [&](const Mark& mark) { return text.starts_with(mark.theirs); };
  const Mark* mark = std::ranges::find_if(marks, isHere);
  if (mark == std::end(marks)) {
    unexpected();
    return nullptr;
  }
  cursor_ = start_ + mark->theirs.size();
  std::string says = mark->says.empty()
                         ? fmt::format("`{}` is written `{}`", mark->theirs, mark->ours)
                         : std::string(mark->says);
  auto& report = diagnostics_.report(Message::ForeignForm, here(), says);
  bool isBlank = mark->ours[0] == ' ' && mark->ours[1] == 0;
  if (mark->ours[0] == 0 || isBlank)
    report.suggest({isBlank ? "put a plain one there" : "leave it out", {{here(), mark->ours}}});
  else
    report.suggest({"write {}", {{here(), mark->ours}}});
  if (!mark->call.empty())
    suggestCall(report, mark->call);
  skippedText_ = !mark->isToken;
  return mark->isToken ? mark->ours : nullptr;
}

void Lexer::foreignDocumentation() {
  skippedText_ = true;
  cursor_ += std::min(rest().find("\"\"\""), rest().size());
  cursor_ = std::min(cursor_ + 3, limit_);
  diagnostics_.report(Message::ForeignForm, rangeOf(start_, start_ + 3),
                      "what documents a definition stands in front of it, behind `///`");
}

} // namespace parser::baton

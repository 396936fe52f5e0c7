// An operand is a name with its fields, a call, or what is in parentheses; larger expressions are
// left alone, since another precedence might make something else of them.
#include "parser/relay/operator_hints.h"

#include "lang/op/attribute_schema.h"
#include "lang/op/op.h"
#include "lang/op/other_names.h"

#include <algorithm>
#include <fmt/format.h>

namespace parser {

using lang::SourceRange;

namespace {

constexpr std::string_view digits = "0123456789";

bool isOneOf(char c, std::string_view letters) {
  return letters.find(c) != std::string_view::npos;
}

bool isOfName(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || isOneOf(c, digits) ||
         isOneOf(c, "_%@.");
}

bool isNumber(std::string_view text) {
  return !text.empty() && text.find_first_not_of(digits) == std::string_view::npos;
}

std::string_view trimmed(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  return text.substr(0, text.find_last_not_of(blanks) + 1);
}

/// The text around a place, and the operands in it.
class Surroundings {
public:
  explicit Surroundings(const Lexer& lexer) : lexer_(lexer) {}

  std::string_view text(SourceRange range) const { return lexer_.textOf(range); }
  std::string_view from(uint32_t at) const {
    return text({at, std::min<uint32_t>(lexer_.range().end, at + farthestHint)});
  }
  std::string_view upTo(uint32_t at) const {
    uint32_t begin = lexer_.range().begin;
    return text({at - begin > farthestHint ? at - uint32_t(farthestHint) : begin, at});
  }

  /// The operand that ends before a place, blanks left out; empty when there is none.
  SourceRange operandBefore(uint32_t place) const {
    std::string_view left = upTo(place);
    size_t end = left.find_last_not_of(blanks) + 1, begin = end;
    while (begin > 0 && left[begin - 1] == ')') {
      size_t depth = 0;
      do {
        --begin;
        depth += left[begin] == ')' ? 1 : left[begin] == '(' ? size_t(-1) : 0;
      } while (begin > 0 && depth > 0);
      begin = beginOfName(left, begin);
    }
    begin = beginOfName(left, begin);
    return {place - uint32_t(left.size() - begin), place - uint32_t(left.size() - end)};
  }

  /// The operand that begins behind a place.
  SourceRange operandBehind(uint32_t place) const {
    std::string_view right = from(place);
    size_t begin = std::min(right.find_first_not_of(blanks), right.size());
    size_t end = begin + (right.substr(begin).starts_with('-') ? 1 : 0);
    end = endOfName(right, end);
    while (end < right.size() && right[end] == '(') {
      size_t close = closing(right, end);
      if (close == std::string_view::npos)
        break;
      end = endOfName(right, close + 1);
    }
    return {place + uint32_t(begin), place + uint32_t(end)};
  }

  /// The parenthesis that closes the one at `open`.
  static size_t closing(std::string_view text, size_t open) {
    size_t depth = 0;
    for (size_t i = open; i < text.size(); ++i) {
      depth += text[i] == '(' ? 1 : text[i] == ')' ? size_t(-1) : 0;
      if (depth == 0)
        return i;
    }
    return std::string_view::npos;
  }

  const lang::OperatorRow* operatorCalled(std::string_view name) const {
    const lang::OperatorTable* operators = lexer_.operators();
    return operators ? lang::calledElsewhere(*operators, name) : nullptr;
  }

private:
  static size_t beginOfName(std::string_view text, size_t end) {
    while (end > 0 && isOfName(text[end - 1]))
      --end;
    return end;
  }
  static size_t endOfName(std::string_view text, size_t begin) {
    while (begin < text.size() && isOfName(text[begin]))
      ++begin;
    return begin;
  }

  const Lexer& lexer_;
};

/// Attributes behind the first ones that must be given, but may be `None`.
std::string nullables(const lang::OperatorRow& row, size_t given = 0) {
  std::string text;
  for (const lang::AttributeRow& attribute : row.attributes.subspan(given))
    if (attribute.defaultText.empty() && lang::isNullable(attribute))
      text += fmt::format(", {}=None", attribute.name);
  return text;
}

/// What commas separate.
std::vector<std::string_view> split(std::string_view list) {
  std::vector<std::string_view> parts;
  for (size_t begin = 0; begin <= list.size();) {
    size_t end = std::min(list.find(',', begin), list.size());
    parts.push_back(trimmed(list.substr(begin, end - begin)));
    begin = end + 1;
  }
  return parts;
}

/// The call that reads an element, one dimension after the other; empty for anything else.
std::string elementCode(const lang::OperatorRow& row, std::string code, std::string_view index) {
  for (std::string_view part : split(index)) {
    if (part.empty() || part.find(':') != std::string_view::npos)
      return {};
    std::string_view mode = part.starts_with('-') ? ", mode=\"wrap\"" : "";
    code = fmt::format("{}({}, {}, axis=0{})", row.name, code, part, mode);
  }
  return code;
}

/// The call that reads `1:4` or `1:4, 0:2`, by an operator whose first attributes are the begins
/// and the ends; empty for anything else.
std::string sliceCode(const lang::OperatorRow& row, std::string_view operand,
                      std::string_view index) {
  std::string begins, ends;
  for (std::string_view part : split(index)) {
    size_t colon = part.find(':');
    if (colon == std::string_view::npos || !isNumber(part.substr(0, colon)) ||
        !isNumber(part.substr(colon + 1)))
      return {};
    begins += fmt::format("{}{}", begins.empty() ? "" : ", ", part.substr(0, colon));
    ends += fmt::format("{}{}", ends.empty() ? "" : ", ", part.substr(colon + 1));
  }
  return fmt::format("{}({}, {}=[{}], {}=[{}]{})", row.name, operand, row.attributes[0].name,
                     begins, row.attributes[1].name, ends, nullables(row, 2));
}

/// Whether what stands beside an operand binds it more tightly than a mark does, or as much.
bool isBoundBeside(const Surroundings& around, SourceRange left, SourceRange right,
                   std::string_view mark) {
  std::string_view before = trimmed(around.upTo(left.begin));
  std::string_view behind = trimmed(around.from(right.end));
  bool isProduct = mark == "%" || mark == "@" || mark == "**";
  std::string_view tight = isProduct ? "*/%@" : "*/%@+-<>=!&|^~";
  return (!before.empty() && isOneOf(before.back(), tight)) ||
         (!behind.empty() && isOneOf(behind.front(), isProduct ? "*" : tight));
}

} // namespace

void suggestIndexing(lang::Diagnostic& report, const Lexer& lexer, uint32_t bracket) {
  Surroundings around(lexer);
  std::string_view index = around.from(bracket + 1);
  index = index.substr(0, index.find_first_of("[](){};"));
  uint32_t end = bracket + 1 + uint32_t(index.size());
  SourceRange operand = around.operandBefore(bracket);
  if (!around.from(end).starts_with(']') || operand.begin == operand.end)
    return;
  SourceRange whole{operand.begin, end + 1};
  std::string code(around.text(operand));
  if (const lang::OperatorRow* row = around.operatorCalled("[]"))
    if (code = elementCode(*row, std::move(code), index); !code.empty())
      report.suggest({"an element of a tensor is {}", {{whole, code}}, {}, false, true});
  if (const lang::OperatorRow* row = around.operatorCalled("[:]"))
    if (code = sliceCode(*row, around.text(operand), index); !code.empty())
      report.suggest({"a slice of a tensor is {}", {{whole, code}}, {}, false, true});
  if (isNumber(index))
    report.suggest({"a field of a tuple is written {}",
                    {{{bracket, end + 1}, fmt::format(".{}", index)}},
                    operand,
                    false,
                    true});
}

void suggestInfixCall(lang::Diagnostic& report, const Lexer& lexer, SourceRange mark) {
  Surroundings around(lexer);
  std::string_view symbol = around.text(mark);
  const lang::OperatorRow* row = around.operatorCalled(symbol);
  SourceRange left = around.operandBefore(mark.begin), right = around.operandBehind(mark.end);
  if (!row || left.begin == left.end || right.begin == right.end ||
      isBoundBeside(around, left, right, symbol))
    return;
  report.suggest({fmt::format("`{}` is {{}} here", symbol),
                  {{{left.begin, right.end},
                    fmt::format("{}({}, {}{})", row->name, around.text(left), around.text(right),
                                nullables(*row))}}});
}

void suggestPrefixCall(lang::Diagnostic& report, const Lexer& lexer, SourceRange mark,
                       std::string_view name) {
  Surroundings around(lexer);
  const lang::OperatorRow* row = around.operatorCalled(name);
  SourceRange operand = around.operandBehind(mark.end);
  if (row && operand.begin != operand.end)
    report.suggest(
        {fmt::format("`{}` is {{}} here", around.text(mark)),
         {{{mark.begin, operand.end}, fmt::format("{}({})", row->name, around.text(operand))}}});
}

void suggestMemberCall(lang::Diagnostic& report, const Lexer& lexer, uint32_t dot) {
  Surroundings around(lexer);
  SourceRange operand = around.operandBefore(dot), member = around.operandBehind(dot + 1);
  std::string_view call = around.text(member), name = call.substr(0, call.find('('));
  if (operand.begin == operand.end || name.empty() || !lexer.operators())
    return;
  const lang::OperatorRow* row = lexer.operators()->find(name);
  if (!row)
    row = lexer.operators()->find(fmt::format("nn.{}", name));
  if (!row)
    row = around.operatorCalled(name);
  bool isCall = name.size() < call.size();
  if (!row || (isCall && Surroundings::closing(call, name.size()) + 1 != call.size()))
    return;
  std::string_view arguments;
  if (isCall)
    arguments = trimmed(call.substr(name.size() + 1, call.size() - name.size() - 2));
  report.suggest({"an operator takes the value first: {}",
                  {{{operand.begin, member.end},
                    fmt::format("{}({}{}{})", row->name, around.text(operand),
                                arguments.empty() ? "" : ", ", arguments)}}});
}

} // namespace parser

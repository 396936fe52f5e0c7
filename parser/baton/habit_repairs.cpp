// Each function looks at plain text: where it takes something for what it is not, the text that
// comes out does not read, and is not shown.
#include "parser/baton/habit_repairs.h"

#include <algorithm>
#include <fmt/format.h>

namespace parser::baton {

using lang::Edit;
using lang::SourceRange;

namespace {

/// More places are not changed at once.
constexpr size_t mostPlaces = 100;

SourceRange at(uint32_t place) {
  return {place, place};
}

std::string_view trim(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(anyBlank), text.size()));
  return text.substr(0, text.find_last_not_of(anyBlank) + 1);
}

/// A text with what `$l` and `$r` stand for.
std::string filled(std::string_view with, std::string_view left, std::string_view right) {
  std::string text;
  for (size_t i = 0; i < with.size(); ++i) {
    bool isPlace = with[i] == '$' && i + 1 < with.size();
    text += !isPlace ? with.substr(i, 1) : with[i + 1] == 'l' ? trim(left) : trim(right);
    i += isPlace ? 1 : 0;
  }
  return text;
}

/// Another text for each mark from a place to the end of the brackets that it stands in, outside of
/// others.
Edits eachFrom(const MistakeText& text, uint32_t place, std::string_view mark,
               std::string_view with) {
  std::string_view right = text.from(place);
  Edits edits;
  size_t depth = 0;
  for (size_t i = 0; i < right.size() && edits.size() < mostPlaces; ++i) {
    bool closes = right[i] == ')' || right[i] == ']' || right[i] == '}';
    if (closes && depth == 0)
      break;
    depth += right[i] == '(' || right[i] == '[' || right[i] == '{' ? 1 : closes ? size_t(-1) : 0;
    uint32_t begin = place + uint32_t(i);
    if (depth == 0 && right.substr(i).starts_with(mark))
      edits.push_back({{begin, begin + uint32_t(mark.size())}, std::string(with)});
  }
  return edits;
}

Edits branches(const HabitPlace& place, SourceRange all, std::string_view condition,
               std::string_view yes, std::string_view no) {
  bool isWhole = !trim(condition).empty() && !trim(yes).empty() && !trim(no).empty();
  if (!isWhole || all.end <= all.begin || place.text.end() < all.end)
    return {};
  return {{all, fmt::format("if {} {{ {} }} else {{ {} }}", trim(condition), trim(yes), trim(no))}};
}

} // namespace

Edits replaceFound(const HabitPlace& place, std::string_view with) {
  return {{place.found, std::string(with)}};
}

Edits replaceLead(const HabitPlace& place, std::string_view with) {
  return {{place.lead, std::string(with)}};
}

Edits replaceGap(const HabitPlace& place, std::string_view with) {
  return {{{place.text.before().end, place.found.end}, std::string(with)}};
}

Edits replaceUpTo(const HabitPlace& place, std::string_view with) {
  return {{{place.lead.begin, place.text.found().begin}, std::string(with)}};
}

Edits dropLead(const HabitPlace& place, std::string_view) {
  return {{place.lead, ""}};
}

Edits dropFound(const HabitPlace& place, std::string_view) {
  std::string_view behind = place.text.from(place.found.end);
  size_t gap = std::min(behind.find_first_not_of(" \t"), behind.size());
  return {{{place.found.begin, place.found.end + uint32_t(gap)}, ""}};
}

Edits insertBefore(const HabitPlace& place, std::string_view with) {
  return {{{place.text.before().end, place.found.begin}, std::string(with)}};
}

Edits aroundBoth(const HabitPlace& place, std::string_view with) {
  const MistakeText& text = place.text;
  uint32_t begin = text.expressionBegin(place.found.begin);
  uint32_t end = text.expressionEnd(place.found.end);
  if (begin >= place.found.begin || end <= place.found.end)
    return {};
  return {{{begin, end},
           filled(with, text.text({begin, place.found.begin}), text.text({place.found.end, end}))}};
}

Edits aroundRest(const HabitPlace& place, std::string_view with) {
  const MistakeText& text = place.text;
  SourceRange all{text.before().begin, text.expressionEnd(place.found.begin)};
  if (all.end <= place.found.begin)
    return {};
  return {{all, filled(with, text.text(text.before()), text.text({place.found.begin, all.end}))}};
}

Edits otherBrackets(const HabitPlace& place, std::string_view with) {
  uint32_t begin = place.found.begin;
  char open = place.text.text({begin, begin + 1})[0];
  std::string_view right = place.text.from(begin);
  uint32_t close = open == '<' ? begin + uint32_t(std::min(right.find('>'), right.size())) + 1
                               : place.text.closing(begin);
  if (close <= begin + 1 || close > place.text.end())
    return {};
  size_t half = with.size() - 1;
  return {{{begin, begin + 1}, std::string(with.substr(0, half))},
          {{close - 1, close}, std::string(with.substr(half))}};
}

Edits replaceEach(const HabitPlace& place, std::string_view with) {
  return eachFrom(place.text, place.found.begin, place.text.text(place.found), with);
}

Edits dropEach(const HabitPlace& place, std::string_view) {
  std::string word = fmt::format("{} ", place.text.text(place.lead));
  return eachFrom(place.text, place.lead.begin, word, "");
}

Edits writeArms(const HabitPlace& place, std::string_view) {
  Edits edits = eachFrom(place.text, place.found.begin, "|", ",");
  edits[0].text = {};
  return edits;
}

Edits writeRecord(const HabitPlace& place, std::string_view) {
  Edits edits = otherBrackets(place, "()");
  for (lang::Edit& edit : eachFrom(place.text, place.found.begin + 1, ":", " ="))
    edits.push_back(std::move(edit));
  return edits;
}

Edits dropQuotes(const HabitPlace& place, std::string_view) {
  std::string_view path = place.text.text(place.found);
  return {{place.found, std::string(path.substr(1, path.size() - 2))}};
}

/// What stands in the next line is a body, which Python returns.
Edits writeBody(const HabitPlace& place, std::string_view with) {
  std::string_view rest = place.text.from(place.found.end);
  size_t next = std::min(rest.find_first_not_of(anyBlank), rest.size());
  bool isBody = with.empty() || rest.substr(0, next).find('\n') != std::string_view::npos;
  Edits edits{{place.found, std::string(isBody ? " =" : with)}};
  uint32_t begin = place.found.end + uint32_t(next);
  if (isBody && rest.substr(next).starts_with("return "))
    edits.push_back({{begin, begin + 7}, ""});
  return edits;
}

Edits wrapFound(const HabitPlace& place, std::string_view) {
  return {{{place.text.before().end, place.found.begin}, "("}, {at(place.found.end), ")"}};
}

Edits parenthesise(const HabitPlace& place, std::string_view) {
  std::string_view rest = place.text.from(place.found.end);
  uint32_t begin = place.found.end + uint32_t(std::min(rest.find_first_not_of(" \t"), rest.size()));
  return {{{place.text.before().end, begin}, "("}, {at(place.text.expressionEnd(begin)), ")"}};
}

Edits writeCons(const HabitPlace& place, std::string_view) {
  std::string_view left = place.text.upTo(place.found.begin);
  size_t end = left.find_last_not_of(" \t") + 1, begin = end;
  while (begin > 0 && isOfName(left[begin - 1]))
    --begin;
  size_t arrow = place.text.from(place.found.end).find("=>");
  if (arrow == std::string_view::npos)
    return {};
  uint32_t base = place.found.begin - uint32_t(left.size());
  uint32_t last = place.found.end + uint32_t(arrow);
  std::string_view rest = trim(place.text.text({place.found.end, last}));
  return {{{base + uint32_t(begin), last},
           fmt::format("Cons({}, {}) ", left.substr(begin, end - begin), rest)}};
}

Edits dropReturn(const HabitPlace& place, std::string_view) {
  Edits edits = replaceUpTo(place, {});
  std::string_view rest = place.text.from(place.text.found().begin);
  size_t end = rest.find_first_of(";}");
  if (end != std::string_view::npos && rest[end] == ';') {
    uint32_t mark = place.text.found().begin + uint32_t(end);
    edits.push_back({{mark, mark + 1}, ""});
  }
  return edits;
}

Edits writeFunction(const HabitPlace& place, std::string_view with) {
  uint32_t begin = place.text.found().begin;
  std::string_view rest = place.text.from(begin);
  rest = rest.substr(0, rest.find('\n'));
  size_t mark = std::string_view::npos, width = 0;
  for (size_t i = 0; i < with.size();) {
    size_t end = std::min(with.find(' ', i), with.size());
    std::string_view each = with.substr(i, end - i);
    if (size_t found = rest.find(each); found < mark) {
      mark = found;
      width = each.size();
    }
    i = end + 1;
  }
  if (mark == std::string_view::npos)
    return {};
  std::string parameters(trim(rest.substr(0, mark)));
  // `fun x y -> e` has two.
  for (size_t i = 0; (i = parameters.find(' ', i)) != std::string::npos; i += 2)
    if (i > 0 && isOfName(parameters[i - 1]))
      parameters.insert(i, ",");
  return {
      {{place.lead.begin, begin + uint32_t(mark + width)}, fmt::format("fn ({}) =", parameters)}};
}

Edits writeArrow(const HabitPlace& place, std::string_view) {
  SourceRange before = place.text.before();
  Edit mark{{before.end, place.found.end}, " ="};
  if (place.text.text(before) != ")")
    return {{before, fmt::format("fn ({})", place.text.text(before))}, mark};
  std::string_view left = place.text.upTo(before.end);
  size_t open = left.rfind('(');
  return open == std::string_view::npos
             ? Edits{}
             : Edits{{at(before.end - uint32_t(left.size() - open)), "fn "}, mark};
}

Edits writeClosure(const HabitPlace& place, std::string_view) {
  uint32_t begin = place.text.found().begin;
  std::string_view rest = place.text.from(begin);
  size_t close = rest.starts_with("||") ? 1 : rest.find('|', 1);
  if (close == std::string_view::npos)
    return {};
  return {{{begin, begin + uint32_t(close) + 1},
           fmt::format("fn ({}) =", trim(rest.substr(1, close - 1)))}};
}

Edits writeLet(const HabitPlace& place, std::string_view) {
  Edits edits{{at(place.text.before().begin), "let "}};
  if (place.text.text(place.found) != "=")
    edits.push_back({place.found, "="});
  return edits;
}

Edits writeChange(const HabitPlace& place, std::string_view) {
  const MistakeText& text = place.text;
  std::string_view mark = text.text(place.found);
  uint32_t begin = text.expressionBegin(place.found.begin);
  std::string_view name = trim(text.text({begin, place.found.begin}));
  if (name.empty() || !std::ranges::all_of(name, isOfName))
    return {};
  bool isStep = !mark.ends_with('=');
  uint32_t end = isStep ? place.found.begin + 2 : text.expressionEnd(place.found.end);
  std::string_view value = isStep ? "1" : trim(text.text({place.found.end, end}));
  std::string_view sign = isStep ? mark.substr(0, 1) : mark.substr(0, mark.size() - 1);
  return {{{begin, end}, fmt::format("let {} = {} {} {}", name, name, sign, value)}};
}

/// A tensor with another element gets its name.
Edits writeElement(const HabitPlace& place, std::string_view) {
  const MistakeText& text = place.text;
  uint32_t begin = text.expressionBegin(place.found.begin);
  uint32_t end = text.expressionEnd(place.found.end);
  std::string_view left = trim(text.text({begin, place.found.begin}));
  size_t open = left.find('[');
  std::string_view name = left.substr(0, open);
  bool isOne = open != std::string_view::npos && left.find('[', open + 1) == std::string_view::npos;
  if (!isOne || left.find_first_of(":.") != std::string_view::npos ||
      !std::ranges::all_of(name, isOfName))
    return {};
  return {{{begin, end},
           fmt::format("let {} = scatter_nd({}, {}, {})", name, name, left.substr(open),
                       trim(text.text({place.found.end, end})))}};
}

Edits writeDefinition(const HabitPlace& place, std::string_view) {
  const MistakeText& text = place.text;
  uint32_t begin = text.expressionBegin(text.before().begin);
  uint32_t name = text.text(place.lead) == "rec" ? text.found().begin : text.before().begin;
  if (!text.text({begin, name}).starts_with("let"))
    return {};
  Edits edits{{{begin, name}, "def "}};
  uint32_t end = text.expressionEnd(place.found.begin);
  if (text.from(end).starts_with(';'))
    edits.push_back({{end, end + 1}, ""});
  return edits;
}

/// The condition ends before `then`, or before the branch.
Edits writeBranches(const HabitPlace& place, std::string_view) {
  const MistakeText& text = place.text;
  bool isThen = text.text(text.found()) == "then";
  uint32_t begin = isThen ? text.found().end : text.found().begin;
  uint32_t end = text.expressionEnd(begin);
  std::string_view rest = text.text({begin, end});
  size_t otherwise = findWord(rest, "else");
  std::string_view left = text.upTo(text.before().end);
  size_t head = left.rfind("if");
  if (otherwise == std::string_view::npos || head == std::string_view::npos)
    return {};
  uint32_t first = text.before().end - uint32_t(left.size() - head);
  return branches(place, {first, end}, left.substr(head + 2), rest.substr(0, otherwise),
                  rest.substr(otherwise + 4));
}

Edits writeChoice(const HabitPlace& place, std::string_view) {
  const MistakeText& text = place.text;
  uint32_t begin = text.expressionBegin(place.found.begin);
  uint32_t end = text.expressionEnd(place.found.end);
  std::string_view left = text.text({begin, place.found.begin});
  std::string_view right = text.text({place.found.end, end});
  bool isMark = text.text(place.found) == "?";
  size_t between = isMark ? right.find(':') : findWord(right, "else");
  if (between == std::string_view::npos)
    return {};
  std::string_view middle = right.substr(0, between);
  std::string_view last = right.substr(between + (isMark ? 1 : 4));
  return isMark ? branches(place, {begin, end}, left, middle, last)
                : branches(place, {begin, end}, middle, left, last);
}

Edits writeBoth(const HabitPlace& place, std::string_view) {
  const MistakeText& text = place.text;
  uint32_t begin = text.expressionBegin(place.found.begin);
  std::string_view left = text.text({begin, place.found.begin});
  size_t mark = left.find_last_of("<>=");
  if (mark == std::string_view::npos)
    return {};
  return {{at(place.found.begin), fmt::format("&& {} ", trim(left.substr(mark + 1)))}};
}

Edits writeQuotient(const HabitPlace& place, std::string_view) {
  const MistakeText& text = place.text;
  std::string_view rest = text.from(place.lead.end);
  size_t begin = std::min(rest.find_first_not_of(" \t"), rest.size()), end = begin;
  while (end < rest.size() && (isOfName(rest[end]) || rest[end] == '.'))
    ++end;
  uint32_t first = text.called().begin;
  std::string_view left = text.upTo(first);
  while (!left.empty() && (isOfName(left.back()) || left.back() == '.')) {
    left.remove_suffix(1);
    --first;
  }
  return {{{first, place.lead.end + uint32_t(end)},
           fmt::format("floor_divide({}, {})", trim(text.text({first, place.lead.begin})),
                       rest.substr(begin, end - begin))}};
}

Edits writeComment(const HabitPlace& place, std::string_view) {
  std::string_view rest = place.text.from(place.found.begin);
  size_t end = rest.find("*)");
  if (end == std::string_view::npos)
    return {};
  uint32_t close = place.found.begin + uint32_t(end);
  return {{{place.found.begin, place.found.begin + 2}, "/*"}, {{close, close + 2}, "*/"}};
}

Edits writeImport(const HabitPlace& place, std::string_view) {
  std::string_view rest = place.text.from(place.found.end);
  std::string_view line = rest.substr(0, rest.find('\n'));
  size_t import = findWord(line, "import");
  if (import == std::string_view::npos)
    return {};
  std::string path(trim(line.substr(0, import)));
  std::ranges::replace(path, '.', '/');
  return {{{place.found.begin, place.found.end + uint32_t(line.size())}, "import " + path}};
}

Edits writeConstructors(const HabitPlace& place, std::string_view) {
  const MistakeText& text = place.text;
  std::string_view left = text.upTo(place.found.begin);
  size_t equals = left.rfind('=');
  std::string_view right = text.from(place.found.begin);
  size_t end =
      std::min({right.find("\n\n"), right.find("\ndef "), right.find("\ntype "), right.size()});
  if (equals == std::string_view::npos)
    return {};
  uint32_t first = place.found.begin - uint32_t(left.size() - equals);
  uint32_t last = place.found.begin + uint32_t(end);
  Edits edits{{{first, first + 1}, "{"}};
  bool isFirst = true;
  for (uint32_t i = first + 1; i < last && edits.size() < mostPlaces; ++i) {
    std::string_view c = text.text({i, i + 1});
    if (c == "|")
      edits.push_back({{i, i + 1}, isFirst ? "" : ","});
    isFirst = isFirst && (c == "|" || anyBlank.find(c[0]) != std::string_view::npos);
  }
  last -= uint32_t(text.text({first, last}).size() - trim(text.text({first, last})).size());
  edits.push_back({at(last), " }"});
  return edits;
}

Edits dropSigils(const HabitPlace& place, std::string_view) {
  std::string_view rest = place.text.from(place.found.begin);
  rest = rest.substr(0, rest.find("\ndef "));
  Edits edits;
  for (size_t i = 0; i + 1 < rest.size() && edits.size() < mostPlaces; ++i) {
    bool isSigil = (rest[i] == '%' || rest[i] == '@') && isOfName(rest[i + 1]);
    if (isSigil && (i == 0 || !isOfName(rest[i - 1])))
      edits.push_back({{place.found.begin + uint32_t(i), place.found.begin + uint32_t(i) + 1}, ""});
  }
  return edits;
}

} // namespace parser::baton

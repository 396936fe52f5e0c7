// The choice of names is a guess, which is tried before it is shown; so a handful is enough.
#include "lang/op/named_arguments.h"

#include "lang/op/attribute_schema.h"
#include "lang/op/op.h"

#include <algorithm>

namespace lang {

namespace {

constexpr size_t mostChoices = 4;

bool mayTake(AttributeKind kind, ArgumentForm form) {
  switch (form) {
  case ArgumentForm::Int:
    return kind == AttributeKind::Int || kind == AttributeKind::IntList ||
           kind == AttributeKind::IntOrIntList || kind == AttributeKind::Float;
  case ArgumentForm::Bool:
    return kind == AttributeKind::Bool;
  case ArgumentForm::Float:
    return kind == AttributeKind::Float;
  case ArgumentForm::IntList:
  case ArgumentForm::IntTuple:
    return kind == AttributeKind::IntList || kind == AttributeKind::IntOrIntList;
  case ArgumentForm::IntListList:
    return kind == AttributeKind::IntListList;
  case ArgumentForm::Other:
    return false;
  }
  return false;
}

void nameArgument(std::vector<Edit>& edits, const ExtraArgument& argument, std::string_view name) {
  SourceRange range = argument.range;
  if (argument.form != ArgumentForm::IntTuple) {
    edits.push_back({{range.begin, range.begin}, fmt::format("{}=", name)});
    return;
  }
  edits.push_back({{range.begin, range.begin + 1}, fmt::format("{}=[", name)});
  edits.push_back({{range.end - 1, range.end}, "]"});
}

/// The edits that give the extra arguments the names of attributes from number `first` on. Element
/// types that are not given are filled in: those without a default, or those that may be unset too.
std::vector<Edit> namesFrom(size_t first, const OperatorRow& row, std::vector<bool> given,
                            std::span<const ExtraArgument> extra, uint32_t end, bool fillsUnset) {
  std::vector<Edit> edits;
  for (size_t place = first; const ExtraArgument& argument : extra) {
    while (place < given.size() &&
           (given[place] || !mayTake(row.attributes[place].kind, argument.form)))
      ++place;
    if (place == given.size())
      return {};
    nameArgument(edits, argument, row.attributes[place].name);
    given[place] = true;
  }
  for (size_t i = 0; i < given.size(); ++i) {
    const AttributeRow& attribute = row.attributes[i];
    bool isUnset = attribute.defaultText.empty() || (fillsUnset && attribute.defaultText == "\"\"");
    if (!given[i] && isUnset && attribute.kind == AttributeKind::DType)
      edits.push_back(
          {{end, end}, words(", {}={}", attribute.name, runtime::dtypeValue(runtime::Float32))});
  }
  return edits;
}

} // namespace

std::vector<Suggestion> namedArguments(const OperatorRow& row, const std::vector<bool>& given,
                                       std::span<const ExtraArgument> extra, uint32_t end) {
  std::vector<Suggestion> result;
  if (extra.empty() || extra.size() > row.attributes.size())
    return result;
  SourceRange shown = cover(extra.front().range, extra.back().range);
  auto isInt = [](const ExtraArgument& argument) { return argument.form == ArgumentForm::Int; };
  bool isList = extra.size() > 1 && std::ranges::all_of(extra, isInt);
  for (size_t i = 0; isList && i < given.size(); ++i)
    if (!given[i] && row.attributes[i].kind == AttributeKind::IntList) {
      std::string name = fmt::format("{}=[", row.attributes[i].name);
      std::vector<Edit> edits{{{shown.begin, shown.begin}, name}, {{shown.end, shown.end}, "]"}};
      result.push_back({"a list is one attribute: {}", edits, shown});
      break;
    }
  for (bool hasDefault : {false, true})
    for (size_t i = 0; i < given.size() && result.size() < mostChoices; ++i) {
      if (given[i] || row.attributes[i].defaultText.empty() == hasDefault ||
          !mayTake(row.attributes[i].kind, extra[0].form))
        continue;
      for (bool fillsUnset : {false, true}) {
        std::vector<Edit> edits = namesFrom(i, row, given, extra, end, fillsUnset);
        if (!edits.empty())
          result.push_back({"attributes are given by name: {}", edits, shown, !result.empty()});
      }
    }
  return result;
}

} // namespace lang

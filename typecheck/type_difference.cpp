// Recursion follows the nesting of types, which the unifier bounds; shared parts are compared once.
#include "typecheck/type_difference.h"

#include "lang/ir/expr.h"
#include "lang/op/relation.h"
#include "typecheck/shape_report.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace typecheck {

using lang::Type;
using lang::TypeKind;

namespace {

/// Longer texts of types are abbreviated, those that stand beside another one sooner.
constexpr size_t longestText = 120, longestOfTwo = 80;
/// Of long types no more parts are written side by side, nor deeper inside of each other.
constexpr size_t mostParts = 6, deepestPart = 5;

std::vector<const Type*> partsOf(const Type& type) {
  std::vector<const Type*> parts(type.parts.begin(), type.parts.end());
  if (type.result)
    parts.push_back(type.result);
  return parts;
}

/// The text of a type whose parts have these texts; those without one are left out.
std::string withParts(const Type& type, const std::vector<std::string>& texts) {
  std::string list, last = type.result ? texts.back() : "";
  size_t count = texts.size() - (type.result ? 1 : 0);
  for (size_t i = 0; i < count; ++i)
    if (!texts[i].empty())
      list += (list.empty() ? "" : ", ") + texts[i];
  switch (type.kind) {
  case TypeKind::Tuple:
    return fmt::format("({}{})", list, type.parts.size() == 1 ? "," : "");
  case TypeKind::Function:
    return fmt::format("fn ({}) -> {}", list, last);
  case TypeKind::Reference:
    return fmt::format("ref({})", list);
  default:
    return fmt::format("{}[{}]", type.definition->name, list);
  }
}

/// Whether a type has parts that can be written one by one.
bool isDivisible(const Type& type) {
  return !type.parts.empty() && type.generics.empty();
}

std::string limitedText(const Type* type, size_t depth) {
  if (!isDivisible(*type))
    return lang::typeText(type);
  if (depth == 0)
    return "...";
  std::vector<std::string> texts;
  for (const Type* part : partsOf(*type)) {
    bool isLast = type->result && texts.size() == type->parts.size();
    texts.push_back(texts.size() < mostParts || isLast ? limitedText(part, depth - 1)
                    : texts.size() == mostParts        ? "..."
                                                       : "");
  }
  return withParts(*type, texts);
}

/// Compares types as far as they are known.
class Comparison {
public:
  bool agree(const Type* left, const Type* right) {
    if (left == right || left->isUnknown() || right->isUnknown() || left->isError() ||
        right->isError())
      return true;
    if (left->isTensor() && right->isTensor())
      return left->dtype == right->dtype &&
             std::ranges::equal(left->shape, right->shape, [](auto* one, auto* other) {
               return lang::matchDims(one, other) != lang::DimMatch::Different;
             });
    if (!areAlike(*left, *right))
      return false;
    auto [known, isNew] = agree_.try_emplace({left, right}, true);
    if (isNew) {
      bool same = std::ranges::equal(partsOf(*left), partsOf(*right),
                                     [this](auto* one, auto* other) { return agree(one, other); });
      agree_[{left, right}] = same;
      return same;
    }
    return known->second;
  }

  /// The first part that differs, when the types have parts that can be compared one by one.
  std::optional<size_t> firstDifference(const Type* left, const Type* right) {
    if (!areAlike(*left, *right))
      return std::nullopt;
    auto ours = partsOf(*left), theirs = partsOf(*right);
    for (size_t i = 0; i < ours.size(); ++i)
      if (!agree(ours[i], theirs[i]))
        return i;
    return std::nullopt;
  }

  /// The text of a type, with `...` for what agrees with another one; of the parts that differ,
  /// all or the first.
  std::string text(const Type* type, const Type* other, bool ofAll) {
    auto first = firstDifference(type, other);
    if (!first)
      return shortTypeText(type);
    auto ours = partsOf(*type), theirs = partsOf(*other);
    std::vector<std::string> texts;
    for (size_t i = 0; i < ours.size(); ++i) {
      bool isShown = ofAll ? !agree(ours[i], theirs[i]) : i == *first;
      bool isResult = i == type->parts.size();
      bool goesOn =
          !isShown && !isResult && i > 0 && (texts[i - 1] == "..." || texts[i - 1].empty());
      texts.push_back(isShown ? text(ours[i], theirs[i], ofAll) : goesOn ? "" : "...");
    }
    return withParts(*type, texts);
  }

private:
  static bool areAlike(const Type& left, const Type& right) {
    return isDivisible(left) && isDivisible(right) && left.kind == right.kind &&
           left.definition == right.definition && left.parts.size() == right.parts.size();
  }

  std::map<std::pair<const Type*, const Type*>, bool> agree_;
};

/// Part `index` of a type, in words.
std::string partText(const Type& type, size_t index) {
  switch (type.kind) {
  case TypeKind::Tuple:
    return fmt::format("field `.{}`", index);
  case TypeKind::Function:
    return index == type.parts.size() ? "the result" : fmt::format("parameter {}", index + 1);
  case TypeKind::Reference:
    return "what is referred to";
  default:
    return fmt::format("type argument {} of `{}`", index + 1, type.definition->name);
  }
}

/// Goes on with part `index` of a type; a field of a field is one word, `.1.0`.
void addStep(std::string& place, const Type& type, size_t index, bool isInField) {
  if (isInField && type.isTuple())
    place.insert(place.size() - 1, fmt::format(".{}", index));
  else
    place += (place.empty() ? "" : ", ") + partText(type, index);
}

} // namespace

bool agree(const Type* left, const Type* right) {
  return Comparison().agree(left, right);
}

std::string shortTypeText(const Type* type) {
  std::string text = lang::typeText(type);
  for (size_t depth = deepestPart; depth > 0 && text.size() > longestText; --depth)
    text = limitedText(type, depth);
  return text;
}

TypeDifference differenceOf(const Type* left, const Type* right) {
  TypeDifference found{lang::typeText(left), lang::typeText(right), left, right, {}};
  Comparison comparison;
  bool isInField = false;
  while (auto index = comparison.firstDifference(found.leftPart, found.rightPart)) {
    addStep(found.place, *found.leftPart, *index, isInField);
    isInField = found.leftPart->isTuple();
    found.leftPart = partsOf(*found.leftPart)[*index];
    found.rightPart = partsOf(*found.rightPart)[*index];
  }
  auto isLong = [&] { return std::max(found.left.size(), found.right.size()) > longestOfTwo; };
  found.isAbbreviated = isLong();
  for (bool ofAll : {true, false})
    if (isLong()) {
      found.left = comparison.text(left, right, ofAll);
      found.right = comparison.text(right, left, ofAll);
    }
  return found;
}

void showDifference(lang::Diagnostic& report, const Type* expected, const Type* found) {
  TypeDifference difference = differenceOf(expected, found);
  const Type &left = *difference.leftPart, &right = *difference.rightPart;
  if (difference.isAbbreviated && !difference.place.empty())
    report.note(fmt::format("the difference is in {}: `{}` and `{}`", difference.place,
                            shortTypeText(&left), shortTypeText(&right)));
  if (difference.isAbbreviated && left.isTuple() && right.isTuple() &&
      left.parts.size() != right.parts.size())
    report.note(
        fmt::format("the tuples have {} and {} fields", left.parts.size(), right.parts.size()));
  showMismatch(report, &left, &right);
}

} // namespace typecheck

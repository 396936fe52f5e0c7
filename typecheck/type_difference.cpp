// Recursion follows the nesting of types, which the unifier bounds; shared parts are compared once.
#include "typecheck/type_difference.h"

#include "lang/ir/expr.h"
#include "lang/op/relation.h"
#include "typecheck/shape_report.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace typecheck {

using lang::Notation;
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
std::string withParts(const Type& type, const std::vector<std::string>& texts, Notation notation) {
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
    return fmt::format("{}[{}]", runtime::plainName(type.definition->name).in(notation), list);
  }
}

/// Whether a type has parts that can be written one by one.
bool isDivisible(const Type& type) {
  return !type.parts.empty() && type.generics.empty();
}

std::string limitedText(const Type* type, size_t depth, Notation notation) {
  if (!isDivisible(*type))
    return lang::typeText(type, notation);
  if (depth == 0)
    return "...";
  std::vector<std::string> texts;
  for (const Type* part : partsOf(*type)) {
    bool isLast = type->result && texts.size() == type->parts.size();
    texts.push_back(texts.size() < mostParts || isLast ? limitedText(part, depth - 1, notation)
                    : texts.size() == mostParts        ? "..."
                                                       : "");
  }
  return withParts(*type, texts, notation);
}

std::string shortText(const Type* type, Notation notation) {
  std::string text = lang::typeText(type, notation);
  for (size_t depth = deepestPart; depth > 0 && text.size() > longestText; --depth)
    text = limitedText(type, depth, notation);
  return text;
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
  std::string text(const Type* type, const Type* other, bool ofAll, Notation notation) {
    auto first = firstDifference(type, other);
    if (!first)
      return shortText(type, notation);
    auto ours = partsOf(*type), theirs = partsOf(*other);
    std::vector<std::string> texts;
    for (size_t i = 0; i < ours.size(); ++i) {
      bool isShown = ofAll ? !agree(ours[i], theirs[i]) : i == *first;
      bool isResult = i == type->parts.size();
      bool goesOn =
          !isShown && !isResult && i > 0 && (texts[i - 1] == "..." || texts[i - 1].empty());
      texts.push_back(isShown ? text(ours[i], theirs[i], ofAll, notation) : goesOn ? "" : "...");
    }
    return withParts(*type, texts, notation);
  }

private:
  static bool areAlike(const Type& left, const Type& right) {
    return isDivisible(left) && isDivisible(right) && left.kind == right.kind &&
           left.definition == right.definition && left.parts.size() == right.parts.size();
  }

  std::map<std::pair<const Type*, const Type*>, bool> agree_;
};

/// The way to a part of a type, in words; a field of a field is one word, `.1.0`.
class Way {
public:
  void add(const Type& type, size_t index) {
    if (type.isTuple()) {
      fields_ += fmt::format(".{}", index);
      return;
    }
    endFields();
    steps_.push_back(step(type, index));
  }

  lang::Words take() {
    endFields();
    return steps_.empty() ? lang::Words() : runtime::joined(std::move(steps_), ", ");
  }

private:
  void endFields() {
    if (!fields_.empty())
      steps_.push_back(fmt::format("field `{}`", std::exchange(fields_, {})));
  }

  static lang::Words step(const Type& type, size_t index) {
    if (type.kind == TypeKind::Function)
      return index == type.parts.size() ? "the result" : fmt::format("parameter {}", index + 1);
    if (type.kind == TypeKind::Reference)
      return "what is referred to";
    return lang::words("type argument {} of `{}`", index + 1,
                       lang::plainName(type.definition->name));
  }

  std::vector<lang::Words> steps_;
  std::string fields_;
};

} // namespace

bool agree(const Type* left, const Type* right) {
  return Comparison().agree(left, right);
}

lang::Words shortType(const Type* type) {
  return lang::Words([type](Notation notation) { return shortText(type, notation); });
}

TypeDifference differenceOf(const Type* left, const Type* right) {
  TypeDifference found{lang::spelled(left), lang::spelled(right), left, right, {}};
  Comparison comparison;
  Way way;
  while (auto index = comparison.firstDifference(found.leftPart, found.rightPart)) {
    way.add(*found.leftPart, *index);
    found.leftPart = partsOf(*found.leftPart)[*index];
    found.rightPart = partsOf(*found.rightPart)[*index];
  }
  found.place = way.take();
  auto lengthOf = [](const lang::Words& type) { return type.plain().size(); };
  auto isLong = [&] {
    return std::max(lengthOf(found.left), lengthOf(found.right)) > longestOfTwo;
  };
  auto compared = [](const Type* type, const Type* other, bool ofAll) {
    return lang::Words([type, other, ofAll](Notation notation) {
      return Comparison().text(type, other, ofAll, notation);
    });
  };
  found.isAbbreviated = isLong();
  for (bool ofAll : {true, false})
    if (isLong()) {
      found.left = compared(left, right, ofAll);
      found.right = compared(right, left, ofAll);
    }
  return found;
}

void showDifference(lang::Diagnostic& report, const Type* expected, const Type* found) {
  TypeDifference difference = differenceOf(expected, found);
  const Type &left = *difference.leftPart, &right = *difference.rightPart;
  if (difference.isAbbreviated && !difference.place.empty())
    report.note(lang::words("the difference is in {}: `{}` and `{}`", difference.place,
                            shortType(&left), shortType(&right)));
  if (difference.isAbbreviated && left.isTuple() && right.isTuple() &&
      left.parts.size() != right.parts.size())
    report.note(
        fmt::format("the tuples have {} and {} fields", left.parts.size(), right.parts.size()));
  showMismatch(report, &left, &right);
}

} // namespace typecheck

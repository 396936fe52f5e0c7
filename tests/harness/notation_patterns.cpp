// A field that is not asked for is left out, or has a wildcard.
#include "tests/harness/notation_patterns.h"

#include "lang/ir/expr.h"
#include "tests/harness/types.h"

#include <algorithm>
#include <fmt/format.h>

namespace harness {

using namespace lang;

namespace {

const Constructor* constructorOf(const MatchPattern& pattern, const Type* type) {
  for (const Constructor* each : type->definition->constructors)
    if (each->name == pattern.constructor)
      return each;
  return nullptr;
}

const Type* partType(TypeContext& types, const MatchPattern& pattern, size_t part,
                     const Type* type) {
  return type->isTuple() ? type->parts[part]
                         : fieldType(types, *constructorOf(pattern, type), part, type);
}

bool saysTypes(const MatchPattern& pattern) {
  return (pattern.kind == PatternKind::Var && pattern.binder.isAnnotated);
}

} // namespace

bool alwaysFits(TypeContext& types, const MatchPattern& pattern, const Type* type) {
  if (pattern.kind == PatternKind::Constructor && type->definition->constructors.size() > 1)
    return false;
  for (size_t i = 0; i < pattern.parts.size(); ++i)
    if (!alwaysFits(types, pattern.parts[i], partType(types, pattern, i, type)))
      return false;
  return true;
}

/// All constructors of a data type, in place of `_`.
std::string NotationPatterns::alternatives(const Type* type, NodeId id) {
  size_t count = type->definition->constructors.size();
  size_t first = spelling_.index(Form::Alternatives, id, count);
  std::string text;
  for (size_t i = 0; i < count; ++i) {
    const Constructor& each = *type->definition->constructors[(first + i) % count];
    std::string parts;
    for (size_t j = 0; j < each.fields.size(); ++j)
      parts += j == 0 ? "_" : ", _";
    text += (i == 0 ? "" : " | ") + types_.constructor(std::string(each.name)) +
            (parts.empty() ? "" : "(" + parts + ")");
  }
  return text;
}

/// `list(a, b)` for all of a list.
std::optional<std::string> NotationPatterns::list(const MatchPattern& pattern, const Type* type,
                                                  NodeId id, bool isAlone) {
  std::string elements;
  const MatchPattern* rest = &pattern;
  for (; rest->constructor == "Cons"; rest = &rest->parts[1])
    elements +=
        (elements.empty() ? "" : ", ") + this->pattern(rest->parts[0], type->parts[0], id, isAlone);
  if (rest->constructor != "Nil" || plan_.hides("list") ||
      !spelling_.takes(Form::ListPattern, id, 60))
    return std::nullopt;
  return "list(" + elements + ")";
}

std::string NotationPatterns::parts(const MatchPattern& pattern, const Type* type, NodeId id,
                                    bool isAlone) {
  bool byField = types_.isOwn(*type->definition) &&
                 std::ranges::none_of(pattern.parts, saysTypes) &&
                 spelling_.takes(Form::FieldPattern, id, 40);
  std::string text;
  for (size_t i = 0; i < pattern.parts.size(); ++i) {
    if (byField && pattern.parts[i].kind == PatternKind::Wildcard)
      continue;
    std::string part = this->pattern(pattern.parts[i], partType(*program_.types, pattern, i, type),
                                     id + i + 1, isAlone);
    text += (text.empty() ? "" : ", ") + (byField ? fmt::format("u{} = ", i) : "") + part;
  }
  if (!text.empty() || pattern.parts.empty())
    return text;
  return this->pattern(pattern.parts[0], partType(*program_.types, pattern, 0, type), id, isAlone) +
         [&] {
           std::string wildcards;
           for (size_t i = 1; i < pattern.parts.size(); ++i)
             wildcards += ", _";
           return wildcards;
         }();
}

std::string NotationPatterns::pattern(const MatchPattern& pattern, const Type* type, NodeId id,
                                      bool isAlone) {
  switch (pattern.kind) {
  case PatternKind::Wildcard: {
    bool mayChoose = type->kind == TypeKind::Data && type->definition->constructors.size() > 1;
    return mayChoose && !isAlone && spelling_.takes(Form::Alternatives, id, 25)
               ? alternatives(type, id)
               : "_";
  }
  case PatternKind::Var:
    return notationName(pattern.binder.name) +
           (pattern.binder.isAnnotated ? ": " + types_.annotation(pattern.binder) : "");
  case PatternKind::Tuple: {
    std::string text;
    for (size_t i = 0; i < pattern.parts.size(); ++i)
      text += (i == 0 ? "" : ", ") +
              this->pattern(pattern.parts[i], type->parts[i], id + i + 1, isAlone);
    return "(" + text + (pattern.parts.size() == 1 ? ",)" : ")");
  }
  default:
    break;
  }
  if (type->definition->name == "List")
    if (auto list = this->list(pattern, type, id, isAlone))
      return *list;
  std::string parts = this->parts(pattern, type, id, isAlone);
  // In a `let` a word alone is a name.
  bool hasBrackets = !parts.empty() || isAlone;
  return types_.constructor(pattern.constructor) + (hasBrackets ? "(" + parts + ")" : "");
}

} // namespace harness

// Types. A scalar has its short name alone.
#include "tests/harness/notation_types.h"

#include "lang/ir/expr.h"
#include "runtime/short_names.h"
#include "stdlib/ops.h"
#include "tests/harness/random.h"
#include "tests/harness/types.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>

namespace harness {

using namespace lang;

std::string notationName(const std::string& name) {
  static const std::set<std::string> words{"let",   "lazy", "fn",     "def", "if",   "else",
                                           "type",  "with", "import", "as",  "test", "true",
                                           "false", "_",    "inf",    "nan", "match"};
  static const std::set<std::string> numbers{"inff16", "infbf16", "inff32", "inff64",
                                             "nanf16", "nanbf16", "nanf32", "nanf64"};
  bool isPlain = !words.contains(name) && !numbers.contains(name) &&
                 std::ranges::all_of(name, [](unsigned char letter) {
                   return std::isalnum(letter) || letter == '_';
                 });
  return isPlain ? name : "`" + name + "`";
}

std::string NotationTypes::global(const Node& node) const {
  const OperatorTable& operators = stdlib::operatorTable();
  bool isOfOperator = operators.find(node.text) || operators.find("nn." + node.text);
  if (node.isPrelude)
    return plan_.hides(node.text) || isOfOperator ? "prelude." + node.text : node.text;
  bool isElsewhere = plan_.imported.contains(node.text) && !isImported_;
  return (isElsewhere ? "parts." : "") + notationName(node.text);
}

bool NotationTypes::isOwn(const TypeDefinition& definition) const {
  return std::ranges::count(program_.dataTypes, &definition, &DataTypeText::definition) > 0;
}

std::string NotationTypes::constructor(const std::string& name) const {
  bool isDefined = std::ranges::any_of(program_.dataTypes, [&](const DataTypeText& data) {
    return std::ranges::any_of(data.definition->constructors,
                               [&](const Constructor* each) { return each->name == name; });
  });
  return (isDefined && plan_.hasImport && !isImported_ ? "parts." : "") + name;
}

/// The shape of a tensor without brackets.
std::string NotationTypes::shape(const Type* type) const {
  std::string text = typeText(type);
  size_t begin = text.find("[(") + 2;
  return text.substr(begin, text.rfind("),") - begin);
}

std::string NotationTypes::list(Types parts) {
  std::string text;
  for (const Type* part : parts)
    text += (text.empty() ? "" : ", ") + type(part);
  return text;
}

std::string NotationTypes::type(const Type* type) {
  switch (type->kind) {
  case TypeKind::Tensor: {
    std::string element = runtime::shortDTypeName(type->dtype);
    if (type->shape.empty())
      return element;
    uint64_t place = mixSeed(0, typeText(type));
    return spelling_.takes(Form::LongType, place, 10)
               ? fmt::format("Tensor[({}), {}]", shape(type), runtime::dtypeName(type->dtype))
               : fmt::format("{}[{}]", element, shape(type));
  }
  case TypeKind::Tuple:
    return "(" + list(type->parts) + (type->parts.size() == 1 ? ",)" : ")");
  case TypeKind::Function: {
    std::string names;
    for (const TypeParameter* generic : type->generics)
      names += (names.empty() ? "" : ", ") + std::string(generic->name);
    return fmt::format("fn{}({}) -> {}", names.empty() ? "" : "[" + names + "]", list(type->parts),
                       this->type(type->result));
  }
  case TypeKind::Reference:
    return "Ref[" + list(type->parts) + "]";
  case TypeKind::Data: {
    std::string room = isOwn(*type->definition) && plan_.hasImport && !isImported_ ? "parts." : "";
    std::string arguments = list(type->parts);
    return room + std::string(type->definition->name) +
           (arguments.empty() ? "" : "[" + arguments + "]");
  }
  case TypeKind::Dimension:
    return dimText(type->shape[0]);
  default:
    return typeText(type);
  }
}

/// The type with `?` for every size.
std::string NotationTypes::weak(const Type* weakened) {
  return type(
      changeDims(*program_.types, weakened, [&](const Dim*) { return program_.types->any(); }));
}

std::string NotationTypes::annotation(const Binder& binder) {
  if (binder.isWeak)
    return weak(binder.type);
  if (style == DimStyle::Named)
    return type(binder.type);
  return type(changeDims(*program_.types, binder.type, [&](const Dim* dim) {
    return dim->isConstant() ? dim : program_.types->any();
  }));
}

std::string NotationTypes::annotated(const Type* type, NodeId id, size_t part) {
  std::string text = annotation({.name = {}, .type = type, .isAnnotated = true});
  bool isClosed = !hasOpenDims(type) && !anyPart(type, [](const Type* inner) {
    return inner->kind == TypeKind::Variable || !inner->generics.empty();
  });
  if (!type->isTuple() || !isClosed || !spelling_.takes(Form::Alias, id * 8 + part, 40))
    return text;
  return aliases_
      .try_emplace(text, fmt::format("Alias{}{}", isImported_ ? "Of" : "", aliases_.size()))
      .first->second;
}

std::string NotationTypes::partialTensor(const Type* type, NodeId id, size_t part) {
  std::string text = annotation({.name = {}, .type = type, .isAnnotated = true});
  if (!type->isTensor() || type->shape.empty() || type->isWide ||
      !spelling_.takes(Form::PartialType, id * 8 + part, 30))
    return text;
  size_t left = spelling_.index(Form::PartialType, id * 8 + part, type->shape.size());
  std::string sizes;
  for (size_t i = 0; i < type->shape.size(); ++i)
    sizes += (i == 0 ? "" : ", ") + (i == left ? "_" : dimText(type->shape[i]));
  return fmt::format("{}[{}]", runtime::shortDTypeName(type->dtype), sizes);
}

std::string NotationTypes::dataType(const TypeDefinition& definition) {
  std::string names, members;
  for (const TypeParameter* generic : definition.generics)
    names += (names.empty() ? "[" : ", ") + std::string(generic->name);
  bool isRecord =
      definition.constructors.size() == 1 && definition.constructors[0]->name == definition.name;
  for (const Constructor* each : definition.constructors) {
    std::string fields;
    for (size_t i = 0; i < each->fields.size(); ++i)
      fields += fmt::format("{}u{}: {}", i == 0 ? "" : ", ", i, type(each->fields[i]));
    members +=
        isRecord ? fields
                 : fmt::format("  {}{}\n", each->name, fields.empty() ? "," : "(" + fields + "),");
  }
  return fmt::format("type {}{} {{{}{}}}\n", definition.name, names.empty() ? "" : names + "]",
                     isRecord ? " " : "\n", members);
}

} // namespace harness

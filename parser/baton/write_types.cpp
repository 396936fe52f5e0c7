// Patterns, types and sizes.
#include "parser/baton/writer.h"
#include "runtime/short_names.h"

#include <fmt/format.h>

namespace parser::baton {

using namespace surface;

namespace {

/// The name of a type; element types have short ones.
std::string typeName(std::string_view name) {
  auto dtype = runtime::parseDType(name);
  bool isLong = dtype && runtime::dtypeName(*dtype) == name;
  return name == "_" ? "_" : isLong ? runtime::shortDTypeName(*dtype) : nameText(name);
}

} // namespace

void Writer::planPattern(const Pattern& pattern) {
  switch (pattern.kind) {
  case PatternKind::Wildcard:
    return text("_");
  case PatternKind::Local: {
    const auto& local = as<LocalPattern>(&pattern);
    text(nameText(local.name.text));
    if (local.type) {
      text(": ");
      type(local.type);
    }
    return;
  }
  case PatternKind::Literal:
    return text(literalText(*as<LiteralPattern>(&pattern).value));
  case PatternKind::Either: {
    const auto& either = as<EitherPattern>(&pattern);
    for (const Pattern* each : either.alternatives) {
      if (each != either.alternatives.front())
        text(" | ");
      this->pattern(each);
    }
    return;
  }
  case PatternKind::Tuple: {
    const auto& tuple = as<TuplePattern>(&pattern);
    text("(");
    list(tuple.fields, [&](const Pattern* field) { this->pattern(field); });
    return text(tuple.fields.size() == 1 ? ",)" : ")");
  }
  case PatternKind::Constructor: {
    const auto& constructor = as<ConstructorPattern>(&pattern);
    text(nameText(constructor.name.text));
    if (constructor.fields.empty())
      return;
    text("(");
    size_t i = 0;
    list(constructor.fields, [&](const Pattern* field) {
      if (!constructor.fieldNames.empty())
        text(nameText(constructor.fieldNames[i++].text) + " = ");
      this->pattern(field);
    });
    return text(")");
  }
  }
}

void Writer::types(std::span<const Type* const> types) {
  for (size_t i = 0; i < types.size(); ++i) {
    if (i > 0)
      text(", ");
    type(types[i]);
  }
}

void Writer::planType(const Type& type) {
  switch (type.kind) {
  case TypeKind::Named: {
    const auto& named = as<NamedType>(&type);
    text(typeName(named.name));
    if (named.arguments.empty())
      return;
    text("[");
    types(named.arguments);
    return text("]");
  }
  case TypeKind::Tuple: {
    const auto& tuple = as<TupleType>(&type);
    text("(");
    types(tuple.fields);
    return text(tuple.fields.size() == 1 ? ",)" : ")");
  }
  case TypeKind::Function: {
    const auto& function = as<FunctionType>(&type);
    text("fn");
    generics(function.generics);
    text("(");
    types(function.parameters);
    text(") -> ");
    return this->type(function.result);
  }
  case TypeKind::Ref:
    text("Ref[");
    this->type(as<RefType>(&type).inner);
    return text("]");
  case TypeKind::Size:
    return dim(as<SizeType>(&type).dim);
  default:
    return text("_");
  }
}

void Writer::planDim(const Dim& size, Binding least) {
  switch (size.kind) {
  case DimKind::Integer:
    return text(fmt::format("{}{}", size.value, size.is64 ? "i64" : ""));
  case DimKind::Named:
    return text(nameText(size.name));
  case DimKind::Hole:
    return text("_");
  case DimKind::Leading:
    return text("..");
  case DimKind::Any:
  case DimKind::Meta:
    return text("?");
  default:
    break;
  }
  bool isSum = size.kind == DimKind::Sum || size.kind == DimKind::Difference;
  Binding own = isSum ? Binding::Sum : Binding::Product;
  if (own < least)
    text("(");
  dim(size.left, own);
  text(size.kind == DimKind::Sum          ? " + "
       : size.kind == DimKind::Difference ? " - "
       : size.kind == DimKind::Product    ? " * "
                                          : " / ");
  dim(size.right, Binding(uint8_t(own) + 1));
  if (own < least)
    text(")");
}

} // namespace parser::baton

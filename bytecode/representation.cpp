// Recursion follows types, whose nesting the checker bounds.
#include "bytecode/representation.h"

#include <algorithm>

namespace bytecode {

using lang::Type;
using lang::TypeKind;

namespace {

const Rep* find(const Environment& environment, const lang::TypeParameter* parameter) {
  auto found = std::ranges::find(environment, parameter, &Environment::value_type::first);
  return found == environment.end() ? nullptr : &found->second;
}

} // namespace

Rep repOf(const Type* type, const Environment& environment) {
  if (!type)
    return reference;
  if (type->kind == TypeKind::Variable)
    if (const Rep* known = find(environment, type->parameter))
      return *known;
  bool isScalar = type->isTensor() && type->shape.empty() && type->dtype.lanes == 1 &&
                  type->dtype.isComputable();
  return isScalar ? Rep{vm::Hold::Scalar, type->dtype} : reference;
}

const Type* fieldType(lang::TypeContext& types, const Type* field, const Type* data) {
  auto mapped = [&](lang::Types parts) {
    std::vector<const Type*> result;
    for (const Type* part : parts)
      result.push_back(fieldType(types, part, data));
    return result;
  };
  auto generics = data->definition->generics;
  switch (field->kind) {
  case TypeKind::Variable: {
    auto found = std::ranges::find(generics, field->parameter);
    return found == generics.end() ? field : data->parts[size_t(found - generics.begin())];
  }
  case TypeKind::Tuple:
    return types.tuple(mapped(field->parts));
  case TypeKind::Function:
    return types.function(mapped(field->parts), fieldType(types, field->result, data),
                          field->generics);
  case TypeKind::Reference:
    return types.reference(fieldType(types, field->parts[0], data));
  case TypeKind::Data:
    return types.data(field->definition, mapped(field->parts));
  default:
    return field;
  }
}

void matchGenerics(const Type* pattern, const Type* type, const Environment& outer,
                   std::span<const lang::TypeParameter* const> generics, Environment& found) {
  if (!pattern || !type)
    return;
  if (pattern->kind == TypeKind::Variable) {
    if (std::ranges::find(generics, pattern->parameter) != generics.end() &&
        !find(found, pattern->parameter))
      found.emplace_back(pattern->parameter, repOf(type, outer));
    return;
  }
  if (pattern->kind != type->kind || pattern->parts.size() != type->parts.size())
    return;
  for (size_t i = 0; i < pattern->parts.size(); ++i)
    matchGenerics(pattern->parts[i], type->parts[i], outer, generics, found);
  matchGenerics(pattern->result, type->result, outer, generics, found);
}

Environment ordered(std::span<const lang::TypeParameter* const> generics,
                    const Environment& found) {
  Environment result;
  for (const lang::TypeParameter* generic : generics) {
    const Rep* known = find(found, generic);
    result.emplace_back(generic, known ? *known : reference);
  }
  return result;
}

} // namespace bytecode

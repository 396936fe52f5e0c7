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

} // namespace bytecode

// Recursion follows types, whose nesting the checker bounds.
#include "vm/bytecode/representation.h"

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

const Type* substitute(lang::TypeContext& types, const Type* type, const TypeArguments& arguments) {
  if (arguments.empty())
    return type;
  auto mapped = [&](lang::Types parts) {
    std::vector<const Type*> result;
    for (const Type* part : parts)
      result.push_back(substitute(types, part, arguments));
    return result;
  };
  switch (type->kind) {
  case TypeKind::Variable: {
    auto found = std::ranges::find(arguments, type->parameter, &TypeArguments::value_type::first);
    return found == arguments.end() ? type : found->second;
  }
  case TypeKind::Tuple:
    return types.tuple(mapped(type->parts));
  case TypeKind::Function:
    return types.function(mapped(type->parts), substitute(types, type->result, arguments),
                          type->generics);
  case TypeKind::Reference:
    return types.reference(substitute(types, type->parts[0], arguments));
  case TypeKind::Data:
    return types.data(type->definition, mapped(type->parts));
  default:
    return type;
  }
}

const Type* fieldType(lang::TypeContext& types, const Type* field, const Type* data) {
  TypeArguments arguments;
  for (size_t i = 0; i < data->parts.size(); ++i)
    arguments.emplace_back(data->definition->generics[i], data->parts[i]);
  return substitute(types, field, arguments);
}

} // namespace bytecode

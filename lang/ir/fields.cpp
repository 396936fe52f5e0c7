// A definition is written over its type parameters; each use has arguments for them.
#include "lang/ir/fields.h"

#include <algorithm>

namespace lang {

const Type* rebuilt(TypeContext& types, const Type* type,
                    const std::function<const Type*(const Type*)>& ofVariable,
                    const std::function<const Dim*(const Dim*)>& ofDim) {
  std::vector<const Type*> parts;
  for (const Type* part : type->parts)
    parts.push_back(rebuilt(types, part, ofVariable, ofDim));
  std::vector<const Dim*> shape;
  for (const Dim* old : type->shape)
    shape.push_back(ofDim(old));
  switch (type->kind) {
  case TypeKind::Variable:
    return ofVariable(type);
  case TypeKind::Tensor:
    return types.tensor(shape, type->dtype, type->isWide);
  case TypeKind::Tuple:
    return types.tuple(parts);
  case TypeKind::Function:
    return types.function(parts, rebuilt(types, type->result, ofVariable, ofDim), type->generics);
  case TypeKind::Reference:
    return types.reference(parts[0]);
  case TypeKind::Data:
    return types.data(type->definition, parts);
  case TypeKind::Dimension:
    return types.dimension(shape[0]);
  default:
    return type;
  }
}

std::vector<const Type*> fieldTypes(TypeContext& types, const Constructor& constructor,
                                    const Type& data) {
  const auto& generics = data.definition->generics;
  auto argument = [&](const Type* variable) {
    auto place = std::ranges::find(generics, variable->parameter);
    return place == generics.end() ? variable : data.parts[size_t(place - generics.begin())];
  };
  auto dim = [&](const Dim* old) {
    return types.substitute(old, [&](const Dim* leaf) {
      for (size_t i = 0; i < data.parts.size(); ++i)
        if (data.parts[i]->kind == TypeKind::Dimension && leaf == types.symbol(generics[i]))
          return data.parts[i]->shape[0];
      return leaf;
    });
  };
  std::vector<const Type*> found;
  for (const Type* field : constructor.fields)
    found.push_back(rebuilt(types, field, argument, dim));
  return found;
}

bool isRecord(const Type& type) {
  return type.kind == TypeKind::Data && type.definition->constructors.size() == 1;
}

std::vector<const Type*> fieldTypes(TypeContext& types, const Type& tupleOrRecord) {
  if (tupleOrRecord.isTuple())
    return {tupleOrRecord.parts.begin(), tupleOrRecord.parts.end()};
  return fieldTypes(types, *tupleOrRecord.definition->constructors[0], tupleOrRecord);
}

} // namespace lang

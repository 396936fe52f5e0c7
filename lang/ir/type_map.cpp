// Recursion follows the depth of types, which the reader and the checker bound.
#include "lang/ir/type_map.h"

namespace lang {

const Dim* TypeMap::dim(const Dim* dim) {
  if (!dim->hasSymbol)
    return dim;
  auto [known, isNew] = dims_.try_emplace(dim);
  if (!isNew)
    return known->second;
  const Dim* mapped = types_.substitute(dim, [&](const Dim* variable) {
    if (variable->parameter)
      return types_.symbol(leaves_.parameter(variable->parameter));
    if (variable->origin)
      return types_.symbol(variable->name, leaves_.origin(variable->origin));
    return variable;
  });
  return dims_[dim] = mapped;
}

const Type* TypeMap::operator()(const Type* type) {
  if (!type)
    return nullptr;
  if (auto known = known_.find(type); known != known_.end())
    return known->second;
  const Type* mapped = mapParts(*type);
  return known_[type] = mapped;
}

const Type* TypeMap::mapParts(const Type& type) {
  std::vector<const Dim*> dims;
  for (const Dim* extent : type.shape)
    dims.push_back(dim(extent));
  std::vector<const TypeParameter*> generics;
  for (const TypeParameter* generic : type.generics)
    generics.push_back(leaves_.parameter(generic));
  std::vector<const Type*> parts;
  for (const Type* part : type.parts)
    parts.push_back((*this)(part));
  switch (type.kind) {
  case TypeKind::Tensor:
    return types_.tensor(dims, type.dtype, type.isWide);
  case TypeKind::Dimension:
    return types_.dimension(dims[0]);
  case TypeKind::Tuple:
    return types_.tuple(parts);
  case TypeKind::Function:
    return types_.function(parts, (*this)(type.result), generics);
  case TypeKind::Reference:
    return types_.reference(parts[0]);
  case TypeKind::Variable:
    return types_.variable(leaves_.parameter(type.parameter));
  case TypeKind::Data:
    return types_.data(leaves_.definition(type.definition), parts);
  case TypeKind::Operator:
  case TypeKind::Unknown:
  case TypeKind::Error:
    break;
  }
  return &type;
}

} // namespace lang

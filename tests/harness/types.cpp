// Recursion is over the depth of generated types, which is small.
#include "tests/harness/types.h"

#include <algorithm>

namespace harness {

using namespace lang;

namespace {

bool matchDim(const Dim* pattern, const Dim* dim, Bindings& bindings) {
  if (pattern->kind != DimKind::Symbol)
    return pattern == dim;
  auto [found, isNew] = bindings.dims.try_emplace(pattern, dim);
  return isNew || found->second == dim;
}

bool isBindable(const TypeParameter* parameter, std::span<const TypeParameter* const> generics) {
  return std::ranges::find(generics, parameter) != generics.end();
}

/// The type with `change` applied to every tensor, variable and size in it.
const Type* mapType(TypeContext& types, const Type* type,
                    const std::function<const Type*(const Type*)>& change) {
  std::vector<const Type*> parts;
  for (const Type* part : type->parts)
    parts.push_back(mapType(types, part, change));
  switch (type->kind) {
  case TypeKind::Tensor:
  case TypeKind::Variable:
  case TypeKind::Dimension:
    return change(type);
  case TypeKind::Tuple:
    return types.tuple(parts);
  case TypeKind::Function:
    return types.function(parts, mapType(types, type->result, change), type->generics);
  case TypeKind::Reference:
    return types.reference(parts[0]);
  case TypeKind::Data:
    return types.data(type->definition, parts);
  default:
    return type;
  }
}

} // namespace

bool matchType(const Type* pattern, const Type* type,
               std::span<const TypeParameter* const> generics, Bindings& bindings) {
  if (pattern->kind == TypeKind::Variable && isBindable(pattern->parameter, generics)) {
    auto [found, isNew] = bindings.types.try_emplace(pattern->parameter, type);
    return isNew || found->second == type;
  }
  if (pattern->kind != type->kind || pattern->dtype != type->dtype ||
      pattern->parts.size() != type->parts.size() || pattern->shape.size() != type->shape.size() ||
      pattern->parameter != type->parameter || pattern->definition != type->definition ||
      !type->generics.empty())
    return false;
  for (size_t i = 0; i < type->shape.size(); ++i)
    if (!matchDim(pattern->shape[i], type->shape[i], bindings))
      return false;
  for (size_t i = 0; i < type->parts.size(); ++i)
    if (!matchType(pattern->parts[i], type->parts[i], generics, bindings))
      return false;
  return !type->result || matchType(pattern->result, type->result, generics, bindings);
}

const Type* changeDims(TypeContext& types, const Type* type,
                       const std::function<const Dim*(const Dim*)>& change) {
  return mapType(types, type, [&](const Type* leaf) {
    if (leaf->kind == TypeKind::Dimension)
      return types.dimension(change(leaf->shape[0]));
    if (!leaf->isTensor())
      return leaf;
    std::vector<const Dim*> shape;
    for (const Dim* dim : leaf->shape)
      shape.push_back(change(dim));
    return types.tensor(Dims(shape), leaf->dtype);
  });
}

const Type* substitute(TypeContext& types, const Type* type, const Bindings& bindings) {
  auto replaced = [&](const Dim* symbol) {
    auto found = bindings.dims.find(symbol);
    return found == bindings.dims.end() ? symbol : found->second;
  };
  return mapType(types, type, [&](const Type* leaf) {
    if (leaf->isTensor() || leaf->kind == TypeKind::Dimension)
      return changeDims(types, leaf,
                        [&](const Dim* dim) { return types.substitute(dim, replaced); });
    auto found = bindings.types.find(leaf->parameter);
    return found == bindings.types.end() ? leaf : found->second;
  });
}

const Type* fieldType(TypeContext& types, const Constructor& constructor, size_t field,
                      const Type* data) {
  Bindings bindings;
  const auto& generics = constructor.definition->generics;
  for (size_t i = 0; i < generics.size(); ++i)
    if (isSize(generics[i]))
      bindings.dims.emplace(types.symbol(generics[i]), data->parts[i]->shape[0]);
    else
      bindings.types.emplace(generics[i], data->parts[i]);
  return substitute(types, constructor.fields[field], bindings);
}

bool anyPart(const Type* type, const std::function<bool(const Type*)>& found) {
  auto inside = [&](const Type* part) { return anyPart(part, found); };
  return found(type) || std::ranges::any_of(type->parts, inside) ||
         (type->result && inside(type->result));
}

namespace {

/// Whether a size is one of the parameters, alone: only then a tensor tells it.
bool isParameter(const Dim* dim, std::span<const TypeParameter* const> generics) {
  return dim->parameter && isBindable(dim->parameter, generics);
}

} // namespace

bool mentions(const Type* type, std::span<const TypeParameter* const> generics) {
  return anyPart(type, [&](const Type* part) {
    return (part->kind == TypeKind::Variable && isBindable(part->parameter, generics)) ||
           std::ranges::any_of(part->shape,
                               [&](const Dim* dim) { return isParameter(dim, generics); });
  });
}

bool isSize(const TypeParameter* parameter) {
  return parameter->kind == ParameterKind::Dimension;
}

bool hasOpenDims(const Type* type) {
  return anyPart(type, [](const Type* part) {
    return !std::ranges::all_of(part->shape, [](const Dim* dim) { return dim->isConstant(); });
  });
}

} // namespace harness

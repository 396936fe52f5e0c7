// Along the structure of types.
#include "transform/analysis/type_parts.h"

#include "lang/ir/walk.h"

#include <algorithm>

namespace transform {

using namespace lang;

void TypeNames::add(const Type* root) {
  std::vector<const Type*> stack{root};
  std::vector<const TypeParameter*> bound;
  while (!stack.empty()) {
    const Type* type = stack.back();
    stack.pop_back();
    if (!type || !seen_.insert(type).second)
      continue;
    hasUnknown |= type->isUnknown();
    if (type->parameter)
      parameters.insert(type->parameter);
    bound.insert(bound.end(), type->generics.begin(), type->generics.end());
    std::vector<const Dim*> forms(type->shape.begin(), type->shape.end());
    for (const Dim* extent : type->shape)
      if (extent->kind == DimKind::Symbol)
        extents.insert(extent);
    while (!forms.empty()) {
      const Dim* form = forms.back();
      forms.pop_back();
      if (form->kind == DimKind::Symbol)
        dims.insert(form);
      for (const DimTerm& term : form->terms)
        forms.push_back(term.variable);
    }
    stack.insert(stack.end(), type->parts.begin(), type->parts.end());
    stack.push_back(type->result);
  }
  for (const TypeParameter* parameter : bound)
    parameters.erase(parameter);
}

std::optional<TypeNames> declaredNames(const Function& root,
                                       const std::function<const Type*(const Type*)>& instance) {
  TypeNames names;
  bool isWhole = true;
  std::vector<const TypeParameter*> own;
  auto addType = [&](const Type* type) {
    const Type* here = instance(type);
    isWhole &= !type || here;
    names.add(here);
  };
  auto addFunction = [&](const Function& function) {
    own.insert(own.end(), function.generics.begin(), function.generics.end());
    for (const Var* parameter : function.parameters)
      addType(parameter->annotation);
    addType(function.resultAnnotation);
  };
  addFunction(root);
  walk(
      *root.body,
      [&](const Binding& binding) {
        addType(binding.var->annotation);
        if (const auto* function = binding.value->as<Function>())
          addFunction(*function);
        if (const auto* match = binding.value->as<Match>())
          for (const Arm& arm : match->arms)
            forEachPatternVar(*arm.pattern, [&](const Var& var) { addType(var.annotation); });
      },
      [](const Operand&) {});
  for (const TypeParameter* parameter : own) {
    names.parameters.erase(parameter);
    std::erase_if(names.dims, [&](const Dim* dim) { return dim->parameter == parameter; });
  }
  if (!isWhole)
    return std::nullopt;
  return names;
}

const Type* TypeParts::operator()(const Type* type) {
  if (type->isUnknown())
    return unknown(type);
  if (auto found = known.find(type); found != known.end())
    return found->second;
  std::vector<const Dim*> shape;
  for (const Dim* dim : type->shape)
    shape.push_back(extent(dim));
  std::vector<const Type*> parts;
  for (const Type* part : type->parts)
    parts.push_back((*this)(part));
  const Type* made = type;
  if (type->isTensor())
    made = types.tensor(shape, type->dtype, type->isWide);
  else if (type->kind == TypeKind::Dimension)
    made = types.dimension(shape[0]);
  else if (type->isTuple())
    made = types.tuple(parts);
  else if (type->kind == TypeKind::Function)
    made = types.function(parts, (*this)(type->result), type->generics);
  else if (type->kind == TypeKind::Reference)
    made = types.reference(parts[0]);
  else if (type->kind == TypeKind::Data)
    made = types.data(type->definition, parts);
  return known[type] = made;
}

bool isSettled(const Function& function, const Typing& typing) {
  auto has = [&](const Var* var) {
    const Type* type = typing.of(*var);
    return type && !type->hasAny;
  };
  bool isSettled = std::ranges::all_of(function.parameters, has);
  walk(
      *function.body,
      [&](const Binding& binding) {
        isSettled &= has(binding.var);
        if (const auto* match = binding.value->as<Match>())
          for (const Arm& arm : match->arms)
            forEachPatternVar(*arm.pattern, [&](const Var& var) { isSettled &= has(&var); });
      },
      [](const Operand&) {});
  return isSettled;
}

} // namespace transform

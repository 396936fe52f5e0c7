// Matching and replacing, along the structure of types, which the checker bounds.
#include "transform/analysis/instance.h"

#include <map>

#include <fmt/format.h>

namespace transform {

using namespace lang;

void Instance::open(std::span<const TypeParameter* const> generics, bool named) {
  open_.insert(generics.begin(), generics.end());
  isNamedOpen_ |= named;
  known_.clear();
}

void Instance::set(const TypeParameter* parameter, const Type* type) {
  open_.insert(parameter);
  of_[parameter] = type;
  known_.clear();
}

const Type* Instance::of(const TypeParameter* parameter) const {
  auto found = of_.find(parameter);
  return found == of_.end() ? nullptr : found->second;
}

std::string Instance::key() const {
  std::map<const void*, const void*> sorted(of_.begin(), of_.end());
  sorted.insert(dims_.begin(), dims_.end());
  std::string text;
  for (const auto& [open, known] : sorted)
    text += fmt::format("{}={},", open, known);
  return text;
}

bool Instance::isOpen(const Dim* symbol) const {
  return symbol->kind == DimKind::Symbol && (symbol->parameter ? open_.contains(symbol->parameter)
                                                               : isNamedOpen_ && symbol->isNamed());
}

void Instance::match(const Type* pattern, const Type* type) {
  if (!pattern || !type || type->isUnknown() || type->isError())
    return;
  if (pattern->kind == TypeKind::Variable) {
    if (open_.contains(pattern->parameter) && of_.try_emplace(pattern->parameter, type).second)
      known_.clear();
    return;
  }
  if (pattern->kind != type->kind || pattern->shape.size() != type->shape.size() ||
      pattern->parts.size() != type->parts.size() ||
      pattern->generics.size() != type->generics.size())
    return;
  // Parameters that functions have of their own are not open, and do not leave their functions.
  for (size_t i = 0; i < pattern->shape.size(); ++i) {
    if (!isOpen(pattern->shape[i]))
      continue;
    const Dim*& known = dims_[pattern->shape[i]];
    // A size that is known tells more than `?`.
    if (!known || known->isAny())
      known = type->shape[i];
    known_.clear();
  }
  for (size_t i = 0; i < pattern->parts.size(); ++i)
    match(pattern->parts[i], type->parts[i]);
  match(pattern->result, type->result);
}

const Dim* Instance::dim(const Dim* dim, bool& isWhole) const {
  if (!dim->hasSymbol)
    return dim;
  return types_->substitute(dim, [&](const Dim* variable) {
    if (!isOpen(variable))
      return variable;
    auto found = dims_.find(variable);
    if (found == dims_.end() && fill_)
      found = dims_.emplace(variable, fill_(variable)).first;
    isWhole &= found != dims_.end();
    return found == dims_.end() ? variable : found->second;
  });
}

const Type* Instance::operator()(const Type* type) const {
  if (!type || isTrivial())
    return type;
  bool isWhole = true;
  return apply(type, isWhole);
}

const Type* Instance::apply(const Type* type, bool& isWhole) const {
  if (auto known = known_.find(type); known != known_.end()) {
    isWhole &= known->second != nullptr;
    return known->second;
  }
  bool isOwnWhole = true;
  std::vector<const Dim*> dims;
  for (const Dim* extent : type->shape)
    dims.push_back(dim(extent, isOwnWhole));
  std::vector<const Type*> parts;
  for (const Type* part : type->parts)
    parts.push_back(apply(part, isOwnWhole));
  const Type* result = type->result ? apply(type->result, isOwnWhole) : nullptr;
  const Type* made = type;
  if (!isOwnWhole)
    made = nullptr;
  else if (type->kind == TypeKind::Tensor)
    made = types_->tensor(dims, type->dtype, type->isWide);
  else if (type->kind == TypeKind::Dimension)
    made = types_->dimension(dims[0]);
  else if (type->kind == TypeKind::Tuple)
    made = types_->tuple(parts);
  else if (type->kind == TypeKind::Function)
    made = types_->function(parts, result, type->generics);
  else if (type->kind == TypeKind::Reference)
    made = types_->reference(parts[0]);
  else if (type->kind == TypeKind::Data)
    made = types_->data(type->definition, parts);
  else if (type->kind == TypeKind::Variable && open_.contains(type->parameter))
    made = of(type->parameter) || !fill_ ? of(type->parameter) : types_->tuple({});
  isWhole &= made != nullptr;
  return known_[type] = made;
}

} // namespace transform

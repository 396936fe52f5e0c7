// Union-find over unknowns, and merging of structures.
#include "typecheck/unify.h"

#include "lang/ir/expr.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace typecheck {

using lang::TypeKind;

Unifier::Unifier(TypeContext& types, uint32_t firstUnknown, uint32_t firstUnknownDim, size_t likely)
    : types_(types), dims_(types, firstUnknownDim) {
  unknowns_.reserve(std::max(size_t(firstUnknown), likely));
  unknowns_.resize(firstUnknown);
}

const Type* Unifier::fresh() {
  unknowns_.emplace_back();
  return types_.unknown(uint32_t(unknowns_.size() - 1));
}

void Unifier::setBinding(const Type* unknown, const Type* type) {
  Extent extent = extentOf(type);
  Unknown& its = at(unknown);
  its.binding = type;
  its.extent = extent;
  its.isClosed = false;
  ++changes_;
}

const Type* Unifier::slot(const Type* type) {
  if (type->isUnknown())
    return type;
  const Type* unknown = fresh();
  setBinding(unknown, type);
  return unknown;
}

const Type* Unifier::root(const Type* unknown) {
  while (const Type* next = at(unknown).binding) {
    if (!next->isUnknown())
      break;
    if (const Type* after = at(next).binding; after && after->isUnknown())
      at(unknown).binding = after;
    unknown = next;
  }
  return unknown;
}

const Type* Unifier::shallow(const Type* type) {
  if (!type->isUnknown())
    return type;
  const Type* found = root(type);
  const Type* bound = at(found).binding;
  return bound ? bound : found;
}

UnifyResult Unifier::unify(const Type* left, const Type* right, bool keepRight) {
  steps_ = 0;
  invariant_ = 0;
  Merged merged = merge(left, right, keepRight, 0);
  if (!keepRight && (merged.weakensLeft || merged.weakensRight))
    ++weakenedCount_;
  return merged.result;
}

Unifier::Merged Unifier::merge(const Type* left, const Type* right, bool keepRight,
                               uint32_t depth) {
  if (left == right)
    return {UnifyResult::Same, left};
  if (depth > maximumDepth || ++steps_ > maximumSteps)
    return {UnifyResult::TooLarge};
  if (left->isUnknown() || right->isUnknown())
    return mergeUnknowns(left, right, keepRight, depth);
  if (left->hasUnknown || right->hasUnknown)
    return mergeStructures(left, right, keepRight, depth);
  auto key = std::tuple(left, right, invariant_ > 0);
  if (auto known = mergedGround_.find(key); known != mergedGround_.end())
    return known->second;
  Merged merged = mergeStructures(left, right, keepRight, depth);
  // An instance of a polymorphic function is good once.
  if (!merged.type || !merged.type->hasUnknown)
    mergedGround_.emplace(key, merged);
  return merged;
}

namespace {

/// Whether two tensor types are equal but for the bits that their extents count in. Each keeps its
/// own: relations that were asked about one of them may have answered by it.
bool differInBitsOnly(const Type& left, const Type& right) {
  return left.isTensor() && right.isTensor() && left.isWide != right.isWide &&
         left.dtype == right.dtype && std::ranges::equal(left.shape, right.shape);
}

} // namespace

/// At least one side is an unknown. What both stand for is merged and kept at the left root; a
/// protected right side keeps what it stood for.
Unifier::Merged Unifier::mergeUnknowns(const Type* left, const Type* right, bool keepRight,
                                       uint32_t depth) {
  const Type* leftRoot = left->isUnknown() ? root(left) : nullptr;
  const Type* rightRoot = right->isUnknown() ? root(right) : nullptr;
  if (leftRoot == rightRoot)
    return {UnifyResult::Same, left};
  const Type* leftType = leftRoot ? at(leftRoot).binding : left;
  const Type* rightType = rightRoot ? at(rightRoot).binding : right;
  if (!leftType)
    return {bind(leftRoot, keepRight && rightType ? rightType : right), left};
  if (!rightType)
    return {bind(rightRoot, keepRight ? leftType : left), left};
  Merged merged = merge(leftType, rightType, keepRight, depth);
  if (merged.result != UnifyResult::Same || differInBitsOnly(*leftType, *rightType))
    return merged;
  if (leftRoot)
    setBinding(leftRoot, merged.type);
  if (rightRoot && !keepRight)
    setBinding(rightRoot, merged.right ? merged.right : leftRoot ? leftRoot : merged.type);
  if (leftRoot && keepRight && merged.weakensLeft)
    ++weakenedCount_;
  if (merged.right)
    return {UnifyResult::Same, leftRoot ? leftRoot : merged.type, merged.weakensLeft,
            merged.weakensRight, rightRoot ? right : merged.right};
  // Whichever side is an unknown stays one in the merged type, so that both are weakened together.
  if (const Type* shared = leftRoot ? leftRoot : keepRight ? nullptr : rightRoot)
    merged.type = shared;
  return merged;
}

UnifyResult Unifier::bind(const Type* unknown, const Type* type) {
  if (type->isUnknown() && root(type) == unknown)
    return UnifyResult::Same;
  if (occurs(unknown, type))
    return UnifyResult::Infinite;
  bool becomesNumber = type->isUnknown() && numbers_.of(unknown) && !numbers_.of(type);
  if (!numbers_.bind(unknown, type))
    return UnifyResult::Different;
  bool fits = !isTooLarge(type);
  setBinding(unknown, !fits ? types_.error() : type->isUnknown() ? root(type) : type);
  if (onBound)
    onBound(unknown->number);
  if (onBound && becomesNumber)
    onBound(root(type)->number);
  return fits ? UnifyResult::Same : UnifyResult::TooLarge;
}

/// Whether a merged shape has `?` where the type has a size.
bool Unifier::losesSize(const Type* type, std::span<const Dim* const> merged) {
  for (size_t i = 0; i < merged.size(); ++i)
    if (merged[i]->isAny() && !dims_.resolve(type->shape[i])->isAny())
      return true;
  return false;
}

Unifier::Merged Unifier::mergeTensors(const Type* left, const Type* right) {
  if (left->dtype != right->dtype || left->shape.size() != right->shape.size())
    return {UnifyResult::Different};
  std::vector<const Dim*> shape;
  for (size_t i = 0; i < left->shape.size(); ++i) {
    const Dim* dim = dims_.unify(left->shape[i], right->shape[i]);
    if (!dim)
      return {UnifyResult::Different};
    shape.push_back(dim);
  }
  bool isWide = left->isWide || (right->isWide && left->hasUnknown);
  const Type* type =
      left->isTensor() ? types_.tensor(shape, left->dtype, isWide) : types_.dimension(shape[0]);
  return {UnifyResult::Same, type, losesSize(left, shape), losesSize(right, shape)};
}

Unifier::Merged Unifier::mergeParts(const Type* left, const Type* right, bool keepRight,
                                    uint32_t depth, MergedParts& parts) {
  if (left->parts.size() != right->parts.size())
    return {UnifyResult::Different};
  Merged merged;
  for (size_t i = 0; i < left->parts.size(); ++i) {
    Merged part = merge(left->parts[i], right->parts[i], keepRight, depth + 1);
    if (part.result != UnifyResult::Same)
      return part;
    if (part.right && !merged.right) {
      merged.right = part.right;
      parts.right = parts.types;
    }
    parts.types.push_back(part.type);
    if (merged.right)
      parts.right.push_back(part.right ? part.right : part.type);
    merged.weakensLeft |= part.weakensLeft;
    merged.weakensRight |= part.weakensRight;
  }
  return merged;
}

Unifier::Merged Unifier::mergeInvariantParts(const Type* left, const Type* right, bool keepRight,
                                             uint32_t depth, MergedParts& parts) {
  ++invariant_;
  Merged merged = mergeParts(left, right, keepRight, depth, parts);
  --invariant_;
  return merged;
}

/// What a declared parameter stands for where nothing replaces it.
const Type* Unifier::asArgument(const lang::TypeParameter* parameter) {
  return parameter->kind == lang::ParameterKind::Dimension
             ? types_.dimension(types_.symbol(parameter))
             : types_.variable(parameter);
}

/// Type parameters are matched by position. The left side is what is wanted: a polymorphic function
/// also goes where a monomorphic one is wanted, its parameters made fresh unknowns, but not the
/// other way round, and not where the value can be written to or is wanted by a function itself.
Unifier::Merged Unifier::mergeFunctions(const Type* left, const Type* right, bool keepRight,
                                        uint32_t depth) {
  const Type* kept = nullptr;
  if (left->generics.size() == right->generics.size() && !left->generics.empty()) {
    if (!std::ranges::equal(left->generics, right->generics, {}, &lang::TypeParameter::kind,
                            &lang::TypeParameter::kind))
      return {UnifyResult::Different};
    std::vector<const Type*> variables;
    for (const lang::TypeParameter* generic : left->generics)
      variables.push_back(asArgument(generic));
    right = resolve(right);
    if (right->isError())
      return {UnifyResult::TooLarge};
    const Type* body = types_.function(right->parts, right->result);
    right = substitute(body, right->generics, variables);
  } else if (left->generics.size() != right->generics.size()) {
    if (!left->generics.empty() || invariant_ > 0)
      return {UnifyResult::Different};
    kept = std::exchange(right, instantiate(right));
  }
  MergedParts parts;
  Merged merged = mergeInvariantParts(left, right, keepRight, depth, parts);
  if (merged.result != UnifyResult::Same)
    return merged;
  Merged result = merge(left->result, right->result, keepRight, depth + 1);
  if (result.result != UnifyResult::Same)
    return result;
  if (!kept && result.right)
    kept = types_.function(parts.types, result.right, left->generics);
  return {UnifyResult::Same, types_.function(parts.types, result.type, left->generics),
          merged.weakensLeft || result.weakensLeft, merged.weakensRight || result.weakensRight,
          kept};
}

Unifier::Merged Unifier::mergeStructures(const Type* left, const Type* right, bool keepRight,
                                         uint32_t depth) {
  if (left->isError() || right->isError())
    return {UnifyResult::Same, types_.error()};
  if (left->kind != right->kind)
    return {UnifyResult::Different};
  MergedParts parts;
  switch (left->kind) {
  case TypeKind::Tensor:
  case TypeKind::Dimension:
    return mergeTensors(left, right);
  case TypeKind::Function:
    return mergeFunctions(left, right, keepRight, depth);
  case TypeKind::Tuple:
  case TypeKind::Reference:
  case TypeKind::Data: {
    if (left->definition != right->definition)
      return {UnifyResult::Different};
    Merged merged = isCovariant(*left) ? mergeParts(left, right, keepRight, depth, parts)
                                       : mergeInvariantParts(left, right, keepRight, depth, parts);
    if (merged.result != UnifyResult::Same)
      return merged;
    auto withParts = [&](std::span<const Type* const> of) {
      return left->isTuple()                     ? types_.tuple(of)
             : left->kind == TypeKind::Reference ? types_.reference(of[0])
                                                 : types_.data(left->definition, of);
    };
    merged.type = withParts(parts.types);
    if (merged.right)
      merged.right = withParts(parts.right);
    return merged;
  }
  default:
    return {UnifyResult::Different};
  }
}

/// A tensor or dimension with `replace` applied to its extents.
const Type* Unifier::rebuildShape(const Type* type,
                                  const std::function<const Dim*(const Dim*)>& replace) {
  std::vector<const Dim*> shape;
  for (const Dim* dim : type->shape)
    shape.push_back(replace(dim));
  if (type->kind == TypeKind::Dimension)
    return types_.dimension(shape[0]);
  return type->isTensor() ? types_.tensor(shape, type->dtype, type->isWide) : type;
}

const Type* Unifier::mapDims(const Type* type,
                             const std::function<const Dim*(const Dim*)>& replace) {
  std::unordered_map<const Type*, const Type*> known;
  return mapDims(type, replace, known);
}

const Type* Unifier::mapDims(const Type* type, const std::function<const Dim*(const Dim*)>& replace,
                             std::unordered_map<const Type*, const Type*>& known) {
  if (!type->hasSymbol && !type->hasUnknown)
    return type;
  if (auto found = known.find(type); found != known.end())
    return found->second;
  const Type* mapped =
      !type->shape.empty()
          ? rebuildShape(type, replace)
          : rebuild(type, [&](const Type* part) { return mapDims(part, replace, known); });
  return known[type] = mapped;
}

/// Whether a value may be taken as one whose parts are of types that theirs may be taken as.
bool Unifier::isCovariant(const Type& type) {
  return type.isTuple() || (type.kind == TypeKind::Data && !holdsFunctions(type.definition));
}

/// Whether values of a data type may hold functions or references over its parameters, by its own
/// fields and those of the data types in them.
bool Unifier::holdsFunctions(const lang::TypeDefinition* definition) {
  auto [known, isNew] = holdsFunctions_.try_emplace(definition, false);
  if (!isNew)
    return known->second;
  std::unordered_set<const lang::TypeDefinition*> seen{definition};
  std::vector<const Type*> stack;
  auto push = [&](const lang::TypeDefinition* with) {
    for (const lang::Constructor* constructor : with->constructors)
      stack.insert(stack.end(), constructor->fields.begin(), constructor->fields.end());
  };
  push(definition);
  bool found = false;
  while (!stack.empty() && !found) {
    const Type* type = stack.back();
    stack.pop_back();
    found = type->kind == TypeKind::Function || type->kind == TypeKind::Reference;
    stack.insert(stack.end(), type->parts.begin(), type->parts.end());
    if (type->definition && seen.insert(type->definition).second)
      push(type->definition);
  }
  return holdsFunctions_[definition] = found;
}

/// The type with `part` applied to everything directly inside it.
const Type* Unifier::rebuild(const Type* type,
                             const std::function<const Type*(const Type*)>& part) {
  std::vector<const Type*> parts;
  for (const Type* inner : type->parts)
    parts.push_back(part(inner));
  switch (type->kind) {
  case TypeKind::Tuple:
    return types_.tuple(parts);
  case TypeKind::Reference:
    return types_.reference(parts[0]);
  case TypeKind::Data:
    return types_.data(type->definition, parts);
  case TypeKind::Function:
    return types_.function(parts, part(type->result), type->generics);
  default:
    return type;
  }
}

const Type* Unifier::resolve(const Type* type) {
  if (!type->hasUnknown)
    return type;
  uint64_t changes = changes_ + dims_.solvedCount();
  if (std::exchange(resolvedChanges_, changes) != changes || tooLarge_)
    resolved_.clear();
  tooLarge_ = false;
  const Type* resolved = resolve(type, 0);
  return tooLarge_ ? types_.error() : resolved;
}

const Type* Unifier::resolve(const Type* type, uint32_t depth) {
  if (!type->hasUnknown)
    return type;
  if (depth > maximumDepth || tooLarge_) {
    tooLarge_ = true;
    return types_.error();
  }
  if (type->isUnknown()) {
    const Type* found = root(type);
    const Type* bound = at(found).binding;
    return bound ? resolve(bound, depth) : found;
  }
  if (auto known = resolved_.find(type); known != resolved_.end())
    return known->second;
  if (!type->shape.empty())
    return resolved_[type] = rebuildShape(type, [&](const Dim* dim) { return dims_.resolve(dim); });
  const Type* resolved = rebuild(type, [&](const Type* part) { return resolve(part, depth + 1); });
  if (resolved->size > maximumSize || resolved->depth > maximumDepth)
    tooLarge_ = true;
  return resolved_[type] = resolved;
}

const Type* Unifier::substitute(const Type* type,
                                std::span<const lang::TypeParameter* const> parameters,
                                lang::Types arguments) {
  if (parameters.empty())
    return type;
  if (type->kind == TypeKind::Variable) {
    auto found = std::ranges::find(parameters, type->parameter);
    return found == parameters.end() ? type : arguments[size_t(found - parameters.begin())];
  }
  if (!type->shape.empty() && type->hasSymbol)
    return rebuildShape(type, [&](const Dim* form) {
      return types_.substitute(form, [&](const Dim* dim) {
        auto found = std::ranges::find(parameters, dim->parameter);
        return !dim->parameter || found == parameters.end()
                   ? dim
                   : arguments[size_t(found - parameters.begin())]->shape[0];
      });
    });
  if (type->parts.empty() && !type->result)
    return type;
  return rebuild(type, [&](const Type* part) { return substitute(part, parameters, arguments); });
}

const Type* Unifier::withFreshUnknowns(const Type* type, FreshUnknowns& known) {
  if (!type->hasUnknown)
    return type;
  if (type->isUnknown()) {
    const Type*& own = known.types[type];
    return own ? own : own = fresh();
  }
  if (!type->shape.empty())
    return rebuildShape(type, [&](const Dim* form) -> const Dim* {
      if (form->kind != lang::DimKind::Unknown)
        return form;
      const Dim*& own = known.dims[form];
      return own ? own : own = dims_.fresh();
    });
  return rebuild(type, [&](const Type* part) { return withFreshUnknowns(part, known); });
}

const Type* Unifier::instantiate(const Type* function) {
  if (function->kind != TypeKind::Function || function->generics.empty())
    return function;
  function = resolve(function);
  if (function->isError())
    return function;
  std::vector<const Type*> arguments;
  for (const lang::TypeParameter* generic : function->generics)
    arguments.push_back(generic->kind == lang::ParameterKind::Dimension
                            ? types_.dimension(dims_.fresh())
                            : fresh());
  return substitute(types_.function(function->parts, function->result), function->generics,
                    arguments);
}

const Type* Unifier::instantiateLike(const Type* type, const Type* other) {
  const Type *known = shallow(type), *like = shallow(other);
  if (known == like || known->kind != like->kind || known->parts.size() != like->parts.size())
    return type;
  if (known->kind == TypeKind::Function)
    return like->generics.empty() && !known->generics.empty() ? instantiate(known) : type;
  if (!isCovariant(*known))
    return type;
  bool isNew = false;
  size_t next = 0;
  const Type* rebuilt = rebuild(known, [&](const Type* part) {
    const Type* instance = instantiateLike(part, like->parts[next++]);
    isNew |= instance != part;
    return instance;
  });
  return isNew ? rebuilt : type;
}

} // namespace typecheck

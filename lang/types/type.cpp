// Interning of types and dimensions.
#include "lang/types/type.h"

#include <algorithm>

namespace lang {

namespace {

void mix(size_t& hash, size_t value) {
  hash ^= value + 0x9E3779B97F4A7C15u + (hash << 6) + (hash >> 2);
}

void mix(size_t& hash, const void* pointer) {
  mix(hash, reinterpret_cast<size_t>(pointer) >> 4);
}

size_t hashOf(const Dim& dim) {
  size_t hash = size_t(dim.kind);
  mix(hash, size_t(dim.value));
  mix(hash, dim.origin);
  mix(hash, dim.parameter);
  mix(hash, std::hash<std::string_view>{}(dim.name));
  for (const DimTerm& term : dim.terms) {
    mix(hash, term.variable);
    mix(hash, size_t(term.coefficient));
  }
  return hash;
}

bool same(const Dim& a, const Dim& b) {
  return a.kind == b.kind && a.value == b.value && a.name == b.name && a.origin == b.origin &&
         a.parameter == b.parameter && std::ranges::equal(a.terms, b.terms);
}

size_t hashOf(const Type& type) {
  size_t hash = size_t(type.kind);
  mix(hash, size_t(type.dtype.code) << 24 | size_t(type.dtype.bits) << 16 | type.dtype.lanes);
  for (const Dim* dim : type.shape)
    mix(hash, dim);
  for (const Type* part : type.parts)
    mix(hash, part);
  for (const TypeParameter* generic : type.generics)
    mix(hash, generic);
  mix(hash, type.result);
  mix(hash, type.parameter);
  mix(hash, type.definition);
  mix(hash, type.op);
  mix(hash, size_t(type.isWide));
  return hash;
}

bool same(const Type& a, const Type& b) {
  return a.kind == b.kind && a.dtype == b.dtype && a.result == b.result &&
         a.parameter == b.parameter && a.definition == b.definition && a.op == b.op &&
         a.isWide == b.isWide && std::ranges::equal(a.shape, b.shape) &&
         std::ranges::equal(a.parts, b.parts) && std::ranges::equal(a.generics, b.generics);
}

/// Whether something that a dimension or a type may hold is anywhere inside of the type.
template <typename OfDim>
bool anyInside(const Type& type, OfDim ofDim, bool Type::*ofType) {
  return std::ranges::any_of(type.shape, ofDim) || std::ranges::any_of(type.parts, ofType) ||
         (type.result && type.result->*ofType);
}

void setFlags(Dim& dim) {
  dim.hasSymbol = dim.kind == DimKind::Symbol;
  dim.hasUnknown = dim.kind == DimKind::Unknown;
  dim.hasQuotient = dim.kind == DimKind::Quotient;
  dim.hasForeign = dim.origin != nullptr;
  for (const DimTerm& term : dim.terms) {
    dim.hasSymbol |= term.variable->hasSymbol;
    dim.hasUnknown |= term.variable->hasUnknown;
    dim.hasQuotient |= term.variable->hasQuotient;
    dim.hasForeign |= term.variable->hasForeign;
    dim.depth = std::max<uint8_t>(dim.depth, uint8_t(term.variable->depth + 1));
    bool isRepeated = dim.kind == DimKind::Product;
    dim.size += uint32_t(isRepeated ? term.coefficient : 1) * term.variable->size;
  }
}

void addExtent(Type& type, const Type* part) {
  constexpr uint32_t mostDepth = UINT16_MAX, mostSize = uint32_t(1) << 30;
  type.depth = uint16_t(std::max<uint32_t>(type.depth, std::min(part->depth + 1u, mostDepth)));
  type.size = std::min(type.size + part->size, mostSize);
}

} // namespace

bool isNarrowNumber(const Dim* dim) {
  return dim->isConstant() && dim->value <= INT32_MAX;
}

bool countsIn64Bits(const Type& tensor) {
  auto isLarge = [](const Dim* dim) { return dim->isConstant() && !isNarrowNumber(dim); };
  return tensor.isWide || std::ranges::any_of(tensor.shape, isLarge);
}

TypeContext::TypeContext() {
  any_ = internDim({.kind = DimKind::Any});
  for (int64_t value = 0; value < 64; ++value)
    smallConstants_.push_back(internDim({.kind = DimKind::Constant, .value = value}));
  error_ = intern({.kind = TypeKind::Error});
}

const Dim* TypeContext::internDim(const Dim& dim) {
  size_t hash = hashOf(dim);
  auto [begin, end] = dims_.equal_range(hash);
  for (auto it = begin; it != end; ++it)
    if (same(*it->second, dim))
      return it->second;
  Dim* made = arena_.make<Dim>(dim);
  made->name = arena_.copyText(dim.name);
  made->terms = arena_.copy(dim.terms);
  made->serial = uint32_t(dims_.size());
  setFlags(*made);
  dims_.emplace(hash, made);
  return made;
}

const Type* TypeContext::intern(const Type& type) {
  size_t hash = hashOf(type);
  auto [begin, end] = types_.equal_range(hash);
  for (auto it = begin; it != end; ++it)
    if (same(*it->second, type))
      return it->second;
  Type* made = arena_.make<Type>(type);
  made->shape = arena_.copy(type.shape);
  made->parts = arena_.copy(type.parts);
  made->generics = arena_.copy(type.generics);
  made->hasUnknown = anyInside(type, &Dim::hasUnknown, &Type::hasUnknown);
  made->hasSymbol = anyInside(type, &Dim::hasSymbol, &Type::hasSymbol);
  made->hasAny = anyInside(type, &Dim::isAny, &Type::hasAny);
  for (const Type* part : made->parts)
    addExtent(*made, part);
  if (made->result)
    addExtent(*made, made->result);
  types_.emplace(hash, made);
  return made;
}

const Dim* TypeContext::constant(int64_t value) {
  if (value >= 0 && size_t(value) < smallConstants_.size())
    return smallConstants_[size_t(value)];
  return internDim({.kind = DimKind::Constant, .value = value});
}

const TypeParameter* TypeContext::parameter(std::string_view name, const void* origin) {
  if (auto known = parameters_.find({origin, name}); known != parameters_.end())
    return known->second;
  std::string_view own = arena_.copyText(name);
  const auto* made = arena_.make<TypeParameter>(own, ParameterKind::Type);
  parameters_.emplace(std::pair(origin, own), made);
  return made;
}

const Dim* TypeContext::symbol(std::string_view name, const void* origin) {
  return internDim({.kind = DimKind::Symbol, .name = name, .origin = origin});
}

const Dim* TypeContext::symbol(const TypeParameter* parameter) {
  return internDim({.kind = DimKind::Symbol, .name = parameter->name, .parameter = parameter});
}

const Dim* TypeContext::unknownDim(uint32_t number) {
  return internDim({.kind = DimKind::Unknown, .value = number});
}

const Type* TypeContext::tensor(Dims shape, runtime::DType dtype, bool isWide) {
  isWide = isWide && std::ranges::any_of(shape, isNarrowNumber);
  return intern({.kind = TypeKind::Tensor, .dtype = dtype, .shape = shape, .isWide = isWide});
}

const Type* TypeContext::tensorOf(std::span<const int64_t> shape, runtime::DType dtype) {
  std::vector<const Dim*> dims;
  for (int64_t extent : shape)
    dims.push_back(constant(extent));
  return tensor(dims, dtype);
}

const Type* TypeContext::tuple(Types fields) {
  return intern({.kind = TypeKind::Tuple, .parts = fields});
}

const Type* TypeContext::function(Types parameters, const Type* result,
                                  std::span<const TypeParameter* const> generics) {
  return intern(
      {.kind = TypeKind::Function, .parts = parameters, .result = result, .generics = generics});
}

const Type* TypeContext::reference(const Type* content) {
  return intern({.kind = TypeKind::Reference, .parts = Types(&content, 1)});
}

const Type* TypeContext::dimension(const Dim* dim) {
  return intern({.kind = TypeKind::Dimension, .shape = Dims(&dim, 1)});
}

const Type* TypeContext::variable(const TypeParameter* parameter) {
  return intern({.kind = TypeKind::Variable, .parameter = parameter});
}

const Type* TypeContext::data(const TypeDefinition* definition, Types arguments) {
  return intern({.kind = TypeKind::Data, .parts = arguments, .definition = definition});
}

const Type* TypeContext::operatorType(const OperatorRow* op, std::string_view name) {
  return intern({.kind = TypeKind::Operator, .op = op, .opName = name});
}

const Type* TypeContext::unknown(uint32_t number) {
  while (unknowns_.size() <= number)
    unknowns_.push_back(arena_.make<Type>(
        Type{.kind = TypeKind::Unknown, .number = uint32_t(unknowns_.size()), .hasUnknown = true}));
  return unknowns_[number];
}

} // namespace lang

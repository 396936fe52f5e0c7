// Interning of types and dimensions, and arithmetic on dimensions.
#include "lang/type.h"

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
  mix(hash, size_t(dim.is64));
  mix(hash, dim.origin);
  mix(hash, std::hash<std::string_view>{}(dim.name));
  for (const DimTerm& term : dim.terms) {
    mix(hash, term.variable);
    mix(hash, size_t(term.coefficient));
  }
  return hash;
}

bool same(const Dim& a, const Dim& b) {
  return a.kind == b.kind && a.is64 == b.is64 && a.value == b.value && a.name == b.name &&
         a.origin == b.origin && std::ranges::equal(a.terms, b.terms);
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
  mix(hash, size_t(type.number));
  return hash;
}

bool same(const Type& a, const Type& b) {
  return a.kind == b.kind && a.dtype == b.dtype && a.result == b.result &&
         a.parameter == b.parameter && a.definition == b.definition && a.op == b.op &&
         a.number == b.number && std::ranges::equal(a.shape, b.shape) &&
         std::ranges::equal(a.parts, b.parts) && std::ranges::equal(a.generics, b.generics);
}

bool anyUnknown(const Type& type) {
  auto unknownDim = [](const Dim* dim) { return dim->kind == DimKind::Unknown; };
  auto unknownType = [](const Type* part) { return part->hasUnknown; };
  return type.kind == TypeKind::Unknown || std::ranges::any_of(type.shape, unknownDim) ||
         std::ranges::any_of(type.parts, unknownType) ||
         (type.result && type.result->hasUnknown);
}

void addExtent(Type& type, const Type* part) {
  constexpr uint32_t mostDepth = UINT16_MAX, mostSize = uint32_t(1) << 30;
  type.depth = uint16_t(std::max<uint32_t>(type.depth, std::min(part->depth + 1u, mostDepth)));
  type.size = std::min(type.size + part->size, mostSize);
}

} // namespace

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
  made->hasUnknown = anyUnknown(type);
  for (const Type* part : made->parts)
    addExtent(*made, part);
  if (made->result)
    addExtent(*made, made->result);
  types_.emplace(hash, made);
  return made;
}

const Dim* TypeContext::constant(int64_t value, bool is64) {
  if (!is64 && value >= 0 && size_t(value) < smallConstants_.size())
    return smallConstants_[size_t(value)];
  return internDim({.kind = DimKind::Constant, .is64 = is64, .value = value});
}

const Dim* TypeContext::symbol(std::string_view name, const void* origin) {
  return internDim({.kind = DimKind::Symbol, .name = name, .origin = origin});
}

const Dim* TypeContext::unknownDim(uint32_t number) {
  return internDim({.kind = DimKind::Unknown, .value = number});
}

namespace {

/// A dimension as a sum, terms ordered by address.
struct Sum {
  std::vector<DimTerm> terms;
  int64_t constant = 0;
  bool is64 = false;
};

Sum sumOf(const Dim* dim) {
  if (dim->isConstant())
    return {{}, dim->value, dim->is64};
  if (dim->kind == DimKind::Linear)
    return {{dim->terms.begin(), dim->terms.end()}, dim->value, dim->is64};
  return {{{dim, 1}}, 0, dim->is64};
}

/// Adds `scale` times `other`; false when a number overflows.
bool addScaled(Sum& sum, const Sum& other, int64_t scale) {
  auto accumulate = [scale](int64_t& to, int64_t value) {
    int64_t scaled = 0;
    return !__builtin_mul_overflow(value, scale, &scaled) &&
           !__builtin_add_overflow(to, scaled, &to);
  };
  sum.is64 |= other.is64;
  if (!accumulate(sum.constant, other.constant))
    return false;
  for (const DimTerm& term : other.terms) {
    auto at = std::ranges::lower_bound(sum.terms, term.variable, {}, &DimTerm::variable);
    if (at == sum.terms.end() || at->variable != term.variable)
      at = sum.terms.insert(at, {term.variable, 0});
    if (!accumulate(at->coefficient, term.coefficient))
      return false;
  }
  std::erase_if(sum.terms, [](const DimTerm& term) { return term.coefficient == 0; });
  return true;
}

} // namespace

const Dim* TypeContext::add(const Dim* left, const Dim* right) {
  if (left->isAny() || right->isAny())
    return any_;
  Sum sum = sumOf(left);
  if (!addScaled(sum, sumOf(right), 1))
    return any_;
  if (sum.terms.empty())
    return constant(sum.constant, sum.is64);
  if (sum.terms.size() == 1 && sum.constant == 0 && sum.terms[0].coefficient == 1)
    return sum.terms[0].variable;
  return internDim({.kind = DimKind::Linear, .value = sum.constant, .terms = sum.terms});
}

const Dim* TypeContext::multiply(const Dim* left, const Dim* right) {
  if (left->isConstant(0) || right->isConstant(0))
    return constant(0, left->is64 || right->is64);
  if (left->isAny() || right->isAny() || (!left->isConstant() && !right->isConstant()))
    return any_;
  if (!right->isConstant())
    std::swap(left, right);
  Sum sum;
  sum.is64 = right->is64;
  if (!addScaled(sum, sumOf(left), right->value))
    return any_;
  if (sum.terms.empty())
    return constant(sum.constant, sum.is64);
  if (sum.terms.size() == 1 && sum.constant == 0 && sum.terms[0].coefficient == 1)
    return sum.terms[0].variable;
  return internDim({.kind = DimKind::Linear, .value = sum.constant, .terms = sum.terms});
}

const Dim* TypeContext::subtract(const Dim* left, const Dim* right) {
  return add(left, multiply(right, constant(-1)));
}

const Dim* TypeContext::floorDivide(const Dim* left, int64_t divisor) {
  if (divisor <= 0 || left->isAny())
    return any_;
  auto quotient = [divisor](int64_t value) {
    return value / divisor - (value % divisor < 0 ? 1 : 0);
  };
  if (left->isConstant())
    return constant(quotient(left->value), left->is64);
  Sum sum = sumOf(left);
  for (DimTerm& term : sum.terms) {
    if (term.coefficient % divisor != 0)
      return any_;
    term.coefficient /= divisor;
  }
  sum.constant = quotient(sum.constant);
  if (sum.terms.size() == 1 && sum.constant == 0 && sum.terms[0].coefficient == 1)
    return sum.terms[0].variable;
  return internDim({.kind = DimKind::Linear, .value = sum.constant, .terms = sum.terms});
}

const Type* TypeContext::tensor(Dims shape, runtime::DType dtype) {
  return intern({.kind = TypeKind::Tensor, .dtype = dtype, .shape = shape});
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
  return intern({.kind = TypeKind::Function,
                 .parts = parameters,
                 .result = result,
                 .generics = generics});
}

const Type* TypeContext::reference(const Type* content) {
  return intern({.kind = TypeKind::Reference, .parts = Types(&content, 1)});
}

const Type* TypeContext::variable(const TypeParameter* parameter) {
  return intern({.kind = TypeKind::Variable, .parameter = parameter});
}

const Type* TypeContext::data(const TypeDefinition* definition, Types arguments) {
  return intern({.kind = TypeKind::Data, .parts = arguments, .definition = definition});
}

const Type* TypeContext::operatorType(const OperatorRow* op) {
  return intern({.kind = TypeKind::Operator, .op = op});
}

const Type* TypeContext::unknown(uint32_t number) {
  return intern({.kind = TypeKind::Unknown, .number = number});
}

const Dim* product(TypeContext& types, Dims dims) {
  const Dim* result = types.constant(1);
  for (const Dim* dim : dims)
    result = types.multiply(result, dim);
  return result;
}

} // namespace lang

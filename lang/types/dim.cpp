// Arithmetic on dimensions, in normal form. A form that grows past the limits is `?`, so no program
// makes the arithmetic run away: forms are walked as if they were trees, whose size is bounded.
#include "lang/types/type.h"

#include <algorithm>
#include <optional>

namespace lang {

namespace {

/// Bounds on the parts of a form, on their nesting, and on the products of terms in one product.
constexpr uint32_t mostFormParts = 1 << 14, mostFormDepth = 64;
constexpr size_t mostProducts = 4096;

/// A dimension as a sum, terms in the order of their serial numbers.
struct Sum {
  std::vector<DimTerm> terms;
  int64_t constant = 0;
};

Sum sumOf(const Dim* dim) {
  if (dim->isConstant())
    return {{}, dim->value};
  if (dim->kind == DimKind::Linear)
    return {{dim->terms.begin(), dim->terms.end()}, dim->value};
  return {{{dim, 1}}, 0};
}

bool accumulate(int64_t& to, int64_t value, int64_t scale) {
  int64_t scaled = 0;
  return !__builtin_mul_overflow(value, scale, &scaled) && !__builtin_add_overflow(to, scaled, &to);
}

/// Adds `amount` to the number that belongs to `variable`; false when it overflows.
bool addTerm(std::vector<DimTerm>& terms, const Dim* variable, int64_t amount, int64_t scale) {
  auto serial = [](const DimTerm& term) { return term.variable->serial; };
  auto at = std::ranges::lower_bound(terms, variable->serial, {}, serial);
  if (at == terms.end() || at->variable != variable)
    at = terms.insert(at, {variable, 0});
  return accumulate(at->coefficient, amount, scale);
}

/// Adds a multiple of a sum, term by term; false when a number overflows. Terms may be left that
/// are 0 times something.
bool addScaled(Sum& sum, const Sum& other, int64_t scale) {
  bool fits = accumulate(sum.constant, other.constant, scale);
  for (const DimTerm& term : other.terms)
    fits = fits && addTerm(sum.terms, term.variable, term.coefficient, scale);
  return fits;
}

/// Whether a form of these parts is within the bounds, coefficients counting as repetitions where
/// they are exponents.
bool isBounded(std::span<const DimTerm> terms, bool areFactors) {
  uint64_t parts = 1, degree = 0;
  uint32_t depth = 0;
  for (const DimTerm& term : terms) {
    uint64_t times = areFactors ? uint64_t(term.coefficient) : 1;
    degree += times;
    if (degree > (areFactors ? mostDimFactors : mostDimTerms))
      return false;
    parts += times * term.variable->size;
    depth = std::max<uint32_t>(depth, term.variable->depth);
  }
  return parts <= mostFormParts && depth < mostFormDepth;
}

int64_t floorQuotient(int64_t value, int64_t divisor) {
  return value / divisor - (value % divisor < 0 ? 1 : 0);
}

std::vector<DimTerm> factorsOf(const Dim* variable) {
  if (variable->kind == DimKind::Product)
    return {variable->terms.begin(), variable->terms.end()};
  return {{variable, 1}};
}

/// The least value of a form over sizes from 0 on; nothing when there is none.
std::optional<int64_t> leastOf(const Dim* dim) {
  switch (dim->kind) {
  case DimKind::Constant:
    return dim->value;
  case DimKind::Any:
  case DimKind::Symbol:
  case DimKind::Unknown:
    return 0;
  case DimKind::Quotient: {
    auto least = leastOf(dim->terms[0].variable);
    return least ? std::optional(floorQuotient(*least, dim->terms[0].coefficient)) : std::nullopt;
  }
  case DimKind::Product: {
    int64_t result = 1;
    for (const DimTerm& factor : dim->terms)
      for (int64_t i = 0; i < factor.coefficient; ++i) {
        auto least = leastOf(factor.variable);
        if (!least || *least < 0 || __builtin_mul_overflow(result, *least, &result))
          return std::nullopt;
      }
    return result;
  }
  case DimKind::Linear:
    break;
  }
  int64_t result = dim->value;
  for (const DimTerm& term : dim->terms) {
    auto least = leastOf(term.variable);
    if (term.coefficient < 0 || !least || !accumulate(result, *least, term.coefficient))
      return std::nullopt;
  }
  return result;
}

} // namespace

bool isAtLeast(const Dim* dim, int64_t least) {
  auto known = leastOf(dim);
  return known && *known >= least;
}

const Dim* TypeContext::tooLong() {
  ++longForms_;
  return any_;
}

const Dim* TypeContext::internForm(const Dim& dim) {
  return isBounded(dim.terms, dim.kind == DimKind::Product) ? internDim(dim) : tooLong();
}

const Dim* TypeContext::sum(std::vector<DimTerm> terms, int64_t number) {
  std::erase_if(terms, [](const DimTerm& term) { return term.coefficient == 0; });
  if (terms.empty())
    return constant(number);
  if (terms.size() == 1 && number == 0 && terms[0].coefficient == 1)
    return terms[0].variable;
  return internForm({.kind = DimKind::Linear, .value = number, .terms = terms});
}

const Dim* TypeContext::addAll(std::span<const DimTerm> summands) {
  Sum result;
  for (const DimTerm& summand : summands) {
    if (summand.variable->isAny() ||
        !addScaled(result, sumOf(summand.variable), summand.coefficient))
      return any_;
    // Terms that cancel leave room, so that the work is bounded and not what may be said.
    if (result.terms.size() > 2 * mostDimTerms)
      std::erase_if(result.terms, [](const DimTerm& term) { return term.coefficient == 0; });
    if (result.terms.size() > 2 * mostDimTerms)
      return tooLong();
  }
  return sum(std::move(result.terms), result.constant);
}

const Dim* TypeContext::add(const Dim* left, const Dim* right) {
  DimTerm both[] = {{left, 1}, {right, 1}};
  return addAll(both);
}

const Dim* TypeContext::subtract(const Dim* left, const Dim* right) {
  return add(left, multiply(right, constant(-1)));
}

/// The product of two variables of linear forms; `?` when it is too long.
const Dim* TypeContext::multiplyVariables(const Dim* left, const Dim* right) {
  std::vector<DimTerm> factors = factorsOf(left);
  for (const DimTerm& factor : factorsOf(right))
    addTerm(factors, factor.variable, factor.coefficient, 1);
  return internForm({.kind = DimKind::Product, .terms = factors});
}

const Dim* TypeContext::multiply(const Dim* left, const Dim* right) {
  if (left->isConstant(0) || right->isConstant(0))
    return constant(0);
  if (left->isAny() || right->isAny())
    return any_;
  Sum result, a = sumOf(left), b = sumOf(right);
  if (!addScaled(result, a, b.constant) || !addScaled(result, {b.terms, 0}, a.constant))
    return any_;
  if (a.terms.size() * b.terms.size() > mostProducts)
    return tooLong();
  for (const DimTerm& x : a.terms)
    for (const DimTerm& y : b.terms) {
      const Dim* both = multiplyVariables(x.variable, y.variable);
      if (both->isAny() || !addTerm(result.terms, both, x.coefficient, y.coefficient))
        return any_;
    }
  return sum(std::move(result.terms), result.constant);
}

/// Whatever the divisor divides leaves the quotient; a quotient of a quotient is one quotient.
const Dim* TypeContext::floorDivide(const Dim* left, int64_t divisor) {
  if (divisor <= 0 || left->isAny())
    return any_;
  if (left->isConstant())
    return constant(floorQuotient(left->value, divisor));
  Sum whole, rest, dividend = sumOf(left);
  whole.constant = floorQuotient(dividend.constant, divisor);
  rest.constant = dividend.constant - whole.constant * divisor;
  for (const DimTerm& term : dividend.terms) {
    bool divides = term.coefficient % divisor == 0;
    (divides ? whole : rest)
        .terms.push_back({term.variable, divides ? term.coefficient / divisor : term.coefficient});
  }
  if (rest.terms.empty())
    return sum(std::move(whole.terms), whole.constant);
  const Dim* inner = rest.terms[0].variable;
  if (rest.terms.size() == 1 && rest.terms[0].coefficient == 1 &&
      inner->kind == DimKind::Quotient) {
    int64_t shift = 0, divisors = 0, innerDivisor = inner->terms[0].coefficient;
    if (__builtin_mul_overflow(rest.constant, innerDivisor, &shift) ||
        __builtin_mul_overflow(divisor, innerDivisor, &divisors))
      return any_;
    const Dim* quotient = floorDivide(add(inner->terms[0].variable, constant(shift)), divisors);
    return add(sum(std::move(whole.terms), whole.constant), quotient);
  }
  DimTerm quotient{sum(std::move(rest.terms), rest.constant), divisor};
  const Dim* fraction = internForm({.kind = DimKind::Quotient, .terms = {&quotient, 1}});
  return add(sum(std::move(whole.terms), whole.constant), fraction);
}

const Dim* TypeContext::substitute(const Dim* dim,
                                   const std::function<const Dim*(const Dim*)>& replace) {
  if (!dim->hasSymbol && !dim->hasUnknown)
    return dim;
  const Dim* result = nullptr;
  switch (dim->kind) {
  case DimKind::Constant:
  case DimKind::Any:
    return dim;
  case DimKind::Symbol:
  case DimKind::Unknown:
    return replace(dim);
  case DimKind::Quotient:
    return floorDivide(substitute(dim->terms[0].variable, replace), dim->terms[0].coefficient);
  case DimKind::Product:
    result = constant(1);
    for (const DimTerm& factor : dim->terms)
      for (int64_t i = 0; i < factor.coefficient; ++i)
        result = multiply(result, substitute(factor.variable, replace));
    return result;
  case DimKind::Linear:
    break;
  }
  std::vector<DimTerm> summands{{constant(dim->value), 1}};
  for (const DimTerm& term : dim->terms)
    summands.push_back({substitute(term.variable, replace), term.coefficient});
  return addAll(summands);
}

const Dim* product(TypeContext& types, Dims dims) {
  const Dim* result = types.constant(1);
  for (const Dim* dim : dims)
    result = types.multiply(result, dim);
  return result;
}

} // namespace lang

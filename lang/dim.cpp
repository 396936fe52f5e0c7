// Arithmetic on dimensions, in normal form. Sums are short: a form that grows past the limits is
// `?`, so no program makes the arithmetic run away.
#include "lang/type.h"

#include <algorithm>
#include <optional>

namespace lang {

namespace {

constexpr size_t mostTerms = 32, mostFactors = 8;
constexpr uint8_t mostDepth = 16;

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

bool addScaled(Sum& sum, const Sum& other, int64_t scale) {
  bool fits = accumulate(sum.constant, other.constant, scale);
  for (const DimTerm& term : other.terms)
    fits = fits && addTerm(sum.terms, term.variable, term.coefficient, scale);
  std::erase_if(sum.terms, [](const DimTerm& term) { return term.coefficient == 0; });
  return fits && sum.terms.size() <= mostTerms;
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

const Dim* TypeContext::sum(std::span<const DimTerm> terms, int64_t number) {
  if (terms.empty())
    return constant(number);
  if (terms.size() == 1 && number == 0 && terms[0].coefficient == 1)
    return terms[0].variable;
  return internDim({.kind = DimKind::Linear, .value = number, .terms = terms});
}

const Dim* TypeContext::add(const Dim* left, const Dim* right) {
  if (left->isAny() || right->isAny())
    return any_;
  Sum result = sumOf(left);
  if (!addScaled(result, sumOf(right), 1))
    return any_;
  return sum(result.terms, result.constant);
}

const Dim* TypeContext::subtract(const Dim* left, const Dim* right) {
  return add(left, multiply(right, constant(-1)));
}

/// The product of two variables of linear forms; null when it is too large.
const Dim* TypeContext::multiplyVariables(const Dim* left, const Dim* right) {
  std::vector<DimTerm> factors = factorsOf(left);
  for (const DimTerm& factor : factorsOf(right))
    addTerm(factors, factor.variable, factor.coefficient, 1);
  int64_t degree = 0;
  for (const DimTerm& factor : factors)
    degree += factor.coefficient;
  return degree <= int64_t(mostFactors) ? internDim({.kind = DimKind::Product, .terms = factors})
                                        : nullptr;
}

const Dim* TypeContext::multiply(const Dim* left, const Dim* right) {
  if (left->isConstant(0) || right->isConstant(0))
    return constant(0);
  if (left->isAny() || right->isAny())
    return any_;
  Sum result, a = sumOf(left), b = sumOf(right);
  bool fits = addScaled(result, a, b.constant) && addScaled(result, {b.terms, 0}, a.constant);
  for (const DimTerm& x : a.terms)
    for (const DimTerm& y : b.terms) {
      const Dim* both = fits ? multiplyVariables(x.variable, y.variable) : nullptr;
      fits = both && addTerm(result.terms, both, x.coefficient, y.coefficient) &&
             result.terms.size() <= mostTerms;
    }
  std::erase_if(result.terms, [](const DimTerm& term) { return term.coefficient == 0; });
  return fits ? sum(result.terms, result.constant) : any_;
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
    return sum(whole.terms, whole.constant);
  const Dim* inner = rest.terms[0].variable;
  if (rest.terms.size() == 1 && rest.terms[0].coefficient == 1 &&
      inner->kind == DimKind::Quotient) {
    int64_t shift = 0, divisors = 0, innerDivisor = inner->terms[0].coefficient;
    if (__builtin_mul_overflow(rest.constant, innerDivisor, &shift) ||
        __builtin_mul_overflow(divisor, innerDivisor, &divisors))
      return any_;
    const Dim* quotient = floorDivide(add(inner->terms[0].variable, constant(shift)), divisors);
    return add(sum(whole.terms, whole.constant), quotient);
  }
  DimTerm quotient{sum(rest.terms, rest.constant), divisor};
  if (quotient.variable->depth >= mostDepth)
    return any_;
  const Dim* fraction = internDim({.kind = DimKind::Quotient, .terms = {&quotient, 1}});
  return add(sum(whole.terms, whole.constant), fraction);
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
  result = constant(dim->value);
  for (const DimTerm& term : dim->terms)
    result = add(result, multiply(substitute(term.variable, replace), constant(term.coefficient)));
  return result;
}

const Dim* product(TypeContext& types, Dims dims) {
  const Dim* result = types.constant(1);
  for (const Dim* dim : dims)
    result = types.multiply(result, dim);
  return result;
}

} // namespace lang

// Solving linear equations one at a time.
#include "typecheck/dims.h"

#include <algorithm>
#include <unordered_set>

namespace typecheck {

using lang::DimKind;
using lang::DimTerm;
using lang::Type;

DimSolver::DimSolver(lang::TypeContext& types, uint32_t firstUnknown) : types_(types) {
  for (uint32_t number = 0; number < firstUnknown; ++number)
    fresh();
}

const Dim* DimSolver::fresh() {
  unknowns_.push_back(types_.unknownDim(uint32_t(unknowns_.size())));
  bindings_.push_back(nullptr);
  return unknowns_.back();
}

const Dim* DimSolver::resolve(const Dim* dim) {
  return dim->hasUnknown ? resolve(dim, 0) : dim;
}

/// Chains of unknowns are shortened on the way; one too long to follow is `?`.
const Dim* DimSolver::resolve(const Dim* dim, uint32_t depth) {
  constexpr uint32_t mostDepth = 1000;
  if (depth > mostDepth)
    return types_.any();
  return types_.substitute(dim, [&](const Dim* variable) {
    if (variable->kind != DimKind::Unknown)
      return variable;
    const Dim*& bound = bindings_[size_t(variable->value)];
    if (!bound)
      return variable;
    if (bound->hasUnknown)
      bound = resolve(bound, depth + 1);
    return bound;
  });
}

const Dim* DimSolver::unify(const Dim* left, const Dim* right) {
  left = resolve(left);
  right = resolve(right);
  if (left == right)
    return left;
  if (left->isAny() || right->isAny())
    return types_.any();
  if (left->isConstant() && right->isConstant())
    return left->value == right->value ? left : nullptr;
  return unifyForms(left, right);
}

namespace {

/// The one unknown that an equation can be solved for: it stands alone in one summand.
const DimTerm* onlyUnknown(std::span<const DimTerm> terms) {
  const DimTerm* found = nullptr;
  for (const DimTerm& term : terms) {
    if (!term.variable->hasUnknown)
      continue;
    if (found || term.variable->kind != DimKind::Unknown)
      return nullptr;
    found = &term;
  }
  return found;
}

/// Among several unknowns, one whose solution is a size whatever the others are: a sum of multiples
/// of these.
const DimTerm* sureUnknown(const Dim* sum) {
  auto isPlain = [](const DimTerm& term) {
    return !term.variable->hasUnknown || term.variable->kind == DimKind::Unknown;
  };
  if (!std::ranges::all_of(sum->terms, isPlain))
    return nullptr;
  for (const DimTerm& own : sum->terms) {
    if (own.coefficient == INT64_MIN)
      continue;
    auto fits = [&](int64_t number) {
      bool isOpposite = (number < 0) != (own.coefficient < 0);
      return number == 0 || (isOpposite && number % std::abs(own.coefficient) == 0);
    };
    auto isSize = [&](const DimTerm& term) { return &term == &own || fits(term.coefficient); };
    if (own.variable->hasUnknown && fits(sum->value) && std::ranges::all_of(sum->terms, isSize))
      return &own;
  }
  return nullptr;
}

} // namespace

/// Solves `difference = 0`, in which `term` holds the unknown. Null when it has no solution.
const Dim* DimSolver::solveFor(const DimTerm& term, const Dim* difference) {
  const Dim* scaled = types_.multiply(term.variable, types_.constant(term.coefficient));
  const Dim* rest = types_.subtract(difference, scaled);
  int64_t sign = term.coefficient < 0 ? 1 : -1, divisor = std::abs(term.coefficient);
  const Dim* solution = types_.floorDivide(types_.multiply(rest, types_.constant(sign)), divisor);
  if (rest->isConstant() && (rest->value % divisor != 0 || solution->value < 0))
    return nullptr;
  bindings_[size_t(term.variable->value)] = solution;
  ++solvedCount_;
  return solution;
}

const Dim* DimSolver::unifyForms(const Dim* left, const Dim* right) {
  const Dim* difference = types_.subtract(left, right);
  if (difference->isConstant())
    return difference->value == 0 ? left : nullptr;
  if (difference->isAny())
    return left;
  DimTerm whole{difference, 1};
  bool isSum = difference->kind == DimKind::Linear;
  if (const DimTerm* term = onlyUnknown(isSum ? difference->terms : std::span(&whole, 1)))
    return solveFor(*term, difference) ? resolve(left) : nullptr;
  if (const DimTerm* term = isSum ? sureUnknown(difference) : nullptr)
    return solveFor(*term, difference) ? resolve(left) : nullptr;
  if (difference->hasUnknown) {
    equations_.push_back({left, right});
    return left;
  }
  if (left->hasForeign || right->hasForeign)
    return right->isConstant() ? right : left->isConstant() ? left : nullptr;
  return matchDims(left, right) == lang::DimMatch::Different ? nullptr : left;
}

lang::DimBound simplified(lang::DimBound bound) {
  const Dim* dim = bound.dim;
  if (dim->kind != DimKind::Linear || dim->terms.size() != 1 || dim->terms[0].coefficient <= 0 ||
      bound.divisor != 1)
    return bound;
  int64_t coefficient = dim->terms[0].coefficient, distance = 0;
  if (__builtin_sub_overflow(bound.least, dim->value, &distance) ||
      __builtin_add_overflow(distance, coefficient - 1, &distance))
    return bound;
  return {dim->terms[0].variable, distance / coefficient};
}

/// Shared parts are visited once: written out, the type may be exponentially larger.
bool namesSize(const Dim* form) {
  std::vector<const Dim*> stack{form};
  while (!stack.empty()) {
    const Dim* dim = stack.back();
    stack.pop_back();
    if (dim->kind == lang::DimKind::Symbol && !dim->parameter)
      return true;
    for (const lang::DimTerm& term : dim->terms)
      stack.push_back(term.variable);
  }
  return false;
}

std::vector<const Dim*> namedDims(const Type* type) {
  if (!type || !type->hasSymbol)
    return {};
  std::vector<const Dim*> found;
  std::vector<const Type*> stack{type};
  std::unordered_set<const void*> seen;
  auto collect = [&](const Dim* root) {
    std::vector<const Dim*> dims{root};
    while (!dims.empty()) {
      const Dim* dim = dims.back();
      dims.pop_back();
      if (!dim->hasSymbol || !seen.insert(dim).second)
        continue;
      if (dim->isNamed())
        found.push_back(dim);
      for (const DimTerm& term : dim->terms)
        dims.push_back(term.variable);
    }
  };
  while (!stack.empty()) {
    const Type* at = stack.back();
    stack.pop_back();
    if (!at->hasSymbol || !seen.insert(at).second)
      continue;
    for (const Dim* dim : at->shape)
      collect(dim);
    stack.insert(stack.end(), at->parts.rbegin(), at->parts.rend());
    if (at->result)
      stack.push_back(at->result);
  }
  return found;
}

} // namespace typecheck

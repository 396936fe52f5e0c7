// Equations between dimensions.
//
// Named dimensions are rigid: they stand for every size, so `n = 5` is no solution but a mistake.
// Unknowns come from instantiated calls, from `_` in shapes, and from names that only a body
// mentions; an equation with one unknown is solved at once, others wait until more is known. `?` is
// gradual: it equals everything, and the check is left to run time.
#pragma once

#include "lang/op/relation.h"

#include <unordered_map>

namespace typecheck {

using lang::Dim;

/// Two forms that must be equal and could not be compared yet.
struct DimEquation {
  const Dim* left;
  const Dim* right;
};

/// Substitution of unknown dimensions.
class DimSolver {
public:
  DimSolver(lang::TypeContext& types, uint32_t firstUnknown);

  const Dim* fresh();
  /// The form with everything known filled in.
  const Dim* resolve(const Dim* dim);
  /// The one dimension that both are, or null when they differ. Where `?` meets something, `?`
  /// wins, as in Relay.
  const Dim* unify(const Dim* left, const Dim* right);

  /// Equations that wait since this was last called.
  std::vector<DimEquation> takeEquations() { return std::exchange(equations_, {}); }
  /// How many unknowns were solved so far.
  uint64_t solvedCount() const { return solvedCount_; }

private:
  const Dim* resolve(const Dim* dim, uint32_t depth);
  const Dim* unifyForms(const Dim* left, const Dim* right);
  const Dim* solveFor(const lang::DimTerm& term, const Dim* difference);

  lang::TypeContext& types_;
  std::vector<const Dim*> unknowns_;
  std::vector<const Dim*> bindings_;
  std::vector<DimEquation> equations_;
  uint64_t solvedCount_ = 0;
};

/// A bound in its simplest terms: one on `2 * n - 3` is one on `n`.
lang::DimBound simplified(lang::DimBound bound);

/// Whether a form has a name that is no declared parameter.
bool namesSize(const Dim* form);

/// The named dimensions of a type, each once, in the order of their first use.
std::vector<const Dim*> namedDims(const lang::Type* type);

} // namespace typecheck

// Calls whose shapes are computed, as calls of operators that have numbers in their place.
#pragma once

#include "lang/ir/builder.h"
#include "typecheck/checking.h"

#include <unordered_set>

namespace typecheck {

class FixedCalls {
public:
  /// Finds those of a module that was inferred without an error: where the sizes are numbers, or
  /// can be told by numbers, and the result is of the same type. `scratch` makes nodes in that
  /// module.
  FixedCalls(lang::Builder& scratch, Checking& checking);

  /// The call that stands for `call` in a copy, whose own copy is `copied`; null for one that
  /// stays.
  const lang::Call* replacing(const lang::Call& call, const lang::Call& copied,
                              lang::Builder& make) const;
  bool isFixed(const lang::Call& call) const { return attributes_.contains(&call); }
  /// Whether nothing uses a temporary any more.
  bool isUnused(const lang::Var& var) const { return unused_.contains(&var); }

  /// The type of an atom of that module.
  const Type* typeOf(const lang::Expr& atom) const;

private:
  void find(const lang::Call& call, const Type* wanted);
  void dropOperands(const lang::Call& call);
  void drop(const lang::Expr& atom);
  bool isAttribute(const lang::Call& call, size_t operand) const;
  std::optional<std::vector<int64_t>> numbersOf(const lang::Call& call, size_t operand);

  lang::Builder& scratch_;
  Checking& checking_;
  std::unordered_map<const lang::Call*, const lang::Attributes*> attributes_;
  /// By Var::number.
  std::vector<uint32_t> uses_;
  std::unordered_set<const lang::Var*> unused_;
};

} // namespace typecheck

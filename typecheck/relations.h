// The queue of type relations that wait for operand types.
//
// Relations are asked at the points where TVM asks them (when a function literal is entered, and at
// the end of a definition), because what `?` does to a type depends on what was known by then.
#pragma once

#include "lang/diagnostic.h"
#include "lang/expr.h"
#include "lang/op.h"
#include "typecheck/unify.h"

namespace typecheck {

/// An operator call, or a projection, whose result type is open.
struct PendingRelation {
  const lang::OperatorRow* row = nullptr;
  const lang::Attributes* attributes = nullptr;
  std::vector<const Type*> operands;
  std::vector<const lang::Operand*> places;
  const Type* result = nullptr;
  lang::SourceRange range;
  /// For a projection: the field; `row` is null then.
  uint32_t field = 0;
};

class Relations {
public:
  Relations(Unifier& unifier, lang::Diagnostics& diagnostics)
      : unifier_(unifier), diagnostics_(diagnostics) {}

  void add(PendingRelation relation) { pending_.push_back(std::move(relation)); }

  /// Asks until nothing new comes out.
  void solve();
  /// Reports what is still open, and forgets it.
  void reportUnsolved();

private:
  enum class Progress : uint8_t { Done, Waiting };

  Progress ask(const PendingRelation& relation);
  Progress askOperator(const PendingRelation& relation);
  Progress askProjection(const PendingRelation& relation);
  void unifyOrReport(const PendingRelation& relation, const Type* left, const Type* right);
  void reportFailure(const PendingRelation& relation, const lang::RelationResult& result,
                     std::span<const Type* const> operands);

  Unifier& unifier_;
  lang::Diagnostics& diagnostics_;
  std::vector<PendingRelation> pending_;
};

} // namespace typecheck

// The queue of type relations that wait for operand types.
//
// Relations are asked at the points where TVM asks them (when a function literal is entered, and at
// the end of a definition), because what `?` does to a type depends on what was known by then. One
// that has to wait is asked again only when an unknown that it waits for came to stand for
// something.
#pragma once

#include "lang/ir/expr.h"
#include "lang/ir/typing.h"
#include "lang/op/declared.h"
#include "lang/op/relation.h"
#include "lang/source/diagnostic.h"
#include "runtime/arena.h"
#include "typecheck/unify.h"

#include <deque>
#include <set>

namespace typecheck {

/// An operator call, or a projection, whose result type is open.
struct PendingRelation {
  const lang::OperatorRow* row = nullptr;
  /// The definition that the call is in.
  const lang::Global* definition = nullptr;
  const lang::Attributes* attributes = nullptr;
  lang::Types operands;
  std::span<const lang::Operand> places;
  const Type* result = nullptr;
  lang::SourceRange range;
  /// For a projection: the field; `row` is null then.
  uint32_t field = 0;
  bool isDone = false;
};

/// A size that something takes for granted: an operator call, or a call of `callee`, which has the
/// requirement in its own terms. `dim` is the same in terms of `definition`, at the place `range`.
struct OpenBound {
  const lang::Global* definition;
  const lang::Global* callee;
  lang::Requirement requirement;
  const lang::Dim* dim;
  lang::SourceRange range;
};

/// Reports that a value is not what its place wants; gets the wanted and the given type.
using MismatchReporter = std::function<void(const Type* wanted, const Type* given)>;

class Relations {
public:
  Relations(Unifier& unifier, lang::Diagnostics& diagnostics);
  Relations(const Relations&) = delete;
  Relations& operator=(const Relations&) = delete;

  void add(PendingRelation relation, lang::Types operands);

  /// Asks until nothing new comes out.
  void solve();
  /// Reports what is still open, and poisons the results that it left unknown.
  void reportUnsolved();
  /// Forgets all relations.
  void clear();

  /// The open unknowns that relations wait for, but for those that may be type parameters to them.
  std::vector<const Type*> awaited();

  /// Remembers what to say when `unknown`, which a place wanted to be something and a relation has
  /// not told yet, comes out as something else.
  void expect(const Type* unknown, MismatchReporter report) {
    expectations_.try_emplace(unknown, std::move(report));
  }

  /// What relations that were solved took for granted.
  std::vector<OpenBound> bounds;
  /// By Var::number: the value that a binding gave the variable, for origins in messages.
  std::vector<const lang::Expr*> definitions;

private:
  /// Nothing when settled, else the operand whose type is needed.
  using Wait = std::optional<size_t>;

  std::optional<size_t> next(size_t from);
  Wait ask(PendingRelation& relation);
  Wait askOperator(PendingRelation& relation);
  lang::RelationResult answer(const PendingRelation& relation,
                              std::span<const Type* const> operands);
  Wait waitOrGoOn(PendingRelation& relation, const lang::RelationResult& result,
                  std::span<const Type* const> operands);
  Wait askProjection(const PendingRelation& relation);
  bool isSolvedByParameter(const PendingRelation& relation, const Type* unknown);
  void collectBounds(const PendingRelation& relation, const lang::RelationResult& result);
  void waitFor(size_t relation, size_t operand);
  void reportField(const PendingRelation& relation, const Type& tuple);
  void reportNoTuple(const PendingRelation& relation, const Type& type);
  /// False when it had to report.
  bool unifyOrReport(const PendingRelation& relation, const Type* left, const Type* right);
  void reportFailure(const PendingRelation& relation, const lang::RelationResult& result,
                     std::span<const Type* const> operands);
  void reportUnsolved(const PendingRelation& relation);

  Unifier& unifier_;
  lang::Diagnostics& diagnostics_;
  std::deque<PendingRelation> relations_;
  /// The operands of all of them.
  runtime::Arena arena_;
  /// The first relation that was never asked, and the numbers of those before to ask again.
  size_t firstFresh_ = 0;
  std::set<size_t> ready_;
  /// By the number of an unknown: relations that wait for it.
  std::unordered_map<uint32_t, std::vector<size_t>> waiting_;
  std::unordered_map<const Type*, MismatchReporter> expectations_;
};

} // namespace typecheck

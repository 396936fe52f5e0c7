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
#include "typecheck/number_relations.h"
#include "typecheck/open_definitions.h"
#include "typecheck/sized_calls.h"

#include <set>
#include <unordered_set>

namespace typecheck {

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
  /// `values` are those that bindings gave variables, by Var::number.
  /// `sizes` is null where sizes are no values.
  Relations(Unifier& unifier, OpenDefinitions& definitions, KnownSizes* sizes,
            runtime::Arena& attributes, lang::Diagnostics& diagnostics,
            const std::vector<const lang::Expr*>& values);
  Relations(const Relations&) = delete;
  Relations& operator=(const Relations&) = delete;

  void add(const PendingRelation& relation, lang::Types operands);
  runtime::Arena& arena() { return arena_; }

  /// Asks until nothing new comes out.
  void solve();
  /// Lets the unknowns that come to stand for something tell the relations that wait for them.
  void listen();
  /// The instances of open definitions that are asked for and not done.
  std::span<Instance* const> neededInstances() const { return open_.needed; }
  /// Whether calls wait for sizes of their results, or attributes, to be numbers, and whether uses
  /// of open definitions wait for sizes of their operands.
  struct Waits {
    bool forNumbers, forSizes;
  };
  Waits waits() const { return {!open_.sized.empty(), !open_.shaped.empty()}; }
  /// Remembers an open number of these relations.
  void addNumber(const Type* number) { open_.numbers.push_back(number); }
  /// The next use of an open definition that is to have an instance of its own, call of a value
  /// that may have been a record, or operator as a value; null while there is none.
  PendingRelation* nextToJoin();
  /// The numbers that are known of the operands of a use which count something.
  std::vector<std::vector<const Dim*>> numbersOfOperands(const PendingRelation& use) {
    return sized_.numbersOf(use, definitions_.countedParameters(*use.open));
  }
  /// Gives the first number whose use asks for no type the one that it has by itself, or lets the
  /// first use of an open definition that waits have an instance of its own. False when there is
  /// none.
  bool settleNext();
  /// Operator calls that were answered while sizes of their operands were open, and still are.
  std::vector<const PendingRelation*> answeredOpen();
  /// Whether such a call is refused when `size` stands for its open sizes.
  bool isRefused(const PendingRelation& relation,
                 const std::function<const lang::Dim*(const lang::Dim*)>& size);
  /// Reports what is still open, and poisons the results that it left unknown.
  void reportUnsolved();
  /// Forgets all relations.
  void clear();

  /// The open unknowns that relations wait for, but for those that may be type parameters to them.
  std::vector<const Type*> awaited();

  /// Remembers what to say when `unknown`, which a place wanted to be something and a relation has
  /// not told yet, comes out as something else.
  void expect(const Type* unknown, MismatchReporter report) {
    queue_.expectations.try_emplace(unknown, std::move(report));
  }

  /// What relations ask of who knows the definitions.
  struct Questions {
    /// The type of a field of a constructor, for a value of type `data`.
    std::function<const Type*(const lang::Constructor&, size_t field, const Type* data)> fieldType;
    /// The type of an instance of an open definition at one use.
    std::function<const Type*(const lang::Global&)> instanceType;
  };
  Questions questions;
  /// What relations that were solved took for granted.
  std::vector<OpenBound> bounds;

private:
  /// Nothing when settled, else the operand whose type is needed.
  using Wait = std::optional<size_t>;

  void solveReady();
  std::optional<size_t> next(size_t from);
  Wait ask(PendingRelation& relation, size_t number);
  Wait askOperator(PendingRelation& relation);
  lang::RelationResult answer(const PendingRelation& relation,
                              std::span<const Type* const> operands);
  Wait waitOrGoOn(PendingRelation& relation, const lang::RelationResult& result,
                  std::span<const Type* const> operands);
  bool settleAttributes(PendingRelation& relation, size_t number);
  Wait askCount(const PendingRelation& relation);
  void takeResult(const PendingRelation& relation, const Type* output);
  Wait askProjection(const PendingRelation& relation);
  Wait askChange(const PendingRelation& relation);
  const lang::Constructor* recordOf(const PendingRelation& relation, const Type* record,
                                    std::string_view field, lang::SourceRange name);
  Wait askOpen(PendingRelation& relation, size_t number);
  Wait askWalk(const PendingRelation& relation, size_t number);
  Wait waitToJoin(const PendingRelation& relation, size_t number);
  std::span<const size_t> openWalks();
  std::unordered_set<uint32_t> numbersBesideUnknowns();
  bool settleNumber(const std::unordered_set<uint32_t>& others);
  bool joinFirst(bool (*isMeant)(Unifier&, const PendingRelation&));
  bool fitsPartial(const PendingRelation& relation, size_t i);
  void takeInstance(PendingRelation& relation, const Instance& instance);
  void reportInstance(const PendingRelation& relation, const lang::Diagnostic& problem);
  void askField(const PendingRelation& relation, const Type* record);
  bool decideNumbers(PendingRelation& relation, std::span<const Type* const> operands);
  bool isSolvedByParameter(const PendingRelation& relation, const Type* unknown);
  void collectBounds(const PendingRelation& relation, const lang::RelationResult& result);
  void waitFor(size_t relation, size_t operand);
  void reportField(const PendingRelation& relation, const Type& tuple);
  void reportNoTuple(const PendingRelation& relation, const Type& type);
  /// False when it had to report.
  bool unifyOrReport(const PendingRelation& relation, const Type* left, const Type* right);
  void reportFailure(const PendingRelation& relation, lang::RelationResult result,
                     lang::Types operands);
  void reportUnsolved(const PendingRelation& relation);

  Unifier& unifier_;
  OpenDefinitions& definitions_;
  SizedCalls sized_;
  NumberRelations numbers_;
  lang::Diagnostics& diagnostics_;
  const std::vector<const lang::Expr*>& values_;
  std::vector<PendingRelation*> relations_;
  /// They, and their operands.
  runtime::Arena arena_;
  struct Queue {
    /// The first relation that was never asked, and the numbers of those before to ask again.
    size_t firstFresh = 0;
    std::set<size_t> ready;
    /// By the number of an unknown: relations that wait for it.
    std::unordered_map<uint32_t, std::vector<size_t>> waiting;
    /// What to say when an unknown comes out as something else than its place wanted.
    std::unordered_map<const Type*, MismatchReporter> expectations;
  };
  Queue queue_;
  struct Open {
    /// The numbers of uses of open definitions whose instances are not done.
    std::vector<size_t> needing;
    std::vector<Instance*> needed;
    /// Those that wait for sizes of their results, or for attributes, to be numbers.
    std::vector<size_t> sized;
    /// Those that wait for sizes of their operands.
    std::vector<size_t> shaped;
    /// Uses of open definitions, calls and operators as values, in the order of the program, and
    /// the first that may be open still.
    std::vector<size_t> walked;
    size_t firstWalked = 0;
    /// Those that are to have an instance of their own.
    std::vector<size_t> joining;
    /// Whether those that wait for sizes are to be reported.
    bool goesOn = false;
    /// Open numbers in the order of the program, and the first that may be open still.
    std::vector<const Type*> numbers;
    size_t firstNumber = 0;
  };
  Open open_;
};

} // namespace typecheck

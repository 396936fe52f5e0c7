// Open numbers among the operands of operators.
#pragma once

#include "lang/op/relation.h"
#include "typecheck/pending_relation.h"

namespace typecheck {

class NumberRelations {
public:
  using Answer = std::function<lang::RelationResult(const PendingRelation& relation,
                                                    std::span<const Type* const> operands)>;
  /// `answer` asks an operator about operands.
  NumberRelations(Unifier& unifier, Answer answer)
      : unifier_(unifier), answer_(std::move(answer)) {}

  /// Whether an operand is an open number, or a tuple with one.
  bool holdsNumber(const Type* operand);
  /// The operand to wait for: one of which nothing is known, or else a number.
  size_t awaitedBeside(std::span<const Type* const> operands);

  /// What an operator tells of the numbers: whether they have an element type now, or the number
  /// that it gives, which agrees with them.
  struct Found {
    bool isDecided = false;
    const Type* result = nullptr;
  };
  Found ask(const PendingRelation& relation, std::span<const Type* const> operands);

private:
  template <typename Visit>
  void forEachNumber(std::span<const Type* const> operands, Visit visit);
  OpenClass classOf(const Type* number);
  std::optional<lang::RelationResult> answerWith(const PendingRelation& relation,
                                                 std::span<const Type* const> operands,
                                                 runtime::DType dtype);
  bool decideRefused(const PendingRelation& relation, std::span<const Type* const> operands);
  bool decideByOthers(const PendingRelation& relation, std::span<const Type* const> operands);
  bool decideByOnlyFit(const PendingRelation& relation, std::span<const Type* const> operands);
  void decideAll(std::span<const Type* const> operands, runtime::DType dtype);
  Found linkNumbers(const PendingRelation& relation, std::span<const Type* const> operands);

  Unifier& unifier_;
  Answer answer_;
};

} // namespace typecheck

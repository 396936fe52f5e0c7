// Calls of operators in which sizes are numbers: operands by which a shape is computed, attributes
// that arguments give, counts.
#pragma once

#include "lang/op/relation.h"
#include "typecheck/known_sizes.h"
#include "typecheck/pending_relation.h"

namespace typecheck {

class SizedCalls {
public:
  /// `sizes` is null where sizes are no values. Attributes that are found out are kept in `arena`.
  SizedCalls(Unifier& unifier, KnownSizes* sizes, runtime::Arena& arena)
      : unifier_(unifier), sizes_(sizes), arena_(arena) {}

  /// What operands are as sizes, which `lists` keeps.
  std::vector<std::optional<lang::Dims>> sizesOf(const PendingRelation& relation,
                                                 std::vector<std::vector<const Dim*>>& lists);
  /// The types of operands, but nothing for those that are sizes: a text has them as attributes.
  std::vector<const Type*> withoutSizes(const PendingRelation& relation, lang::Types operands);
  /// Takes from an answer the numbers that may be anything, which are no sizes of types.
  void forgetNumbers(lang::RelationResult& result);
  /// Finds out the attributes that arguments give. The number of the first one that is not known,
  /// among these arguments; nothing when all are.
  std::optional<size_t> settleAttributes(PendingRelation& relation);
  /// Whether an operand is known to be an integer that may count something.
  bool isCount(const PendingRelation& relation, const Type* operand);
  /// The numbers that those operands are, as sizes or lists of them, which are asked for; none of
  /// others.
  std::vector<std::vector<const Dim*>> numbersOf(const PendingRelation& relation,
                                                 const std::vector<bool>& isAsked);

private:
  std::optional<std::vector<const Dim*>> numbersOf(const lang::Expr& atom);
  const lang::Attributes* withAttribute(const lang::Attributes& attributes, std::string_view name,
                                        std::span<const Dim* const> sizes);

  Unifier& unifier_;
  KnownSizes* sizes_;
  runtime::Arena& arena_;
};

} // namespace typecheck

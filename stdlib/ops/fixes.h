// Fixes for calls that a relation refused: changed calls are tried, and only what would be accepted
// is suggested. Whether the rest of the program takes the change as well, others ask.
//
// In the texts `{}` stands for the changed code. In one without changes, which states a fact,
// `%data` stands for the operand called `data`, as in gradient rules.
#pragma once

#include "lang/op/relation.h"

#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

namespace stdlib {

using Relation = lang::RelationResult (*)(const lang::RelationCall&);
/// Tensors of more dimensions get no fixes that try one dimension after the other.
inline constexpr size_t highestFixedRank = 64;

/// A fix, or nothing.
using Fix = std::optional<lang::CallFix>;
using Fixes = std::vector<lang::CallFix>;

/// A call of which some operands and attributes are changed, to ask a relation again. It keeps
/// views of the call that it was made from.
class Trial {
public:
  explicit Trial(const lang::RelationCall& call);

  Trial& operand(size_t i, const lang::Type* type);
  Trial& shape(size_t i, lang::Dims shape);
  Trial& attribute(std::string_view name, const lang::AttributeValue& value);
  /// Lists must outlive the trial.
  Trial& attribute(std::string_view name, const std::vector<lang::AttributeValue>& items);

  bool holds(Relation relation) const;

private:
  const lang::RelationCall& call_;
  std::vector<const lang::Type*> operands_;
  std::vector<lang::AttributeValue> values_;
};

inline Fixes fixesOf(Fix fix) {
  return fix ? Fixes{std::move(*fix)} : Fixes{};
}
inline Fixes fixesOf(Fixes fixes) {
  return fixes;
}

/// The relation `check`, with fixes from `fix`, a Fix or Fixes, in its failures that have none.
template <Relation check, auto fix>
lang::RelationResult withFix(const lang::RelationCall& call) {
  lang::RelationResult result = check(call);
  if (result.outcome == lang::RelationResult::Outcome::Failed && result.fixes.empty())
    result.fixes = fixesOf(fix(call));
  return result;
}

/// All that there are, each of interest beside the others.
Fixes allFixes(std::initializer_list<Fix> fixes);

/// All that there are; each but the first is a fallback. Facts count when nothing is before them.
Fixes firstFixes(std::initializer_list<Fix> fixes);

/// Adds fixes that are fallbacks to those before.
void addFallbacks(Fixes& fixes, const Fixes& others);

/// The fix with another text.
Fix reworded(Fix fix, lang::Words text);

/// Exchanges operands 0 and 1.
Fix swapFix(const lang::RelationCall& call, Relation relation);

/// Exchanges the last two dimensions of operand `i`; `text` tells so.
Fix transposeFix(const lang::RelationCall& call, Relation relation, size_t i,
                 lang::Words text = "transpose it: {}");

/// Puts a batch axis before operand `i`.
Fix batchAxisFix(const lang::RelationCall& call, Relation relation, size_t i);

/// The call `before` operand `after`, whatever the relation says: for a type that was tried.
lang::CallFix wrapFix(lang::Words text, size_t operand, std::string before, lang::Words after,
                      std::optional<size_t> field = {});

/// Gives an integer, a truth value or a string as an attribute.
Fix attributeFix(const lang::RelationCall& call, Relation relation, std::string_view name,
                 const lang::AttributeValue& value, lang::Words text = "write {}");

/// Gives a list of integers as an attribute.
Fix listFix(const lang::RelationCall& call, Relation relation, std::string_view name,
            std::span<const int64_t> values, lang::Words text = "write {}");

/// Puts axes of extent 1 into operand `i` somewhere.
Fix newAxesFix(const lang::RelationCall& call, Relation relation, size_t i, size_t count);

/// A fact: which shape operand `i`, called `name`, must have: its own with `extent` as dimension
/// `dim`.
Fix shapeFix(const lang::RelationCall& call, Relation relation, size_t i, std::string_view name,
             size_t dim, const lang::Dim* extent);

/// True when of two different types a programmer would rather convert the first: integers become
/// floats, small integers large ones, and float64, which mostly comes by accident, the other float.
bool givesWay(runtime::DType left, runtime::DType right);

/// A failure with a fix, or a fact.
lang::RelationResult mended(lang::RelationResult failure, lang::CallFix fix);

/// Fails because of dimensions that an attribute caused: the whole call is at fault.
lang::RelationResult failedCall(const lang::RelationCall& call, std::vector<lang::DimMark> marks,
                                lang::Words problem);
lang::RelationResult failedCall(const lang::RelationCall& call, std::vector<lang::DimMark> marks,
                                runtime::Problem problem);

/// `the last dimension`, `the second to last dimension`, `dimension 1`, of `rank` dimensions.
std::string dimName(size_t dim, size_t rank);

/// `1 channel`, `2 channels`.
std::string counted(int64_t count, std::string_view noun);

/// The divisors of `whole` next to `wanted` below and above, which may be one or none.
std::vector<int64_t> nearDivisors(int64_t whole, int64_t wanted);

} // namespace stdlib

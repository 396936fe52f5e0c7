// Fixes for calls that a relation refused: changed calls are tried, and only what would be accepted
// is suggested.
//
// In the texts `%data` stands for the operand called `data`, as in gradient rules; whoever shows
// them puts what the program has there.
#pragma once

#include "lang/relation.h"

#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

namespace stdlib {

using Relation = lang::RelationResult (*)(const lang::RelationCall&);
/// Tensors of more dimensions get no fixes that try one dimension after the other.
inline constexpr size_t highestFixedRank = 64;

/// A fix in words, or nothing.
using Fix = std::optional<std::string>;

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

/// The relation `check`, with a fix from `fix` in its failures that have none.
template <Relation check, Fix (*fix)(const lang::RelationCall&)>
lang::RelationResult withFix(const lang::RelationCall& call) {
  lang::RelationResult result = check(call);
  if (result.outcome == lang::RelationResult::Outcome::Failed && result.help.empty())
    result.help = fix(call).value_or("");
  return result;
}

/// The first one or two fixes in one text; nothing when there is none.
Fix firstFixes(std::initializer_list<Fix> fixes);

/// Exchanges operands 0 and 1; `correct` is the text of the call with both in their places.
Fix swapFix(const lang::RelationCall& call, Relation relation, std::string_view correct);

/// Exchanges the last two dimensions of operand `i`, called `name`.
Fix transposeFix(const lang::RelationCall& call, Relation relation, size_t i,
                 std::string_view name);

/// Puts a batch axis before operand `i`, called `name`.
Fix batchAxisFix(const lang::RelationCall& call, Relation relation, size_t i,
                 std::string_view name);

/// Gives an integer, a truth value or a string as an attribute.
Fix attributeFix(const lang::RelationCall& call, Relation relation, std::string_view name,
                 const lang::AttributeValue& value);

/// Gives a list of integers as an attribute.
Fix listFix(const lang::RelationCall& call, Relation relation, std::string_view name,
            std::span<const int64_t> values);

/// Puts axes of extent 1 into operand `i`, called `name`, somewhere.
Fix newAxesFix(const lang::RelationCall& call, Relation relation, size_t i, std::string_view name,
               size_t count);

/// Says which shape operand `i`, called `name`, must have: its own with `extent` as dimension
/// `dim`.
Fix shapeFix(const lang::RelationCall& call, Relation relation, size_t i, std::string_view name,
             size_t dim, const lang::Dim* extent);

/// The first fix that there is.
Fix firstFix(std::initializer_list<Fix> fixes);

/// Fails because of dimensions that an attribute caused: the whole call is at fault.
lang::RelationResult failedCall(const lang::RelationCall& call, std::vector<lang::DimMark> marks,
                                std::string problem, std::string help = {});
lang::RelationResult failedCall(const lang::RelationCall& call, std::vector<lang::DimMark> marks,
                                runtime::Problem problem);

/// `the last dimension`, `the second to last dimension`, `dimension 1`, of `rank` dimensions.
std::string dimName(size_t dim, size_t rank);

/// `1 channel`, `2 channels`.
std::string counted(int64_t count, std::string_view noun);

/// The divisors of `whole` next to `wanted` below and above, which may be one or none.
std::vector<int64_t> nearDivisors(int64_t whole, int64_t wanted);

} // namespace stdlib

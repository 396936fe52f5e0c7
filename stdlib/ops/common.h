// What several families of operators share: rules for shapes and element types, constants, values
// of operands that decide shapes.
//
// Texts of problems do not name the operator; whoever reports them does.
#pragma once

#include "lang/op/compute.h"
#include "lang/op/op.h"
#include "lang/op/relation.h"
#include "runtime/natives/tensor_data.h"

#include <algorithm>
#include <array>
#include <concepts>
#include <optional>
#include <string>
#include <vector>

namespace stdlib {

/// A shape in the making.
using DimVector = std::vector<const lang::Dim*>;

/// Reasons for having no gradient that many operators share.
inline constexpr lang::NoGradient stepFunction{
    "piecewise constant: the derivative is zero almost everywhere", true};
inline constexpr lang::NoGradient truthValue{"the result is a truth value", true};
inline constexpr lang::NoGradient integerValued{"integer-valued", true};
inline constexpr lang::NoGradient constantResult{"the result does not depend on the values", true};

/// The row with a role.
constexpr lang::OperatorRow withRole(lang::OperatorRow row, lang::Role role) {
  row.role = role;
  return row;
}

/// What other libraries call an operator, for families whose rows are made by functions.
struct Synonyms {
  std::string_view name;
  std::string_view synonyms;
};

/// The rows with those; an operator that is none of them is refused while compiling.
template <size_t count, size_t named>
constexpr std::array<lang::OperatorRow, count> alsoCalled(const lang::OperatorRow (&rows)[count],
                                                          const Synonyms (&synonyms)[named]) {
  std::array<lang::OperatorRow, count> result = std::to_array(rows);
  for (const Synonyms& given : synonyms) {
    auto isNamed = [&](const lang::OperatorRow& row) { return row.name == given.name; };
    auto row = std::ranges::find_if(result, isNamed);
    if (row == result.end())
      throw given;
    row->synonyms = given.synonyms;
  }
  return result;
}

/// The result has the type of the first operand.
lang::RelationResult sameAsFirst(const lang::RelationCall& call);

/// The relation of what gives back operand 0, of whatever type: also while that is not known, the
/// result is of the same.
lang::RelationResult sameAsValue(const lang::RelationCall& call);

/// The problem when operands `left` and `right` differ in element type, else nothing.
std::optional<lang::RelationResult> requireSameDType(const lang::RelationCall& call, size_t left,
                                                     size_t right);

/// As above, with the operands' names and a fix in the message.
std::optional<lang::RelationResult> requireSameDType(const lang::RelationCall& call,
                                                     std::span<const lang::OperandRow> rows,
                                                     size_t left, size_t right);

/// Lets a solved result ask that `dim` be at least `least`. Numbers are the relation's to check,
/// and
/// `?` is left to run time.
void requireAtLeast(lang::RelationResult& result, const lang::Dim* dim, int64_t least);

/// As above, that `dim` be a multiple of `divisor`, which is positive.
void requireMultiple(lang::RelationResult& result, const lang::Dim* dim, int64_t divisor);

/// As above, that two forms be equal which quotients keep from being compared.
void requireSame(lang::RelationResult& result, lang::TypeContext& types, const lang::Dim* left,
                 const lang::Dim* right);

/// Lets a solved result ask that `room` be at least 0 unless `extent` is 0, as far as the answer
/// can tell these apart.
void requireRoom(lang::RelationResult& result, const lang::RelationCall& call,
                 const lang::Dim* room, const lang::Dim* extent);

/// What is 0 instead of less, where an answer can say so.
const lang::Dim* notNegative(const lang::RelationCall& call, const lang::Dim* dim);

/// The problem when operand `i`, which messages call `name`, is not of rank 0, else nothing.
std::optional<lang::RelationResult> requireScalar(const lang::RelationCall& call, size_t i,
                                                  std::string_view name);

/// The problem that two shapes do not broadcast, at dimension `where` counted from the back from 1.
std::string broadcastProblem(lang::Dims left, lang::Dims right, size_t where);

/// The failure of two operands whose shapes do not broadcast.
lang::RelationResult broadcastFailure(const lang::RelationCall& call,
                                      std::span<const lang::OperandRow> rows, size_t left,
                                      size_t right);

/// True when a tensor of shape `from` broadcasts to shape `to` itself, as far as is known.
bool broadcastsTo(const lang::RelationCall& call, lang::Dims from, lang::Dims to);

/// The dimensions that an integer-list attribute writes. Nothing when an extent is negative.
std::optional<std::vector<const lang::Dim*>> shapeAttribute(const lang::RelationCall& call,
                                                            std::string_view name);

/// A result of a shape that an attribute writes: if it writes an extent with 64 bits, as in `4i64`,
/// the extents count so, as they do in a type that is written so.
lang::RelationResult solvedAsWritten(const lang::RelationCall& call, std::string_view name,
                                     lang::Dims shape, runtime::DType dtype);

using natives::integerValues;

/// The least value of a type.
lang::Scalar lowestOf(const lang::ComputeCall& call, runtime::DType dtype);

/// A constant of any type; integers take the value truncated and saturated.
lang::Scalar constantOf(const lang::ComputeCall& call, runtime::DType dtype, double value);

} // namespace stdlib

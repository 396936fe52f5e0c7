// What the dynamic operators share: operands that give shapes, axes and counts.
//
// Where the operand's value is known, the relations give exact shapes, else `?`. Ranks are always
// known: a vector that gives a shape must have a known length. The attributes repeat those of the
// static operators; only those that no operand replaces count.
#pragma once

#include "stdlib/ops/common.h"

#include <optional>
#include <string_view>
#include <vector>

namespace stdlib {

/// Whether numbers of the type give extents.
bool isInteger(runtime::DType dtype);
/// Whether Relay takes the whole part of a number for a count.
bool isCount(runtime::DType dtype);

/// The problem when an operand of integers, with a known value, holds one that no int64 is.
std::optional<lang::RelationResult> requireInt64(const lang::RelationCall& call, size_t i);

/// The problem when operand `i` is not a vector of integers, or of what else `isGood` says, of
/// known length; or when an integer in it is too large.
std::optional<lang::RelationResult> requireVector(const lang::RelationCall& call, size_t i,
                                                  bool (*isGood)(runtime::DType) = isInteger);

/// The known length of operand `i`, a vector.
size_t lengthOf(const lang::RelationCall& call, size_t i);

using natives::wholeValues;

/// The failure that wholeValues() of operand `i` gives nothing.
lang::RelationResult noCount(const lang::RelationCall& call, size_t i);

/// The result of a call whose operand `i` gives counts, with a doubt if they are floats.
lang::RelationResult withCounts(const lang::RelationCall& call, size_t i,
                                lang::RelationResult result);

/// The value of an integer operand when it is known; what is too large is to be refused before.
std::optional<std::vector<int64_t>> knownIntegers(const lang::RelationCall& call, size_t i);

/// The one size that a scalar operand is; null while it is unknown.
const lang::Dim* knownSize(const lang::RelationCall& call, size_t i);

/// A result of that rank whose extents are all open.
lang::RelationResult allAny(const lang::RelationCall& call, size_t rank, runtime::DType dtype);

/// The shape that operand `i` gives, `?` while it is unknown; nothing when it has negative extents.
std::optional<DimVector> givenShape(const lang::RelationCall& call, size_t i);

/// The failure that givenShape() of operand `i` gives nothing.
lang::RelationResult negativeExtent(const lang::RelationCall& call, size_t i);

} // namespace stdlib

// What padding by attributes and padding by data share.
//
// Widths may be negative, which crops. Reflections may not reach past the far edge, and nothing can
// be repeated of an empty dimension; those are errors, not wrapped reads.
#pragma once

#include "lang/op/compute.h"
#include "lang/op/relation.h"

namespace stdlib {

/// What stands outside the tensor: a constant, the edge, or the mirror image about the edge, which
/// repeats the edge element (Symmetric) or not (Reflect).
enum class PadMode : uint8_t { Constant, Edge, Reflect, Symmetric };

/// The mode that an attribute names, or nothing.
std::optional<PadMode> padMode(std::string_view text);

/// The problem of a `pad_mode` that padding does not know, or nothing.
std::optional<lang::RelationResult> requirePadMode(const lang::RelationCall& call);

/// Operand 0 with the widths before and after each dimension; negative ones only if it may be
/// cropped.
lang::RelationResult paddedType(const lang::RelationCall& call, PadMode mode,
                                const std::vector<std::vector<int64_t>>& widths, bool mayCrop);

/// The position inside a dimension that stands at `at`, which may lie outside by less than the
/// extent; of any mode but Constant.
lang::Scalar inside(PadMode mode, lang::Scalar at, lang::Scalar extent);

} // namespace stdlib

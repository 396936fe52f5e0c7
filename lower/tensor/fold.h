// Making scalar nodes with constants folded: what builders of tensor expressions share.
//
// Only arithmetic on extents and positions is folded, which is exact; floats are left to the engine
// that knows how it rounds. An expression built over numbers and one built over open extents whose
// numbers were put in later fold to the same.
#pragma once

#include "lower/tensor/expression.h"

#include <optional>

namespace tensor {

/// The value of a constant of an integer type or bool.
std::optional<int64_t> integerOf(const ScalarNode* node);

/// A constant, rounded to its type.
const ScalarNode* makeNumber(Arena& arena, runtime::DType dtype, double value);
const ScalarNode* makeInteger(Arena& arena, int64_t value);

/// A function of operands whose value has type `dtype`.
const ScalarNode* makeApply(Arena& arena, ScalarFunction function, runtime::DType dtype,
                            std::span<const ScalarNode* const> operands);
const ScalarNode* makeCast(Arena& arena, const ScalarNode* operand, runtime::DType dtype);

/// True when a loop of a sum that runs that often can be left out, its index being 0.
bool runsOnce(const ScalarNode* extent);

} // namespace tensor

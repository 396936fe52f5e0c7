// Nests for tensor functions by what is known of their extents: of a whole class of extents where
// that can be proven, else of numbers alone.
//
// A pattern says of each extent, of inputs and then of results, what it is: a number, or a size,
// written as -1 less its place among the sizes of the nest.
#pragma once

#include "lower/loops/nest.h"
#include "lower/tensor/expression.h"
#include "runtime/checks/shapes.h"
#include "runtime/result.h"

#include <span>

namespace loops {

/// What tells the extents that have one nest: which of those that the function leaves open are
/// equal, and which are 1 or 0. No size of a class is less than `leastOfClass`.
std::vector<int64_t> classOf(const tensor::TensorFunction& function,
                             std::span<const int64_t> extents);
inline constexpr int64_t leastOfClass = 2;
/// The pattern of all extents that calls of such shapes may have.
std::vector<int64_t> patternOf(const checks::Shapes& shapes);
/// The values of the sizes of a pattern, one of whose extents these are.
std::vector<int64_t> sizesOf(std::span<const int64_t> pattern, std::span<const int64_t> extents);

/// The nest for all extents of a pattern whose sizes are not less than `least`. Why there is none
/// is a matter of the function or of the proof.
runtime::Checked<Nest> nestOfPattern(const tensor::TensorFunction& function,
                                     std::span<const int64_t> pattern, int64_t least,
                                     Numbers numbers);

} // namespace loops

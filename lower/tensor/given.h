// What a call gives to a tensor function: the extents of its inputs and then of its results, one
// after the other.
#pragma once

#include "lower/tensor/expression.h"
#include "runtime/fault.h"
#include "runtime/kernel_code.h"

#include <optional>

namespace tensor {

/// The extents of a function where they are numbers, and -1 where one is not.
std::vector<int64_t> extentsOf(const TensorFunction& function);

/// The shapes of inputs and then of results.
std::vector<runtime::Shape> givenShapes(const TensorFunction& function,
                                        std::span<const int64_t> extents);

/// Whether a function may have inputs and results of these extents.
bool fits(const TensorFunction& function, std::span<const int64_t> extents);

/// The fault of a tensor with more elements than can be counted.
std::optional<runtime::Fault> uncounted(const TensorFunction& function,
                                        std::span<const int64_t> extents);

/// Of each tensor the one whose elements it has in their order: its own number, unless it is
/// another one reshaped.
std::vector<uint32_t> elementRoots(const TensorFunction& function);

/// Of each result where its elements come from.
std::vector<runtime::ResultSource> resultSources(const TensorFunction& function);

} // namespace tensor

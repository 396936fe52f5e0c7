// Nests for tensor functions whose extents are known by numbers: of a whole class of numbers where
// that can be proven, else of these alone.
#pragma once

#include "lower/loops/nest.h"
#include "runtime/result.h"

#include <span>

namespace loops {

/// A nest, and the values of its sizes for the extents that it was made for.
struct SizedNest {
  Nest nest;
  std::vector<int64_t> sizes = {};
};

/// What tells the extents that have one nest: which of those that the function leaves open are
/// equal, and which are 1.
std::vector<int64_t> classOf(const tensor::TensorFunction& function,
                             std::span<const int64_t> extents);

/// The nest for all extents of the class of these, which are those of the inputs and then of the
/// results. Why there is none is a matter of the function or of the proof.
runtime::Checked<SizedNest> nestOfClass(const tensor::TensorFunction& function,
                                        std::span<const int64_t> extents);
/// The nest for these extents alone.
runtime::Checked<SizedNest> nestOfNumbers(const tensor::TensorFunction& function,
                                          std::span<const int64_t> extents);
/// The values of the sizes of a nest of a class.
std::vector<int64_t> sizesOfClass(const tensor::TensorFunction& function,
                                  std::span<const int64_t> extents);

} // namespace loops

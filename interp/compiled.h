// Tensor functions over numbers, made ready for the reference to run.
#pragma once

#include "interp/flatten.h"

namespace interp {

/// A function whose extents are numbers, and the code of its stages.
struct Compiled {
  tensor::TensorFunction function;
  std::vector<FlatStage> stages = {};
  /// Of each tensor the one whose elements it has.
  std::vector<uint32_t> roots = {};
  /// Of each of these the last stage that reads it.
  std::vector<size_t> lastUses = {};
};

/// The extents of the function must be numbers.
Compiled compile(tensor::TensorFunction&& function);

/// About how much memory it takes, without the nodes of its function.
size_t bytesOf(const Compiled& compiled);

} // namespace interp

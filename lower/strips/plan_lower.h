// From the expression of a stage to a graph.
#pragma once

#include "lower/strips/plan.h"

namespace lower {

/// The sizes of a plan, and which of them are the extents that an expression leaves open.
struct PlanSizes {
  Sizes& sizes;
  /// The parameter that is the first extent of each input, and of each result.
  List<uint32_t> inputs = {}, results = {};

  /// Nothing when the extents are not given.
  std::optional<Size> extent(const tensor::ScalarExtent& extent) const;
};

/// Lowers the body of a Map stage. `tensors` are those of the program. On a malformed expression
/// `problem` says what is wrong and the graph is not to be used.
Graph lowerStage(const tensor::Stage& stage, std::span<const PlanTensor> tensors,
                 const PlanSizes& sizes, std::string& problem);

/// The value of an extent; nothing when it is made of more than numbers and extents.
std::optional<Size> extentOf(const tensor::ScalarNode* node, const PlanSizes& sizes);

} // namespace lower

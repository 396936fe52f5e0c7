// From the expression of a stage to a graph.
#pragma once

#include "lower/plan.h"

namespace lower {

/// Lowers the body of a Map stage. `tensors` are those of the program. On a malformed expression
/// `problem` says what is wrong and the graph is not to be used.
Graph lowerStage(const tensor::Stage& stage, std::span<const PlanTensor> tensors,
                 std::string& problem);

/// The value of an extent; nothing when it is no constant.
std::optional<int64_t> constantExtent(const tensor::ScalarNode* node);

} // namespace lower

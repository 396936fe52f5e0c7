// Which operators the data of a well-typed call can stop.
#pragma once

#include "tests/harness/samples.h"

#include <unordered_set>

namespace harness {

using OperatorSet = std::unordered_set<const lang::OperatorRow*>;

/// Whether some value or an extent of zero can stop a tensor expression, for one element type or
/// another: it divides values, or reads at a position that it has read.
bool canFault(const tensor::TensorFunction& function);

/// The operators that have a data fault by their making: native functions, those whose shape hangs
/// on values, and those with a sample whose tensor expression can fault.
OperatorSet operatorsWithDataFaults(lang::TypeContext& types, const SamplePool& samples);

} // namespace harness

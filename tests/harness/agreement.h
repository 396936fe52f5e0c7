// Engines agree: what the loops engine gives for a tensor function is near to what the reference
// gives for the same inputs.
//
// How near floats must be: with data of a few bits nearly every sum and product is exact, so what
// is left are the roundings of quotients and of functions such as exp, each relative to the
// operand that it has at hand. An expression has a few of them in a row, and none of the operators
// amplifies an error beyond the largest number that occurs in a stage of it. So results may differ
// by 64 units in the last place of that number.
#pragma once

#include "lower/tensor/engine.h"

#include <string>

namespace harness {

/// How the outcome of `function` differs from that of the reference; empty when they agree. Of
/// values `fault` is null.
std::string disagreement(tensor::TensorFunction function, std::span<const runtime::Value> inputs,
                         std::span<const runtime::Value> results, const runtime::Fault* fault);

/// The loops engine, which tells `report` whenever a result differs from that of the reference.
tensor::TensorEngine comparedLoops(std::function<void(const std::string&)> report);

} // namespace harness

// Native functions on reals, of which they know nothing.
#pragma once

#include "lower/tensor/engine.h"

namespace interp {

/// Runs a native function; floats are reals, with the digits that are set (real.h). Where it only
/// compares and moves elements, it gets int64 ranks in their place, and keeps all digits; else it
/// computes in float64.
runtime::NativeFault runOnReals(const tensor::NativeTask& task,
                                std::span<const runtime::Value> inputs,
                                std::vector<runtime::Value>& outputs);

} // namespace interp

// Kernels with something around each run, of which neither who calls them nor who makes them knows.
#pragma once

#include "lower/tensor/engine.h"

namespace tensor {

/// Runs code and does more besides, or does so in another way.
using AroundRun = std::function<std::optional<runtime::Fault>(
    runtime::KernelCode& code, std::span<const std::byte* const> inputs,
    std::span<std::byte* const> outputs)>;

/// What is around the runs of the code of a function for some extents.
using MakeAround =
    std::function<AroundRun(const TensorFunction& function, std::span<const int64_t> extents)>;

/// Makes kernels whose code runs in what `makeAround` gives whenever it is asked for.
MakeKernel wrapped(MakeKernel makeKernel, MakeAround makeAround);

} // namespace tensor

// Loop nests run as they stand: what every rewrite is held to.
//
// Loops that may run at once run backwards here, and scratch holds what no program wants before it
// is written, so a nest that is not what the verifier takes it for shows.
#pragma once

#include "lower/loops/nest.h"
#include "runtime/fault.h"
#include "runtime/result.h"
#include "runtime/value.h"

#include <optional>
#include <span>

namespace harness {

/// What a run of a nest gave.
struct NestRun {
  std::vector<runtime::Value> results = {};
  std::optional<runtime::Fault> fault = {};
};

/// The elements of a tensor in another shape of as many.
runtime::Value reshaped(const runtime::Value& value, const runtime::Shape& shape);

/// Runs a nest that verifies, for these values of its sizes, in their order. Inputs need not have
/// the extents of its buffers, which schedules change, but as many elements.
NestRun runNest(const loops::Nest& nest, std::span<const int64_t> sizes,
                std::span<const runtime::Value> inputs);

/// The sizes of a nest whose inputs and then outputs have these shapes; an extent is a name, or a
/// name and a number.
std::vector<int64_t> sizesOf(const loops::Nest& nest, std::span<const runtime::Shape> shapes);

/// The nest of a function whose extents are numbers.
runtime::Checked<loops::Nest> closedNest(const tensor::TensorFunction& function);

} // namespace harness

// What this machine can do at most, measured: no kernel does more operations in a second, and none
// whose tensors take so much memory moves more bytes.
#pragma once

#include "lower/tensor/demand.h"
#include "runtime/result.h"

#include <string>
#include <vector>

namespace codegen {

/// How fast memory is for work on so many bytes over and over.
struct MemoryLine {
  double workingBytes = 0;
  double bytesPerSecond = 0;
};

struct RoofLines {
  /// Of float32, a fused multiply-add as two; half as many of float64.
  double operationsPerSecond = 0;
  /// From the smallest working set to one that no cache holds. The fastest line of a larger set
  /// counts for smaller ones too.
  std::vector<MemoryLine> memory = {};

  /// The least seconds that it takes here.
  double secondsOf(const tensor::Demand& demand) const;
};

/// Of all threads that may compute, by code for a processor, or for the one at hand; takes some
/// tens of milliseconds. Fails where there is no LLVM, and where there is no memory.
runtime::Result<RoofLines> measuredRoof(const std::string& processor);

} // namespace codegen

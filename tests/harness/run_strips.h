// Loop nests run by the strip programs made of them, on memory that ends where nobody may read or
// write, and outputs that hold what no program wants.
#pragma once

#include "tests/harness/run_nest.h"

namespace harness {

/// Makes a program of a nest that verifies and runs it, for these values of its sizes.
NestRun runStrips(const loops::Nest& nest, std::span<const int64_t> sizes,
                  std::span<const runtime::Value> inputs);

} // namespace harness

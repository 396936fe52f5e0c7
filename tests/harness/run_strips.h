// Loop nests run by the strip programs made of them.
#pragma once

#include "tests/harness/run_nest.h"

namespace harness {

/// Makes a program of a nest that verifies and runs it, for these values of its sizes.
NestRun runStrips(const loops::Nest& nest, std::span<const int64_t> sizes,
                  std::span<const runtime::Value> inputs);

} // namespace harness

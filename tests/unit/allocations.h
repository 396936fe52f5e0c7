// Counts what the program allocates, for promises that something allocates nothing.
#pragma once

#include <cstddef>

namespace tests {

/// How often memory was asked for since the program began, by `new` in any form. Zero for ever
/// under sanitizers, which have allocators of their own.
size_t allocations();

} // namespace tests

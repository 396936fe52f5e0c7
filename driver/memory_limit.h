// Memory that ends with an error message instead of a killed process.
#pragma once

namespace driver {

/// Limits the process to the memory of the machine or its control group, so that asking for more
/// throws std::bad_alloc; many-digit arithmetic, which cannot throw, ends the process with a
/// message and exit code 2.
void limitMemory();

} // namespace driver

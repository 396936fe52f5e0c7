// Which processors a test of native code can run it for.
#pragma once

#include "codegen/llvm/library.h"

#include <vector>

namespace harness {

/// The one at hand, and what of it older ones have too: registers of 32 bytes, and of 16 alone.
/// None where there is no LLVM.
std::vector<codegen::Processor> processorsAtHand();

} // namespace harness

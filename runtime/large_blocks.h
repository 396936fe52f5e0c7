// Large blocks of memory, which all threads share. Gaps beside each other are one gap, so what some
// tensors gave back serves a larger one, or several smaller ones.
//
// The tensors of a model come in many sizes, of which few live at once, and sizes may be open until
// it runs. Lists by size would keep the most that there ever was of each size; this keeps little
// more than what lived at once (bench/straight_line.cpp compares).
#pragma once

#include <cstddef>

namespace runtime {

/// Blocks of fewer bytes are cheaper by other means.
constexpr size_t leastLarge = size_t(1) << 16;

/// A block of at least `leastLarge` bytes at a multiple of 64, not cleared; null when there is
/// none.
void* takeLarge(size_t bytes);
void giveLarge(void* block) noexcept;
/// Returns to the system what nobody uses.
void returnLarge();

/// Bytes in blocks, those that were written, in blocks and gaps, and the most that these were.
struct LargeMemory {
  size_t used, touched, mostUsed, mostTouched;
};
LargeMemory largeMemory();

} // namespace runtime

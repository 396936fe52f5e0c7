// Blocks grow with the arena, up to the size of a large page.
#include "runtime/arena.h"

#include "runtime/pages.h"

#include <algorithm>
#include <new>

namespace runtime {

namespace {

/// An arena of more bytes gets large pages.
constexpr size_t mostSmall = size_t(1) << 19;
constexpr size_t firstBlock = size_t(1) << 12;

size_t roundedUp(size_t size, size_t unit) {
  return (size + unit - 1) / unit * unit;
}

} // namespace

void Arena::newBlock(size_t atLeast) {
  bool isLarge = reserved_ >= mostSmall;
  size_t unit = isLarge ? largePage : alignof(std::max_align_t);
  size_t size = roundedUp(std::max({atLeast, isLarge ? largePage : reserved_, firstBlock}), unit);
  // What is asked for is beyond all memory.
  void* memory = size < atLeast ? nullptr : std::aligned_alloc(unit, size);
  if (!memory)
    throw std::bad_alloc();
  if (isLarge)
    useLargePages(memory, size);
  blocks_.push_back({std::unique_ptr<std::byte, Free>(static_cast<std::byte*>(memory)), size});
  use(blocks_.back());
  reserved_ += size;
}

void Arena::clear() {
  if (blocks_.empty())
    return;
  blocks_.resize(1);
  reserved_ = blocks_[0].size;
  use(blocks_[0]);
}

} // namespace runtime

// Memory by size classes, kept for the next taker: what a run gave back serves it again, so that a
// model that runs over and over asks the system for nothing.
//
// Each thread keeps what it was given back, up to a bound, and returns it to the system when it
// ends, or when memory runs out. Blocks start at multiples of 64 bytes.
#pragma once

#include <cstddef>
#include <memory>

namespace runtime {

/// A block of at least so many bytes, not cleared, which counts as held (memory.h). Throws
/// std::bad_alloc.
void* takeBlock(size_t bytes);
/// Gives a block back; `bytes` is what was asked for.
void giveBlock(void* block, size_t bytes) noexcept;

/// For containers whose memory comes and goes with every run.
template <typename T>
struct PoolAllocator {
  using value_type = T;

  PoolAllocator() = default;
  template <typename U>
  PoolAllocator(const PoolAllocator<U>&) {}

  T* allocate(size_t count) {
    if (count > SIZE_MAX / sizeof(T))
      throw std::bad_alloc();
    return static_cast<T*>(takeBlock(count * sizeof(T)));
  }
  void deallocate(T* block, size_t count) noexcept { giveBlock(block, count * sizeof(T)); }

  friend bool operator==(PoolAllocator, PoolAllocator) { return true; }
};

/// A block for as long as this lives; of no bytes, none.
class Block {
public:
  explicit Block(size_t bytes) : bytes_(bytes), block_(bytes ? takeBlock(bytes) : nullptr) {}
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  ~Block() {
    if (block_)
      giveBlock(block_, bytes_);
  }

  std::byte* bytes() const { return static_cast<std::byte*>(block_); }

private:
  size_t bytes_;
  void* block_;
};

} // namespace runtime

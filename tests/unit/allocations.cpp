// Replaces the global operator new, which the arrays' and the nothrow forms call too.
#include "tests/unit/allocations.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<size_t> count = 0;

} // namespace

size_t tests::allocations() {
  return count;
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

void* operator new(size_t size) {
  ++count;
  if (void* memory = std::malloc(size == 0 ? 1 : size))
    return memory;
  throw std::bad_alloc();
}

void* operator new(size_t size, std::align_val_t alignment) {
  ++count;
  void* memory = nullptr;
  // Who asks for less than a pointer's alignment gets that.
  size_t aligned = std::max(size_t(alignment), sizeof(void*));
  if (posix_memalign(&memory, aligned, size == 0 ? 1 : size) == 0)
    return memory;
  throw std::bad_alloc();
}

void operator delete(void* memory) noexcept {
  std::free(memory);
}

void operator delete(void* memory, size_t) noexcept {
  std::free(memory);
}

void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}

void operator delete(void* memory, size_t, std::align_val_t) noexcept {
  std::free(memory);
}

#endif

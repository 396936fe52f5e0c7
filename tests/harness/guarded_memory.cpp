// Three pages at least: one before, one behind.
#include "tests/harness/guarded_memory.h"

#include <new>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace harness {

GuardedMemory::GuardedMemory(size_t bytes, bool endsAtGuard) {
  size_t page = size_t(sysconf(_SC_PAGESIZE));
  size_t inside = (bytes + page - 1) / page * page;
  mapped_ = inside + 2 * page;
  mapping_ = mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping_ == MAP_FAILED)
    throw std::bad_alloc();
  std::byte* first = static_cast<std::byte*>(mapping_) + page;
  if (inside > 0 && mprotect(first, inside, PROT_READ | PROT_WRITE) != 0)
    throw std::bad_alloc();
  bytes_ = endsAtGuard ? first + (inside - bytes) : first;
}

GuardedMemory::GuardedMemory(GuardedMemory&& other) noexcept
    : bytes_(other.bytes_), mapping_(std::exchange(other.mapping_, nullptr)),
      mapped_(other.mapped_) {}

GuardedMemory::~GuardedMemory() {
  if (mapping_)
    munmap(mapping_, mapped_);
}

} // namespace harness

// mmap and its kin. Where the system cannot move pages, they are copied.
#include "runtime/pages.h"

#include <cstdint>
#include <cstring>
#include <sys/mman.h>

namespace runtime {

void useLargePages([[maybe_unused]] void* memory, [[maybe_unused]] size_t bytes) {
#ifdef MADV_HUGEPAGE
  madvise(memory, bytes, MADV_HUGEPAGE);
#endif
}

namespace {

void* mapped(size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

void* moved(void* memory, size_t bytesBefore, size_t bytes) {
#ifdef MREMAP_MAYMOVE
  void* grown = mremap(memory, bytesBefore, bytes, MREMAP_MAYMOVE);
  return grown == MAP_FAILED ? nullptr : grown;
#else
  void* grown = mapped(bytes);
  if (grown) {
    std::memcpy(grown, memory, bytesBefore);
    munmap(memory, bytesBefore);
  }
  return grown;
#endif
}

} // namespace

void* growPages(void* memory, size_t bytesBefore, size_t bytes) {
  void* grown = memory ? moved(memory, bytesBefore, bytes) : mapped(bytes);
  // All of it or nothing: only memory that is used in one way can be moved at once.
  if (grown && bytes >= 2 * largePage)
    useLargePages(grown, bytes);
  return grown;
}

bool dropPages(void* begin, void* end) {
  auto from = (reinterpret_cast<uintptr_t>(begin) + pageSize - 1) / pageSize * pageSize,
       to = reinterpret_cast<uintptr_t>(end) / pageSize * pageSize;
  return from >= to || madvise(reinterpret_cast<void*>(from), to - from, MADV_DONTNEED) == 0;
}

void freePages(void* memory, size_t bytes) {
  if (memory)
    munmap(memory, bytes);
}

} // namespace runtime

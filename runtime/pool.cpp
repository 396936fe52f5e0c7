// Lists of free blocks, one for each size class: four classes for each power of two, so that at
// most a fifth of a block is wasted. Above 1 KB they have room for the header of a buffer besides,
// since tensors like to have powers of two of elements. Large blocks come from elsewhere.
#include "runtime/pool.h"

#include "runtime/buffer.h"
#include "runtime/instrumented.h"
#include "runtime/large_blocks.h"
#include "runtime/memory.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <new>

namespace runtime {

namespace {

struct FreeBlock {
  FreeBlock* next;
};

struct SizeClass {
  size_t number, bytes;

  size_t alignment() const { return bytes < 64 ? 16 : 64; }
};

/// The last class without a header, and its bytes.
constexpr size_t lastPlain = 19, plainBytes = 1024;

/// The smallest class that holds so many bytes.
inline SizeClass classOf(size_t bytes) {
  constexpr size_t unit = 16, most = size_t(1) << 60;
  if (bytes > most)
    throw std::bad_alloc();
  size_t header = bytes > plainBytes ? Buffer::header : 0;
  bytes = header > 0 ? std::max(bytes - header, plainBytes + 1) : bytes;
  size_t units = std::max<size_t>((bytes + unit - 1) / unit, 1);
  if (units <= 4)
    return {units - 1, units * unit};
  size_t shift = size_t(std::bit_width(units - 1)) - 3;
  size_t quarters = (units + (size_t(1) << shift) - 1) >> shift;
  return {shift * 4 + quarters - 1, (quarters << shift) * unit + header};
}

/// The bytes of a class.
constexpr size_t bytesOf(size_t number) {
  size_t plain = number < 4 ? (number + 1) * 16 : (number % 4 + 5) << (number / 4 - 1) << 4;
  return plain + (number > lastPlain ? Buffer::header : 0);
}
static_assert(bytesOf(lastPlain) == plainBytes);

void* allocate(SizeClass size) {
  return ::operator new(size.bytes, std::align_val_t(size.alignment()), std::nothrow);
}

void release(void* block, SizeClass size) {
  ::operator delete(block, std::align_val_t(size.alignment()));
}

constexpr size_t classCount = 240, mostKept = size_t(128) << 20;

/// What a thread keeps. It has no constructor and no destructor, so that the code which uses it
/// need not ask whether they ran.
struct Kept {
  FreeBlock* free[classCount];
  size_t bytes;
  /// Whether the thread gives its blocks back when it ends; before that it keeps none.
  bool isOpen;
};

constinit thread_local Kept kept{};

void giveAllBack() {
  for (size_t number = 0; number < classCount; ++number)
    while (FreeBlock* block = kept.free[number]) {
      kept.free[number] = block->next;
      release(block, {number, bytesOf(number)});
    }
  kept.bytes = 0;
}

/// Opens the lists of a thread for as long as it lives.
struct Keeper {
  Keeper() { kept.isOpen = true; }
  ~Keeper() {
    kept.isOpen = false;
    giveAllBack();
  }
};

/// The same for all blocks of a class.
bool isLarge(SizeClass size) {
  return size.bytes > leastLarge && !isInstrumented;
}

/// Memory for so many bytes of a class; null when there is none.
void* askSystem(SizeClass size, size_t bytes) {
  return isLarge(size) ? takeLarge(bytes) : allocate(size);
}

void* takeNew(SizeClass size, size_t bytes) {
  thread_local Keeper keeper;
  void* block = askSystem(size, bytes);
  if (!block) {
    giveAllBack();
    returnLarge();
    block = askSystem(size, bytes);
  }
  if (!block) {
    returnMemory(bytes);
    throw std::bad_alloc();
  }
  return block;
}

} // namespace

void* takeBlock(size_t bytes) {
  SizeClass size = classOf(bytes);
  demandMemory(bytes);
  FreeBlock* block = kept.free[size.number];
  if (!block)
    return takeNew(size, bytes);
  kept.free[size.number] = block->next;
  kept.bytes -= size.bytes;
  return block;
}

void giveBlock(void* memory, size_t bytes) noexcept {
  SizeClass size = classOf(bytes);
  returnMemory(bytes);
  if (isLarge(size))
    return giveLarge(memory);
  if (!kept.isOpen || kept.bytes > mostKept)
    return release(memory, size);
  auto* block = static_cast<FreeBlock*>(memory);
  block->next = kept.free[size.number];
  kept.free[size.number] = block;
  kept.bytes += size.bytes;
}

} // namespace runtime

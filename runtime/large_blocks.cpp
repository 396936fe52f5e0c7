// A chunk of pages is a row of spans, which are blocks and gaps in turn, each with a header in
// front; the last header belongs to no span. Gaps are in lists by size, eight for each power of
// two, and the first list that surely fits gives one at once (Masmano, Ripoll, Crespo and Real:
// TLSF, ECRTS 2004).
#include "runtime/large_blocks.h"

#include "runtime/pages.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <mutex>
#include <utility>

namespace runtime {

namespace {

struct alignas(64) Span {
  /// With this header; none in the last one of a chunk.
  size_t bytes;
  /// Of the span in front of it in the chunk, or none.
  size_t bytesBefore;
  /// Of a gap: the bytes from here behind which nothing was written.
  size_t touched;
  bool isGap;
  Span *next, *previous;

  Span* behind() { return reinterpret_cast<Span*>(reinterpret_cast<std::byte*>(this) + bytes); }
  Span* before() {
    return reinterpret_cast<Span*>(reinterpret_cast<std::byte*>(this) - bytesBefore);
  }
  bool isWholeChunk() { return bytesBefore == 0 && behind()->bytes == 0; }
};
constexpr size_t header = sizeof(Span);

constexpr size_t leastChunk = size_t(1) << 25, mostAhead = size_t(1) << 28,
                 mostKept = size_t(128) << 20, mostBytes = size_t(1) << 46;
/// Gaps that are smaller than any block are in the first list.
constexpr size_t listCount = 8 * size_t(std::bit_width(mostBytes / leastLarge));

constexpr size_t listOf(size_t bytes) {
  if (bytes < leastLarge)
    return 0;
  auto width = size_t(std::bit_width(bytes));
  return (width - size_t(std::bit_width(leastLarge))) * 8 + (bytes >> (width - 4)) % 8;
}
static_assert(listOf(leastLarge) == 0 && listOf(mostBytes - 1) < listCount);

struct Gaps {
  std::mutex mutex;
  std::array<Span*, listCount> lists;
  /// A bit for each list that has gaps.
  std::array<uint64_t, (listCount + 63) / 64> filled;
  size_t mapped;
  /// Bytes of gaps that were written.
  size_t kept;
  LargeMemory counts;

  void add(Span* gap);
  void remove(Span* gap);
  Span* find(size_t bytes);
  Span* addChunk(size_t bytes);
  void unmap(Span* chunk);
  void clean(Span* gap);
};

constinit Gaps gaps{};

void Gaps::add(Span* gap) {
  size_t list = listOf(gap->bytes);
  gap->isGap = true;
  gap->previous = nullptr;
  gap->next = std::exchange(lists[list], gap);
  if (gap->next)
    gap->next->previous = gap;
  filled[list / 64] |= uint64_t(1) << list % 64;
  kept += gap->touched;
}

void Gaps::remove(Span* gap) {
  size_t list = listOf(gap->bytes);
  (gap->previous ? gap->previous->next : lists[list]) = gap->next;
  if (gap->next)
    gap->next->previous = gap->previous;
  if (!lists[list])
    filled[list / 64] &= ~(uint64_t(1) << list % 64);
  gap->isGap = false;
  kept -= gap->touched;
}

/// A gap of so many bytes; null when there is none at hand.
Span* Gaps::find(size_t bytes) {
  size_t list = listOf(bytes);
  if (Span* first = lists[list]; first && first->bytes >= bytes)
    return first;
  ++list;
  uint64_t bits = list / 64 < filled.size() ? filled[list / 64] >> list % 64 << list % 64 : 0;
  for (size_t i = list / 64; i < filled.size(); bits = ++i < filled.size() ? filled[i] : 0)
    if (bits)
      return lists[i * 64 + size_t(std::countr_zero(bits))];
  return nullptr;
}

/// A gap that is a chunk of its own; null when there is no memory. Pages that nobody writes cost
/// nothing, so it is larger than what is asked for.
Span* Gaps::addChunk(size_t bytes) {
  size_t size = std::max(bytes, std::clamp(mapped / 2, leastChunk, mostAhead));
  auto pages = [](size_t wanted) { return (wanted + header + pageSize - 1) / pageSize * pageSize; };
  void* memory = growPages(nullptr, 0, pages(size));
  if (!memory && size > bytes)
    memory = growPages(nullptr, 0, pages(size = bytes));
  if (!memory)
    return nullptr;
  mapped += pages(size);
  auto* gap = new (memory) Span{.bytes = pages(size) - header};
  new (gap->behind()) Span{.bytesBefore = gap->bytes};
  add(gap);
  return gap;
}

void Gaps::unmap(Span* chunk) {
  remove(chunk);
  mapped -= chunk->bytes + header;
  freePages(chunk, chunk->bytes + header);
}

/// Gives the pages of a gap back.
void Gaps::clean(Span* gap) {
  if (gap->isWholeChunk())
    return unmap(gap);
  kept -= gap->touched;
  gap->touched = dropPages(gap + 1, gap->behind()) ? 0 : gap->touched;
  kept += gap->touched;
}

/// Takes the front of a gap for a block, and leaves the rest.
Span* split(Span* gap, size_t bytes) {
  gaps.remove(gap);
  if (gap->bytes - bytes <= header)
    return gap;
  size_t left = gap->bytes - bytes;
  gap->bytes = bytes;
  auto* rest = new (gap->behind()) Span{.bytes = left,
                                        .bytesBefore = bytes,
                                        .touched = gap->touched > bytes ? gap->touched - bytes : 0};
  rest->behind()->bytesBefore = left;
  gaps.add(rest);
  return gap;
}

/// Joins two spans beside each other, neither of which is in a list.
Span* join(Span* front, Span* back) {
  if (back->touched > 0)
    front->touched = front->bytes + back->touched;
  front->bytes += back->bytes;
  front->behind()->bytesBefore = front->bytes;
  return front;
}

} // namespace

void* takeLarge(size_t bytes) {
  if (bytes >= mostBytes)
    return nullptr;
  bytes = (std::max(bytes, leastLarge) + 2 * header - 1) / header * header;
  std::lock_guard lock(gaps.mutex);
  Span* gap = gaps.find(bytes);
  if (!gap && !(gap = gaps.addChunk(bytes)))
    return nullptr;
  Span* block = split(gap, bytes);
  LargeMemory& counts = gaps.counts;
  counts.used += block->bytes;
  counts.mostUsed = std::max(counts.mostUsed, counts.used);
  counts.mostTouched = std::max(counts.mostTouched, counts.used + gaps.kept);
  return block + 1;
}

void giveLarge(void* block) noexcept {
  std::lock_guard lock(gaps.mutex);
  Span* span = static_cast<Span*>(block) - 1;
  gaps.counts.used -= span->bytes;
  span->touched = span->bytes;
  if (Span* behind = span->behind(); behind->isGap) {
    gaps.remove(behind);
    join(span, behind);
  }
  if (Span* before = span->before(); span->bytesBefore > 0 && before->isGap) {
    gaps.remove(before);
    span = join(before, span);
  }
  gaps.add(span);
  if (gaps.kept > mostKept)
    gaps.clean(span);
}

void returnLarge() {
  std::lock_guard lock(gaps.mutex);
  for (Span* list : gaps.lists)
    for (Span* gap = list; gap;) {
      Span* next = gap->next;
      if (gap->touched > 0 || gap->isWholeChunk())
        gaps.clean(gap);
      gap = next;
    }
}

LargeMemory largeMemory() {
  std::lock_guard lock(gaps.mutex);
  LargeMemory counts = gaps.counts;
  counts.touched = counts.used + gaps.kept;
  return counts;
}

} // namespace runtime

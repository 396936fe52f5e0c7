// Pools and release.
#include "vm/machine/heap.h"

#include "runtime/pages.h"

#include <algorithm>
#include <bit>
#include <new>
#include <utility>

namespace vm {

Heap::Heap(const std::vector<Layout>& layouts) {
  takeUp(layouts);
}

void Heap::takeUp(const std::vector<Layout>& layouts) {
  for (size_t known = shapes_.size(); known < layouts.size(); ++known) {
    const Layout& layout = layouts[known];
    bool isBox = layout.kind == LayoutKind::Boxed;
    auto first = uint32_t(referenceFields_.size());
    uint32_t bits = 0;
    for (size_t i = 0; i < layout.fields.size(); ++i)
      if (!layout.fields[i].isScalar()) {
        referenceFields_.push_back(uint16_t(i));
        bits |= i < pools ? 1u << i : 0;
      }
    auto references = uint16_t(referenceFields_.size() - first);
    shapes_.push_back({isBox ? boxSlots : uint16_t(layout.fields.size()), references, first, bits,
                       references == 1 && std::has_single_bit(bits)});
  }
}

Heap::~Heap() {
  for (Object* box = boxes_; box; box = box->fields()[2].object)
    boxed(*box).~Value();
  while (large_)
    std::free(std::exchange(large_, large_->after));
}

/// Counted memory; null when there is none.
Slot* Heap::allocate(size_t bytes, size_t alignment) {
  if (!held_.add(bytes))
    return nullptr;
  auto* memory = static_cast<Slot*>(std::aligned_alloc(alignment, bytes));
  if (!memory)
    held_.remove(bytes);
  return memory;
}

/// Begins a new chunk of cells; false when there is no memory. Large heaps grow by large chunks, in
/// large pages where the system has them: the processor remembers the addresses of few pages.
bool Heap::addChunk() {
  if (chunks_.size() == chunks_.capacity())
    chunks_.reserve(2 * chunks_.size() + 16);
  size_t bytes = std::max(chunkBytes, held_.bytes() / 8) / pageBytes * pageBytes,
         alignment = pageBytes;
  if (held_.bytes() >= 4 * runtime::largePage) {
    bytes = std::max(bytes / runtime::largePage * runtime::largePage, runtime::largePage);
    alignment = runtime::largePage;
  }
  // Near the limit of the run there may be room for a small one, and asking for more would collect
  // garbage for each.
  if (int64_t(bytes) > runtime::memoryLeft()) {
    bytes = chunkBytes;
    alignment = pageBytes;
  }
  front_.at = front_.end = chunkEnd_ = nullptr;
  Slot* chunk = allocate(bytes, alignment);
  if (!chunk && bytes > chunkBytes)
    chunk = allocate(bytes = chunkBytes, pageBytes);
  if (!chunk)
    return false;
  chunks_.push_back({std::unique_ptr<Slot, Free>(chunk), bytes / sizeof(Slot)});
  if (bytes >= runtime::largePage)
    runtime::useLargePages(chunk, bytes);
  front_.isLarge = held_.bytes() >= runtime::largePage;
  front_.end = chunk;
  chunkEnd_ = chunk + bytes / sizeof(Slot);
  return nextPage();
}

/// Begins with the next page of the chunk, if it has one.
bool Heap::nextPage() {
  if (front_.end == chunkEnd_)
    return false;
  *reinterpret_cast<Page*>(front_.end) = {};
  front_.at = front_.end + sizeof(Page) / sizeof(Slot);
  front_.end += pageBytes / sizeof(Slot);
  return true;
}

Object* Heap::moved(Object* object, uint16_t fields) {
  Page* page = pageOf(object);
  bool isOther = page->waiting && page->fields != fields;
  if (isOther || (!spare_[fields] && !findSpare(fields)))
    return object;
  Object* spare = spare_[fields];
  spare_[fields] = next(spare);
  // Who gives it back asks for its size.
  spare->layout = object->layout;
  wait(object, fields);
  return spare;
}

void Heap::wait(Object* object, uint16_t fields) {
  Page* page = pageOf(object);
  link(object, page->waiting);
  page->waiting = object;
  page->fields = fields;
  ++page->count;
  if (page->isReady || page->count * (fields + size_t(1)) * sizeof(Slot) < pageBytes / 2)
    return;
  ReadyPages& ready = ready_[fields];
  (ready.last ? ready.last->next : ready.first) = page;
  ready.last = page;
  page->next = nullptr;
  page->isReady = true;
}

/// Takes what waits in a page, or new memory, unless too much was taken before.
bool Heap::findSpare(uint16_t fields) {
  ReadyPages& ready = ready_[fields];
  if (Page* page = ready.first) {
    ready.first = page->next;
    if (!ready.first)
      ready.last = nullptr;
    spare_[fields] = page->waiting;
    *page = {};
    return true;
  }
  size_t slots = fields + size_t(1);
  if (spareBytes_ > held_.bytes() / 2)
    return false;
  // In the middle of an instruction, so nothing may be collected, and nothing thrown.
  bool isPlenty =
      runtime::memoryLeft() > int64_t(held_.bytes()) && chunks_.size() < chunks_.capacity();
  if (size_t(front_.end - front_.at) < slots && !nextPage() && !(isPlenty && addChunk()))
    return false;
  size_t count = size_t(front_.end - front_.at) / slots;
  for (size_t i = count; i-- > 0;) {
    auto* object = reinterpret_cast<Object*>(front_.at + i * slots);
    link(object, spare_[fields]);
    spare_[fields] = object;
  }
  front_.at += count * slots;
  spareBytes_ += count * slots * sizeof(Slot);
  return true;
}

/// Puts all that was taken for moves into the pools.
void Heap::poolSpares() {
  for (const Chunk& chunk : chunks_) {
    // Pages behind the one at hand have not begun.
    Slot *start = chunk.memory.get(), *end = start + chunk.slots;
    for (Slot* at = start; at != (end == chunkEnd_ ? front_.end : end);
         at += pageBytes / sizeof(Slot)) {
      Page& page = *reinterpret_cast<Page*>(at);
      pool(page.waiting, page.fields);
      page = {};
    }
  }
  for (uint16_t fields = 0; fields < pools; ++fields)
    pool(std::exchange(spare_[fields], nullptr), fields);
  ready_ = {};
  spareBytes_ = 0;
}

void Heap::pool(Object* list, uint16_t fields) {
  while (list) {
    Object* object = list;
    list = next(object);
    link(object, front_.free[fields]);
    front_.free[fields] = object;
  }
}

/// Where the heap would grow: whether a collection, if one is due, gives memory of that size.
bool Heap::collectsInstead(uint16_t size) {
  cycles_.usedUp();
  return cycles_.isDue() && cycles_.collect() > 0 && size < pools && front_.free[size];
}

/// The same with what was taken for moves, if that is much.
bool Heap::findsSpares(uint16_t size) {
  if (size >= pools || spareBytes_ == 0 || spareBytes_ < held_.bytes() / 8)
    return false;
  poolSpares();
  return front_.free[size];
}

Object* Heap::make(uint16_t layout) {
  Object* object = pooled(sizeOf(layout), layout);
  if (!object)
    object = makeSlow(layout);
  return object ? object : throw std::bad_alloc();
}

Object* Heap::makeSlow(uint16_t layout) {
  uint16_t size = sizeOf(layout);
  size_t slots = size + size_t(1);
  Object* object = nullptr;
  bool isLarge = size >= pools,
       isFull = isLarge || (size_t(front_.end - front_.at) < slots && !nextPage());
  if (isFull && (collectsInstead(size) || findsSpares(size)))
    return make(layout);
  if (isLarge) {
    object = makeLarge(slots);
    if (!object)
      return nullptr;
  } else {
    if (isFull && !addChunk()) {
      poolSpares();
      return front_.free[size] ? make(layout) : nullptr;
    }
    object = reinterpret_cast<Object*>(front_.at);
    front_.at += slots;
  }
  start(object, layout);
  return object;
}

Object* Heap::box(runtime::Value value) {
  Object* object = make(boxedLayout);
  Slot* fields = object->fields();
  new (&boxed(*object)) runtime::Value(std::move(value));
  fields[1].object = nullptr;
  fields[2].object = boxes_;
  if (boxes_)
    boxes_->fields()[1].object = object;
  boxes_ = object;
  return object;
}

void Heap::dropBox(Object* object) {
  boxed(*object).~Value();
  Object *before = object->fields()[1].object, *after = object->fields()[2].object;
  (before ? before->fields()[2].object : boxes_) = after;
  if (after)
    after->fields()[1].object = before;
}

/// Takes the fields out of a dead object, and puts those that die with it in front of `dead`, the
/// first field first.
inline Object* Heap::dropFields(Object* object, Object* dead) {
  const Shape& shape = shapes_[object->layout];
  Slot* fields = object->fields();
  if (shape.size < pools) {
    for (uint32_t left = shape.bits; left != 0;) {
      auto field = uint32_t(std::bit_width(left)) - 1;
      left ^= 1u << field;
      dead = drop(fields[field].object, dead);
    }
    return dead;
  }
  std::span<const uint16_t> references = referencesOf(object->layout);
  for (size_t i = references.size(); i-- > 0;)
    dead = drop(fields[references[i]].object, dead);
  return dead;
}

/// What dies at once goes back into the pools in the order in which it is found from the top, so
/// that the next structure like it lies in memory in its order too.
void Heap::destroy(Object* object) {
  std::array<Object*, pools> last;
  uint32_t seen = 0;
  link(object, nullptr);
  while (object) {
    Object* dead = next(object);
    if (object->layout == boxedLayout)
      dropBox(object);
    else
      dead = dropFields(object, dead);
    uint16_t size = sizeOf(object->layout);
    if (size < pools && (seen >> size & 1) != 0) {
      link(object, next(last[size]));
      link(last[size], object);
      last[size] = object;
    } else {
      recycle(object, size);
      if (size < pools)
        last[size] = object;
      seen |= uint32_t(size < pools) << (size % pools);
    }
    object = dead;
  }
}

Object* Heap::makeLarge(size_t slots) {
  auto* large =
      reinterpret_cast<Large*>(allocate(sizeof(Large) + slots * sizeof(Slot), alignof(Slot)));
  if (!large)
    return nullptr;
  *large = {nullptr, large_};
  if (large_)
    large_->before = large;
  large_ = large;
  return reinterpret_cast<Object*>(large + 1);
}

void Heap::freeLarge(Object* object) {
  Large* large = reinterpret_cast<Large*>(object) - 1;
  (large->before ? large->before->after : large_) = large->after;
  if (large->after)
    large->after->before = large->before;
  held_.remove(sizeof(Large) + (size_t(sizeOf(object->layout)) + 1) * sizeof(Slot));
  std::free(large);
}

} // namespace vm

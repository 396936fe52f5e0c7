// Pools and release.
#include "vm/heap.h"

#include "vm/pages.h"

#include <algorithm>
#include <bit>
#include <new>

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
    shapes_.push_back({isBox ? boxSlots : uint16_t(layout.fields.size()),
                       uint16_t(referenceFields_.size() - first), first, bits});
  }
}

Heap::~Heap() {
  for (Object* box = boxes_; box; box = box->fields()[2].object)
    boxed(*box).~Value();
  for (Object* object : large_)
    std::free(object);
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
  size_t bytes = std::max(chunkBytes, held_.bytes() / 8), alignment = alignof(Slot);
  if (held_.bytes() >= 4 * largePage) {
    bytes = std::max(bytes / largePage * largePage, largePage);
    alignment = largePage;
  }
  bytes = bytes / sizeof(Slot) * sizeof(Slot);
  at_ = allocate(bytes, alignment);
  // Near the limit of the run there may be room for a small one.
  if (!at_ && bytes > chunkBytes)
    at_ = allocate(bytes = chunkBytes, alignof(Slot));
  end_ = at_ ? at_ + bytes / sizeof(Slot) : nullptr;
  if (!at_)
    return false;
  chunks_.emplace_back(at_);
  if (bytes >= largePage)
    useLargePages(at_, bytes);
  return true;
}

/// Where the heap would grow: whether a collection, if one is due, gives memory of that size.
bool Heap::collectsInstead(uint16_t size) {
  cycles_.usedUp();
  return cycles_.isDue() && cycles_.collect() > 0 && size < pools && free_[size];
}

Object* Heap::makeSlow(uint16_t layout) {
  uint16_t size = sizeOf(layout);
  size_t slots = size + size_t(1);
  Object* object = nullptr;
  bool isLarge = size >= pools, isFull = isLarge || size_t(end_ - at_) < slots;
  if (isFull && collectsInstead(size))
    return make(layout);
  if (isLarge) {
    object = reinterpret_cast<Object*>(allocate(slots * sizeof(Slot), alignof(Slot)));
    if (!object)
      return nullptr;
    large_.insert(object);
  } else {
    if (isFull && !addChunk())
      return nullptr;
    object = reinterpret_cast<Object*>(at_);
    at_ += slots;
  }
  start(object, layout);
  return object;
}

Object* Heap::box(runtime::Value value) {
  Object* object = make(boxedLayout);
  if (!object)
    throw std::bad_alloc();
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

void Heap::freeLarge(Object* object) {
  large_.erase(object);
  held_.remove((size_t(sizeOf(object->layout)) + 1) * sizeof(Slot));
  std::free(object);
}

} // namespace vm

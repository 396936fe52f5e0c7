// Pools and release.
#include "vm/heap.h"

#include "vm/pages.h"

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

/// Gets a new chunk for segments; false when there is no memory. Large heaps grow by large chunks,
/// in large pages where the system has them: the processor remembers the addresses of few pages.
bool Heap::addChunk() {
  if (chunks_.size() == chunks_.capacity())
    chunks_.reserve(2 * chunks_.size() + 16);
  size_t bytes = std::max(chunkBytes, held_.bytes() / 8 / segmentBytes * segmentBytes);
  size_t alignment = segmentBytes;
  if (held_.bytes() >= 4 * largePage) {
    bytes = std::max(bytes / largePage * largePage, largePage);
    alignment = largePage;
  }
  at_ = allocate(bytes, alignment);
  // Near the limit of the run there may be room for a small one.
  if (!at_)
    at_ = allocate(bytes = segmentBytes, segmentBytes);
  end_ = at_ ? at_ + bytes / sizeof(Slot) : nullptr;
  if (!at_)
    return false;
  chunks_.push_back({std::unique_ptr<Slot, Free>(at_), bytes / sizeof(Slot)});
  if (bytes >= largePage)
    useLargePages(at_, bytes);
  return true;
}

/// Where the heap would grow: whether a collection, if one is due, gives memory.
bool Heap::collects() {
  cycles_.usedUp();
  return cycles_.isDue() && cycles_.collect() > 0;
}

void Heap::offer(Segment* segment) {
  Offers& offers = offers_[segment->fields];
  segment->next = nullptr;
  (offers.last ? offers.last->next : offers.first) = segment;
  offers.last = segment;
}

/// Makes objects in a segment from here on.
void Heap::makeCurrent(Segment* segment) {
  current_[segment->fields] = segment;
  free_[segment->fields] = std::exchange(segment->free, nullptr);
  segment->freed = 0;
}

/// Puts some cells of the segment at hand that were never used into its list.
bool Heap::extend(Segment* segment) {
  constexpr size_t most = 64;
  size_t slots = segment->fields + size_t(1);
  auto* end = reinterpret_cast<Slot*>(segment) + headerSlots + segment->capacity * slots;
  size_t count = std::min(most, size_t(end - segment->fresh) / slots);
  Slot* cell = segment->fresh += count * slots;
  for (size_t i = 0; i < count; ++i) {
    cell -= slots;
    auto* object = new (cell) Object{};
    link(object, free_[segment->fields]);
    free_[segment->fields] = object;
  }
  return count > 0;
}

bool Heap::takeOffer(uint16_t fields) {
  Offers& offers = offers_[fields];
  Segment* segment = offers.first;
  if (!segment)
    return false;
  offers.first = segment->next;
  if (!offers.first)
    offers.last = nullptr;
  makeCurrent(segment);
  return true;
}

bool Heap::takeNew(uint16_t fields) {
  if (at_ == end_ && !addChunk())
    return false;
  auto capacity = uint32_t((segmentSlots - headerSlots) / (fields + size_t(1)));
  auto* segment = new (at_) Segment{.fresh = at_ + headerSlots,
                                    .enough = capacity / 8 + 1,
                                    .capacity = capacity,
                                    .fields = fields};
  at_ += segmentSlots;
  makeCurrent(segment);
  return extend(segment);
}

/// Where there is no new memory: any segment with a free cell, of which none is offered.
bool Heap::takeSparse(uint16_t fields) {
  for (const Chunk& chunk : chunks_)
    for (size_t i = 0; i < chunk.slots && chunk.memory.get() + i != at_; i += segmentSlots)
      if (auto* segment = reinterpret_cast<Segment*>(chunk.memory.get() + i);
          segment->fields == fields && segment->freed > 0) {
        makeCurrent(segment);
        return true;
      }
  return false;
}

/// Gets cells for objects of so many fields; false when memory is out.
bool Heap::refill(uint16_t fields) {
  if ((current_[fields] && extend(current_[fields])) || takeOffer(fields))
    return true;
  if (at_ == end_ && collects() && (free_[fields] || takeOffer(fields)))
    return true;
  return takeNew(fields) || takeSparse(fields);
}

Object* Heap::makeLarge(uint16_t fields) {
  collects();
  size_t bytes = (fields + size_t(1)) * sizeof(Slot);
  auto* object = reinterpret_cast<Object*>(allocate(bytes, alignof(Slot)));
  if (object)
    large_.insert(object);
  return object;
}

Object* Heap::makeSlow(uint16_t layout) {
  uint16_t fields = sizeOf(layout);
  if (fields < pools)
    return free_[fields] || refill(fields) ? pooled(fields, layout) : nullptr;
  Object* object = makeLarge(fields);
  if (object)
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

/// Gives back cells of one segment that died in a row.
void Heap::recycle(const Row& row) {
  Segment& segment = *row.segment;
  if (&segment == current_[segment.fields]) {
    link(row.last, free_[segment.fields]);
    free_[segment.fields] = row.first;
    return;
  }
  link(row.last, nullptr);
  if (segment.free)
    link(segment.last, row.first);
  else
    segment.free = row.first;
  segment.last = row.last;
  bool wasOffered = segment.freed >= segment.enough;
  segment.freed += row.count;
  if (!wasOffered && segment.freed >= segment.enough)
    offer(&segment);
}

void Heap::destroy(Object* object) {
  Row row;
  link(object, nullptr);
  while (object) {
    Object* dead = next(object);
    uint16_t fields = sizeOf(object->layout);
    if (object->layout == boxedLayout)
      dropBox(object);
    else
      dead = dropFields(object, dead);
    if (fields >= pools) {
      freeLarge(object);
    } else if (segmentOf(object) == row.segment) {
      link(row.last, object);
      row.last = object;
      ++row.count;
    } else {
      if (row.segment)
        recycle(row);
      row = {segmentOf(object), object, object, 1};
    }
    object = dead;
  }
  if (row.segment)
    recycle(row);
}

void Heap::freeLarge(Object* object) {
  large_.erase(object);
  held_.remove((size_t(sizeOf(object->layout)) + 1) * sizeof(Slot));
  std::free(object);
}

} // namespace vm

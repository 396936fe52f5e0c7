// The heap of one run: cells from pools by size, counted references.
//
// Cells of one size lie together in segments, and each segment has a list of its free cells. So
// what is made in a row lies near each other, whatever died before: memory is slow where it is
// jumped through. Releasing neither recurses nor allocates, however deep a structure is. What
// cycles of references hold is collected when memory grows (cycles.h). When the heap goes, all that
// is left in it goes.
#pragma once

#include "runtime/memory.h"
#include "vm/cycles.h"
#include "vm/program.h"

#include <array>
#include <cstdlib>
#include <memory>
#include <unordered_set>

namespace vm {

class Heap {
public:
  explicit Heap(const std::vector<Layout>& layouts);
  ~Heap();
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;

  /// Takes up layouts that were added behind those that it knows.
  void takeUp(const std::vector<Layout>& layouts);

  /// An object with one reference, whose fields are to be filled; null when memory is out.
  Object* make(uint16_t layout) {
    Object* object = pooled(sizeOf(layout), layout);
    return object ? object : makeSlow(layout);
  }
  /// The same for a layout of so many fields, if there is memory of that size in a pool; else null,
  /// and `makeSlow` makes one.
  Object* pooled(uint16_t fields, uint16_t layout) {
    Object* object = fields < pools ? free_[fields] : nullptr;
    if (object) {
      free_[fields] = next(object);
      start(object, layout);
    }
    return object;
  }
  Object* makeSlow(uint16_t layout);
  /// An object that holds a value. Throws std::bad_alloc.
  Object* box(runtime::Value value);

  static void retain(Object* object) { ++object->references; }
  void release(Object* object) {
    if (--object->references == 0)
      destroy(object);
  }
  /// Takes back the memory of an object whose fields are gone.
  void recycle(Object* object) { recycle(object, sizeOf(object->layout)); }
  /// The same of an object of so many fields.
  void recycle(Object* object, uint16_t fields) {
    if (fields >= pools)
      return freeLarge(object);
    Segment* segment = segmentOf(object);
    if (segment == current_[fields]) {
      link(object, free_[fields]);
      free_[fields] = object;
      return;
    }
    link(object, nullptr);
    if (segment->free)
      link(segment->last, object);
    else
      segment->free = object;
    segment->last = object;
    if (++segment->freed == segment->enough) [[unlikely]]
      offer(segment);
  }
  /// Makes memory that `recycle` would take an object of as many fields.
  static void start(Object* object, uint16_t layout) {
    object->layout = layout;
    object->isReached = false;
    object->isSuspect = false;
    object->unused = 0;
    object->references = 1;
  }

  uint16_t sizeOf(uint16_t layout) const { return shapes_[layout].size; }
  /// The fields of a layout that are references.
  std::span<const uint16_t> referencesOf(uint16_t layout) const {
    const Shape& shape = shapes_[layout];
    return {referenceFields_.data() + shape.first, shape.references};
  }
  /// The same as bits, of a layout of few fields.
  uint32_t referenceBits(uint16_t layout) const { return shapes_[layout].bits; }
  Cycles& cycles() { return cycles_; }
  /// The bytes of memory that cells were given so far.
  size_t bytes() const { return held_.bytes(); }

private:
  friend class Cycles;

  static constexpr uint16_t pools = 16;
  static constexpr size_t chunkBytes = 1 << 16, segmentBytes = 1 << 15;
  /// A boxed value knows its neighbours, so that it can be released with the heap.
  static constexpr uint16_t boxSlots = 3;

  /// What a segment begins with. While objects are made in it, the heap has its list; else what
  /// dies is appended, so that what is made of it lies in the order of what was there.
  struct Segment {
    Object *free = nullptr, *last = nullptr;
    /// The next one that is offered.
    Segment* next = nullptr;
    /// From here on no object was ever made.
    Slot* fresh = nullptr;
    /// How many cells are in the list, and how many it takes to make objects here again.
    uint32_t freed = 0, enough = 0;
    uint32_t capacity = 0;
    uint16_t fields = 0;
  };
  /// The segments in which objects may be made again, first come first served.
  struct Offers {
    Segment *first = nullptr, *last = nullptr;
  };
  static constexpr size_t headerSlots = 8, segmentSlots = segmentBytes / sizeof(Slot);
  static_assert(sizeof(Segment) <= headerSlots * sizeof(Slot));

  static Segment* segmentOf(Object* object) {
    return reinterpret_cast<Segment*>(uintptr_t(object) & ~(segmentBytes - 1));
  }
  /// Cells of one segment, linked but for the last one.
  struct Row {
    Segment* segment = nullptr;
    Object *first = nullptr, *last = nullptr;
    uint32_t count = 0;
  };
  void recycle(const Row& row);
  void offer(Segment* segment);
  bool refill(uint16_t fields);
  bool takeOffer(uint16_t fields);
  bool takeSparse(uint16_t fields);
  bool takeNew(uint16_t fields);
  void makeCurrent(Segment* segment);
  bool extend(Segment* segment);
  Object* makeLarge(uint16_t fields);
  Slot* allocate(size_t bytes, size_t alignment);
  bool addChunk();
  bool collects();
  static Object* next(const Object* object) {
    return reinterpret_cast<Object*>(uintptr_t(object->references) << 3);
  }
  /// What lies in a list is suspected of nothing.
  static void link(Object* object, Object* next) {
    object->isReached = false;
    object->isSuspect = false;
    object->unused = 0;
    object->references = reinterpret_cast<uintptr_t>(next) >> 3;
  }
  void destroy(Object* object);
  Object* dropFields(Object* object, Object* dead);
  static Object* drop(Object* inner, Object* dead) {
    if (--inner->references > 0)
      return dead;
    link(inner, dead);
    return inner;
  }
  void dropBox(Object* object);
  void freeLarge(Object* object);

  /// By layout: how many fields objects have, and which of these are references; where they fit
  /// into a pool also as bits.
  struct Shape {
    uint16_t size, references;
    uint32_t first;
    uint32_t bits;
  };
  std::vector<Shape> shapes_;
  std::vector<uint16_t> referenceFields_;
  /// By the number of fields: the cells for the next objects, in the segment at hand.
  std::array<Object*, pools> free_ = {};
  std::array<Segment*, pools> current_ = {};
  std::array<Offers, pools> offers_ = {};
  struct Free {
    void operator()(Slot* chunk) const { std::free(chunk); }
  };
  struct Chunk {
    std::unique_ptr<Slot, Free> memory;
    size_t slots;
  };
  std::vector<Chunk> chunks_;
  std::unordered_set<Object*> large_;
  /// Where the next segment goes.
  Slot* at_ = nullptr;
  Slot* end_ = nullptr;
  /// The ring of boxed values.
  Object* boxes_ = nullptr;
  runtime::HeldMemory held_;
  Cycles cycles_{*this};
};

} // namespace vm

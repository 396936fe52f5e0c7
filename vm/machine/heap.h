// The heap of one run: cells from pools by size, counted references.
//
// Memory of a dead object serves the next one of its size, often the very one that is made of its
// fields. In a heap beyond the processor's caches that would leave the cells of a list, when it was
// sorted for instance, all over memory for good. So there the cells of lists move when they are
// used again: their memory waits with that of its page until half of the page is free, and is then
// handed out page by page, so that what follows in the list follows in memory (free lists of pages:
// Leijen, Zorn and de Moura, Mimalloc, 2019).
//
// Releasing neither recurses nor allocates, however deep a structure is. What cycles of references
// hold is collected when memory grows (cycles.h). When the heap goes, all that is left in it goes.
#pragma once

#include "runtime/memory.h"
#include "vm/machine/cycles.h"
#include "vm/machine/program.h"

#include <array>
#include <cstdlib>
#include <memory>

namespace vm {

class Heap {
public:
  explicit Heap(const std::vector<Layout>& layouts);
  ~Heap();
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;

  /// Takes up layouts that were added behind those that it knows.
  void takeUp(const std::vector<Layout>& layouts);

  /// An object with one reference, whose fields are to be filled. Throws std::bad_alloc.
  Object* make(uint16_t layout);
  /// The same for a layout of so many fields, if there is memory for it at hand; else null, and
  /// `makeSlow` makes one, or is null when memory is out.
  Object* pooled(uint16_t fields, uint16_t layout) {
    if (fields >= pools)
      return nullptr;
    Object* object = front_.free[fields];
    if (object) {
      front_.free[fields] = next(object);
    } else {
      if (size_t(front_.end - front_.at) <= fields)
        return nullptr;
      object = reinterpret_cast<Object*>(front_.at);
      front_.at += fields + 1;
    }
    start(object, layout);
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
    link(object, front_.free[fields]);
    front_.free[fields] = object;
  }
  /// Makes memory that `recycle` would take an object of as many fields.
  static void start(Object* object, uint16_t layout) {
    object->layout = layout;
    object->isReached = false;
    object->isSuspect = false;
    object->unused = 0;
    object->references = 1;
  }

  static constexpr uint16_t pools = 16;
  /// What code that makes and gives up objects by itself works on: memory by size, the rest of the
  /// page at hand, and whether caches hold only a part of the heap.
  struct Front {
    std::array<Object*, pools> free = {};
    Slot* at = nullptr;
    Slot* end = nullptr;
    bool isLarge = false;
  };
  Front& front() { return front_; }
  /// Whether objects of the layout are cells of lists, which move where the heap is large.
  bool isLink(uint16_t layout) const { return shapes_[layout].isLink; }

  /// Whether memory of an object of the layout had better not serve the next one at once.
  bool moves(uint16_t layout) const { return front_.isLarge && shapes_[layout].isLink; }
  /// Memory of so many fields in exchange for that of a dead object.
  Object* moved(Object* object, uint16_t fields);

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

  static constexpr size_t chunkBytes = 1 << 16;
  /// A boxed value knows its neighbours, so that it can be released with the heap.
  static constexpr uint16_t boxSlots = 3;

  /// What each page of cells begins with: the cells in it that wait, all of so many fields.
  struct Page {
    Object* waiting;
    Page* next;
    uint32_t count;
    uint16_t fields;
    bool isReady;
  };
  /// Pages of which half waits, in the order in which they became so.
  struct ReadyPages {
    Page *first = nullptr, *last = nullptr;
  };
  static constexpr size_t pageBytes = 1 << 14;
  static Page* pageOf(Object* object) {
    return reinterpret_cast<Page*>(reinterpret_cast<uintptr_t>(object) & ~(pageBytes - 1));
  }

  Slot* allocate(size_t bytes, size_t alignment);
  bool addChunk();
  bool nextPage();
  void wait(Object* object, uint16_t fields);
  bool findSpare(uint16_t fields);
  void poolSpares();
  void pool(Object* list, uint16_t fields);
  bool collectsInstead(uint16_t size);
  bool findsSpares(uint16_t size);
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
  /// Lies in front of an object that is too large for the pools, which the heap lists.
  struct Large {
    Large *before, *after;
  };
  Object* makeLarge(size_t slots);
  void freeLarge(Object* object);

  /// By layout: how many fields objects have, and which of these are references; where they fit
  /// into a pool also as bits.
  struct Shape {
    uint16_t size, references;
    uint32_t first;
    uint32_t bits;
    /// Whether it has one reference, as the cells of lists.
    bool isLink;
  };
  runtime::List<Shape> shapes_;
  runtime::List<uint16_t> referenceFields_;
  struct Free {
    void operator()(Slot* chunk) const { std::free(chunk); }
  };
  struct Chunk {
    static constexpr bool movesAsBytes = true;

    std::unique_ptr<Slot, Free> memory;
    size_t slots;
  };
  runtime::List<Chunk> chunks_;
  Large* large_ = nullptr;
  Front front_;
  /// Where the pages behind the one at hand end.
  Slot* chunkEnd_ = nullptr;
  /// By size: memory for objects that move, and pages with more.
  std::array<Object*, pools> spare_ = {};
  std::array<ReadyPages, pools> ready_ = {};
  /// The bytes that were taken for moves, which are in spare memory or wait.
  size_t spareBytes_ = 0;
  /// The ring of boxed values.
  Object* boxes_ = nullptr;
  runtime::HeldMemory held_;
  Cycles cycles_{*this};
};

} // namespace vm

// Trial deletion in lists: nothing recurses, and when there is no memory for a list, all counts are
// put back and the collection is left for later.
#include "vm/machine/cycles.h"

#include "vm/machine/heap.h"

#include <algorithm>
#include <new>

namespace vm {

namespace {

/// Below this, looking for garbage is not worth the time.
constexpr int64_t leastGrowth = 1 << 20;
constexpr size_t leastSuspects = 256;

/// Makes room in a list; false when there is no memory.
bool reserve(runtime::List<Object*>& list, size_t size) {
  if (size <= list.capacity())
    return true;
  try {
    list.reserve(std::max(size, 2 * list.capacity()));
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

} // namespace

Cycles::Cycles(Heap& heap) : heap_(heap), heldBefore_(runtime::heldMemory()) {
  setLimit();
}

bool Cycles::isAboveLimit() const {
  return runtime::heldMemory() - heldBefore_ - pooled_ >= limit_;
}

bool Cycles::isLeaf(const Object* object) const {
  return heap_.referencesOf(object->layout).empty();
}

/// Remembers a cell, unless what it holds can lead nowhere. Without memory to do so a cycle may
/// stay until the heap goes.
void Cycles::suspect(Object* cell) {
  if (isLeaf(cell->fields()[0].object))
    return;
  if (suspects_.size() >= most_) {
    forgetOthers();
    most_ = std::max(leastSuspects, 2 * suspects_.size());
  }
  if (!reserve(suspects_, suspects_.size() + 1))
    return;
  cell->isSuspect = true;
  suspects_.push_back(cell);
}

/// Forgets where a cell is no more, and where one is remembered twice.
void Cycles::forgetOthers() {
  suspects_.eraseIf([](Object* cell) {
    if (!cell->isSuspect || cell->isReached)
      return true;
    cell->isReached = true;
    return false;
  });
  for (Object* cell : suspects_)
    cell->isReached = false;
}

size_t Cycles::collect() {
  if (isCollecting_)
    return 0;
  isCollecting_ = true;
  forgetOthers();
  size_t freed = reach() && keepLive() ? dropDead() : 0;
  // A run that made a large structure once need not keep lists for it.
  reached_ = {};
  live_ = {};
  setLimit();
  isCollecting_ = false;
  return freed;
}

/// Lists what can be reached, and takes the references from there off the counts.
bool Cycles::reach() {
  if (!reserve(reached_, suspects_.size()))
    return false;
  for (Object* cell : suspects_) {
    cell->isReached = true;
    reached_.push_back(cell);
  }
  for (size_t i = 0; i < reached_.size(); ++i) {
    Object* object = reached_[i];
    auto references = heap_.referencesOf(object->layout);
    if (!reserve(reached_, reached_.size() + references.size())) {
      undo(i);
      return false;
    }
    for (uint16_t field : references) {
      Object* inner = object->fields()[field].object;
      if (isLeaf(inner))
        continue;
      --inner->references;
      if (!inner->isReached) {
        inner->isReached = true;
        reached_.push_back(inner);
      }
    }
  }
  return true;
}

/// Puts back the references from the first so many objects.
void Cycles::undo(size_t count) {
  for (size_t i = 0; i < count; ++i)
    for (uint16_t field : heap_.referencesOf(reached_[i]->layout))
      if (Object* inner = reached_[i]->fields()[field].object; !isLeaf(inner))
        ++inner->references;
  for (Object* object : reached_)
    object->isReached = false;
}

/// Puts back the references from what is held from outside, and from all that this leads to.
bool Cycles::keepLive() {
  if (!reserve(live_, reached_.size())) {
    undo(reached_.size());
    return false;
  }
  auto keep = [&](Object* object) {
    object->isReached = false;
    live_.push_back(object);
  };
  for (Object* object : reached_)
    if (object->references > 0)
      keep(object);
  for (size_t i = 0; i < live_.size(); ++i)
    for (uint16_t field : heap_.referencesOf(live_[i]->layout)) {
      Object* inner = live_[i]->fields()[field].object;
      if (isLeaf(inner))
        continue;
      ++inner->references;
      if (inner->isReached)
        keep(inner);
    }
  return true;
}

/// Gives up what is still marked. Of its references only those to objects without any were not
/// taken off.
size_t Cycles::dropDead() {
  const int64_t before = runtime::heldMemory();
  suspects_.eraseIf([](const Object* cell) { return cell->isReached; });
  for (Object* object : reached_)
    if (object->isReached)
      for (uint16_t field : heap_.referencesOf(object->layout))
        if (Object* inner = object->fields()[field].object; isLeaf(inner))
          heap_.release(inner);
  size_t pooled = 0;
  for (Object* object : reached_)
    if (object->isReached) {
      pooled += (heap_.sizeOf(object->layout) + size_t(1)) * sizeof(Slot);
      heap_.recycle(object);
    }
  pooled_ = int64_t(pooled);
  return pooled + size_t(std::max<int64_t>(before - runtime::heldMemory(), 0));
}

/// The next collection is due when twice as much is alive, or, near the limit of the run, when half
/// of what is left is taken, though never so soon that nothing else gets done.
void Cycles::setLimit() {
  int64_t alive = std::max<int64_t>(runtime::heldMemory() - heldBefore_ - pooled_, 0);
  int64_t growth = std::max(leastGrowth, alive);
  int64_t left = runtime::memoryLeft();
  limit_ = alive + std::min(growth, std::max(left / 2, alive / 16 + 4096));
}

} // namespace vm

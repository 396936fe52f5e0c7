// The collector of cycles. Counting gives back what nothing refers to, but not what refers to
// itself.
//
// A new object refers to older ones only, so every cycle was closed by writing a reference into a
// cell. Such cells are remembered while they live. Now and then the references that lie inside of
// what can be reached from them are taken off the counts (trial deletion: Bacon and Rajan,
// Concurrent Cycle Collection, 2001); what has a count left is held from outside, and what cannot
// be reached from there is garbage. That happens when as much memory was taken as was alive the
// last time, so that it costs as much as taking the memory did. Programs that write no references
// into cells pay nothing.
//
// Counts are right whenever an instruction begins and whenever memory is asked for, and objects are
// complete once something refers to them, so a collection may be there at all these times.
#pragma once

#include "runtime/list.h"
#include "vm/machine/object.h"

#include <cstddef>

namespace vm {

class Heap;

class Cycles {
public:
  explicit Cycles(Heap& heap);

  /// A reference was written into a cell.
  void written(Object* cell) {
    if (!cell->isSuspect)
      suspect(cell);
  }
  /// Whether so much was taken that it is worth looking for garbage.
  bool isDue() const { return !suspects_.empty() && isAboveLimit(); }
  /// Collects; gives the bytes that are free again, in the pools of the heap and outside.
  size_t collect();
  /// What the heap got back the last time is in use again.
  void usedUp() { pooled_ = 0; }

private:
  void suspect(Object* cell);
  bool isAboveLimit() const;
  bool isLeaf(const Object* object) const;
  void forgetOthers();
  bool reach();
  void undo(size_t count);
  bool keepLive();
  size_t dropDead();
  void setLimit();

  Heap& heap_;
  /// Cells into which references were written, and memory where one was: an object of as many
  /// fields, which is no suspect, or one again.
  runtime::List<Object*> suspects_;
  /// How many there may be until dead ones are forgotten.
  size_t most_ = 0;
  /// During a collection: what can be reached, without what has no references, and what stays.
  runtime::List<Object*> reached_, live_;
  bool isCollecting_ = false;
  /// What the thread held when the heap was made, and beyond which a collection is due.
  int64_t heldBefore_, limit_ = 0;
  /// Bytes that the last collection gave to the pools, if they were not used up since.
  int64_t pooled_ = 0;
};

} // namespace vm

// What the instructions on references and objects do.
#pragma once

#include "vm/machine/context.h"

namespace vm {

inline const Word* stop(Context&, const Word* at) {
  return at;
}
inline const Word* move(Context& x, const Word* at) {
  x.r[at->a] = x.r[at->b];
  return at + 1;
}
inline const Word* loadLong(Context& x, const Word* at) {
  x.r[at->a].i64 = int32_t(wide(*at));
  return at + 1;
}
inline const Word* retain(Context& x, const Word* at) {
  Heap::retain((x.r[at->a] = x.r[at->b]).object);
  return at + 1;
}
inline const Word* release(Context& x, const Word* at) {
  x.machine.heap().release(x.r[at->a].object);
  return at + 1;
}
inline const Word* loadWord(Context& x, const Word* at) {
  x.r[at->a].word = x.machine.program().words[wide(*at)];
  return at + 1;
}
inline const Word* loadStatic(Context& x, const Word* at) {
  x.r[at->a].object = x.machine.staticObject(wide(*at));
  return at + 1;
}

inline const Word* loadOwned(Context& x, const Word* at) {
  Heap::retain((x.r[at->a].object = x.machine.staticObject(wide(*at))));
  return at + 1;
}

inline bool isOf(const Object* object, uint16_t layout) {
  return object->layout == layout;
}

/// How many fields an object of the instruction has: `known`, or, for 0, what its layout says.
template <size_t known>
size_t fieldCount(Context& x, const Word* at) {
  return known > 0 ? known : x.machine.heap().sizeOf(at->b);
}

/// A new object without content; null after a trap.
template <size_t known>
Object* newMemory(Context& x, const Word* at) {
  Heap& heap = x.machine.heap();
  Object* object = at->c == none ? nullptr : x.r[at->c].object;
  if (object)
    Heap::start(object, at->b);
  else
    object = heap.pooled(known > 0 ? known : heap.sizeOf(at->b), at->b);
  if (!object) [[unlikely]] {
    x.save();
    object = Slow::make(x.machine, at);
  }
  return object;
}

/// A new object of the registers in the tail; null after a trap.
template <size_t known>
Object* newObject(Context& x, const Word* at) {
  Object* object = newMemory<known>(x, at);
  if (!object) [[unlikely]]
    return nullptr;
  const uint16_t* from = tailOf(at);
  size_t count = fieldCount<known>(x, at);
#pragma GCC unroll 3
  for (size_t i = 0; i < count; ++i)
    object->fields()[i] = x.r[from[i]];
  return object;
}

template <size_t known>
const Word* make(Context& x, const Word* at) {
  Object* object = newObject<known>(x, at);
  if (!object) [[unlikely]]
    return x.machine.stop();
  x.r[at->a].object = object;
  return behindTail(at, fieldCount<known>(x, at));
}

inline const Word* reserve(Context& x, const Word* at) {
  Heap& heap = x.machine.heap();
  Object* object = heap.pooled(heap.sizeOf(at->b), at->b);
  if (!object) [[unlikely]] {
    x.save();
    object = Slow::make(x.machine, at);
    if (!object)
      return x.machine.stop();
  }
  x.r[at->a].object = object;
  return at + 1;
}

/// Brings near what is looked at soon: the last field, which is looked at last, and what was made a
/// little later than the object, since most structures are walked in the order in which they were
/// made. The processor does not see trees coming.
inline void lookAhead(const Object* object, size_t fields) {
  constexpr size_t slotsAhead = 64;
  __builtin_prefetch(object->fields()[fields - 1].object);
  __builtin_prefetch(object->fields() + slotsAhead);
}

template <size_t known>
void loadFields(Context& x, const Word* at, const Object* object) {
  const uint16_t* to = tailOf(at);
  size_t count = fieldCount<known>(x, at);
#pragma GCC unroll 3
  for (size_t i = 0; i < count; ++i)
    if (to[i] != none)
      x.r[to[i]] = object->fields()[i];
  if (known > 1)
    lookAhead(object, known);
}

template <size_t known>
const Word* fields(Context& x, const Word* at) {
  Object* object = x.r[at->a].object;
  if (!isOf(object, at->b))
    return Slow::trap(x.machine, at, Trap::WrongObject);
  loadFields<known>(x, at, object);
  return behindTail(at, fieldCount<known>(x, at));
}

/// Gives up an object of which the fields that the bits `dropped` tell are not kept.
template <size_t known>
void giveUp(Context& x, const Word* at, uint16_t token, Object* object, uint32_t dropped) {
  Heap& heap = x.machine.heap();
  bool drops = dropped != 0 && (dropped & heap.referenceBits(at->b)) != 0;
  if (object->references != 1 || drops)
    Slow::open(x.machine, at, token, x.r);
  else if (token == none)
    heap.recycle(object, uint16_t(known));
  else
    x.r[token].object = heap.moves(at->b) ? heap.moved(object, uint16_t(known)) : object;
}

/// Gives up an object: its fields go to the registers of the tail, and those without one go with
/// it.
template <size_t known>
const Word* open(Context& x, const Word* at) {
  Object* object = x.r[at->a].object;
  if (!isOf(object, at->b))
    return Slow::trap(x.machine, at, Trap::WrongObject);
  const uint16_t* to = tailOf(at);
  uint32_t dropped = 0;
#pragma GCC unroll 3
  for (size_t i = 0; i < known; ++i)
    dropped |= uint32_t(to[i] == none) << i;
  if (known > 0)
    giveUp<known>(x, at, at->c, object, dropped);
  else
    Slow::open(x.machine, at, at->c, x.r);
  return behindTail(at, fieldCount<known>(x, at));
}

template <size_t known>
void unpackFields(Context& x, const Word* at, uint16_t token, Object* object) {
  const uint16_t* to = tailOf(at);
  size_t count = fieldCount<known>(x, at);
  uint32_t dropped = 0;
#pragma GCC unroll 3
  for (size_t i = 0; i < count; ++i)
    if (to[i] != none)
      x.r[to[i]] = object->fields()[i];
    else if (known > 0)
      dropped |= 1u << i;
  if (known > 0)
    giveUp<known>(x, at, token, object, dropped);
  else
    Slow::open(x.machine, at, token, x.r);
}

template <size_t known>
const Word* unpack(Context& x, const Word* at) {
  Object* object = x.r[at->a].object;
  if (!isOf(object, at->b))
    return Slow::trap(x.machine, at, Trap::WrongObject);
  unpackFields<known>(x, at, at->c, object);
  return behindTail(at, fieldCount<known>(x, at));
}

template <size_t known>
const Word* matchFields(Context& x, const Word* at) {
  const Object* object = x.r[at->a].object;
  const Word* next = behindTail(at, fieldCount<known>(x, at));
  if (!isOf(object, at->b))
    return next + int16_t(at->c);
  loadFields<known>(x, at, object);
  return next;
}
template <size_t known>
const Word* matchTaken(Context& x, const Word* at, uint16_t token) {
  Object* object = x.r[at->a].object;
  const Word* next = behindTail(at, fieldCount<known>(x, at));
  if (!isOf(object, at->b))
    return next + int16_t(at->c);
  unpackFields<known>(x, at, token, object);
  return next;
}
template <size_t known>
const Word* matchUnpack(Context& x, const Word* at) {
  return matchTaken<known>(x, at, none);
}
template <size_t known>
const Word* matchReuse(Context& x, const Word* at) {
  return matchTaken<known>(x, at, at->a);
}

inline const Word* freeToken(Context& x, const Word* at) {
  if (Object* object = x.r[at->a].object)
    x.machine.heap().recycle(object);
  return at + 1;
}

inline const Word* readScalar(Context& x, const Word* at) {
  Object* cell = x.r[at->b].object;
  if (!isOf(cell, at->c))
    return Slow::trap(x.machine, at, Trap::WrongObject);
  x.r[at->a] = cell->fields()[0];
  return at + 1;
}
inline const Word* readOwned(Context& x, const Word* at) {
  const Word* next = readScalar(x, at);
  if (next != x.machine.stop())
    Heap::retain(x.r[at->a].object);
  return next;
}
inline const Word* writeScalar(Context& x, const Word* at) {
  Object* cell = x.r[at->a].object;
  if (!isOf(cell, at->c))
    return Slow::trap(x.machine, at, Trap::WrongObject);
  cell->fields()[0] = x.r[at->b];
  return at + 1;
}
inline const Word* writeOwned(Context& x, const Word* at) {
  Object* cell = x.r[at->a].object;
  Object* before = cell->fields()[0].object;
  const Word* next = writeScalar(x, at);
  if (next != x.machine.stop()) {
    x.machine.heap().cycles().written(cell);
    x.machine.heap().release(before);
  }
  return next;
}

} // namespace vm

// What each instruction does: jumps, calls and returns here, objects and scalars in headers of
// their own.
#pragma once

#include "vm/machine/execute_objects.h"
#include "vm/machine/execute_scalars.h"

namespace vm {

inline const Word* jump(Context&, const Word* at) {
  return jumpBy(at, int32_t(wide(*at)));
}
inline const Word* jumpUnless(Context& x, const Word* at) {
  return x.r[at->a].u8 ? at + 1 : jumpBy(at, int32_t(wide(*at)));
}
inline const Word* jumpIf(Context& x, const Word* at) {
  return x.r[at->a].u8 ? jumpBy(at, int32_t(wide(*at))) : at + 1;
}
inline const Word* jumpUnlessOf(Context& x, const Word* at) {
  return isOf(x.r[at->a].object, at->b) ? at + 1 : jumpBy(at, int16_t(at->c));
}

inline const Word* returnFlat(Context& x, const Word*) {
  return leave(x);
}
inline const Word* returnLong(Context& x, const Word* at) {
  x.r[0].i64 = int32_t(wide(*at));
  return leave(x);
}
inline const Word* returnField(Context& x, const Word* at) {
  Object* object = x.r[at->a].object;
  if (!isOf(object, at->b))
    return Slow::trap(x.machine, at, Trap::WrongObject);
  x.r[0] = object->fields()[at->c];
  return leave(x);
}
template <size_t known>
const Word* returnNew(Context& x, const Word* at) {
  Object* object = newObject<known>(x, at);
  if (!object) [[unlikely]]
    return x.machine.stop();
  x.r[0].object = object;
  return leave(x);
}
/// Below the frame by which the wrapped call returns lies one of what it is to be a part of. Where
/// this call is wrapped itself, that grows inwards and no frame is added.
template <size_t known>
const Word* wrap(Context& x, const Word* at) {
  Object* object = newMemory<known>(x, at);
  if (!object) [[unlikely]]
    return x.machine.stop();
  const uint16_t* from = tailOf(at);
  size_t count = fieldCount<known>(x, at);
  Slot* missing = nullptr;
#pragma GCC unroll 3
  for (size_t i = 0; i < count; ++i)
    if (from[i] == none)
      missing = object->fields() + i;
    else
      object->fields()[i] = x.r[from[i]];
  if (x.top[-1].next == x.machine.fill()) {
    Frame& around = x.top[-2];
    around.missing->object = object;
    around.missing = missing;
  } else {
    Frame& around = *x.top++;
    around.whole = object;
    around.missing = missing;
    *x.top++ = {{x.machine.fill()}, {x.r}};
    ++x.machine.openWraps;
  }
  return behindTail(at, count);
}
inline const Word* fill(Context& x, const Word*) {
  const Frame& around = *--x.top;
  --x.machine.openWraps;
  *around.missing = x.r[0];
  x.r[0].object = around.whole;
  return leave(x);
}

inline const Word* note(Context& x, const Word* at) {
  x.machine.note(at);
  return at + 1;
}
inline const Word* kernel(Context& x, const Word* at) {
  x.save();
  return Slow::kernel(x.machine, at);
}
inline const Word* host(Context& x, const Word* at) {
  x.save();
  return Slow::host(x.machine, at);
}
inline const Word* returnStatic(Context& x, const Word* at) {
  Heap::retain((x.r[0].object = x.machine.staticObject(wide(*at))));
  return leave(x);
}

/// The arms of a linked switch count from it. The first ones have a jump each, so what the
/// processor remembers of the way here tells them apart, even where they begin alike.
inline const Word* switchTag(Context& x, const Word* at) {
  uint16_t tag = x.machine.tagOf(x.r[at->a].object);
  if (tag >= at->b)
    return Slow::trap(x.machine, at, Trap::WrongObject);
  switch (tag) {
  case 0:
    return at + arm(at, 0);
  case 1:
    return at + arm(at, 1);
  case 2:
    return at + arm(at, 2);
  case 3:
    return at + arm(at, 3);
  case 4:
    return at + arm(at, 4);
  case 5:
    return at + arm(at, 5);
  default:
    return at + arm(at, tag);
  }
}

/// Lets the machine change what the loop keeps in registers.
template <const Word* (*function)(Machine&, const Word*)>
const Word* slowly(Context& x, const Word* at) {
  x.save();
  const Word* next = function(x.machine, at);
  x.load();
  return next;
}

/// Nothing that the instruction does besides calling.
inline void callOnly(Context&, const Word*) {}
/// What the second word of an instruction says that an argument is.
inline void moveArgument(Context& x, const Word* at) {
  x.r[at[1].op] = x.r[at[1].a];
}
template <typename T>
void addToArgument(Context& x, const Word* at) {
  put(x.r[at[1].op],
      runtime::applied<ScalarFunction::Add>(as<T>(x.r[at[1].a]), T(int16_t(at[1].b))));
}

/// Specialised, since sanitizers keep g++ from comparing addresses of functions while it compiles.
template <void (*place)(Context&, const Word*)>
inline constexpr size_t wordsOfCall = 2;
template <>
inline constexpr size_t wordsOfCall<callOnly> = 1;

/// Opens a call; the other one goes on behind `at`.
template <void (*place)(Context&, const Word*)>
void openCall(Context& x, const Word* at) {
  *x.top++ = {{at + wordsOfCall<place>}, {x.r}};
  x.r += at->a;
}

/// Calls; `place` is done when nothing is in the way any more. While there is fuel there is room.
template <void (*place)(Context&, const Word*)>
const Word* enter(Context& x, const Word* at, const Word* function) {
  if (--x.fuel == 0) [[unlikely]]
    return slowly<Slow::refuel>(x, at);
  place(x, at);
  openCall<place>(x, at);
  return function;
}

/// Goes on with the arguments in the first registers, where there is room already.
template <void (*place)(Context&, const Word*)>
const Word* replace(Context& x, const Word* at, const Word* function) {
  if (--x.fuel == 0) [[unlikely]]
    return slowly<Slow::refuelInPlace>(x, at);
  place(x, at);
  return function;
}

/// The function that a linked call names, by bytes, which saves the processor a step.
inline const Word* callee(const Word* at) {
  auto* place = reinterpret_cast<const std::byte*>(at) + int32_t(wide(*at));
  return reinterpret_cast<const Word*>(place);
}
inline const Word* call(Context& x, const Word* at) {
  return enter<callOnly>(x, at, callee(at));
}
inline const Word* callMove(Context& x, const Word* at) {
  return enter<moveArgument>(x, at, callee(at));
}
template <typename T>
const Word* callAdd(Context& x, const Word* at) {
  return enter<addToArgument<T>>(x, at, callee(at));
}
inline const Word* tailCall(Context& x, const Word* at) {
  return replace<callOnly>(x, at, callee(at));
}
inline const Word* tailMove(Context& x, const Word* at) {
  return replace<moveArgument>(x, at, callee(at));
}
template <typename T>
const Word* tailAdd(Context& x, const Word* at) {
  return replace<addToArgument<T>>(x, at, callee(at));
}
/// The code of a closure for calls by a signature; null when it has none.
inline const Word* entryOf(Machine& machine, Object* closure, uint16_t signature) {
  const Machine::ClosureEntry& first = machine.closureEntry(closure->layout);
  return first.signature == signature ? first.code : Slow::entryOf(machine, closure, signature);
}

inline const Word* callClosure(Context& x, const Word* at) {
  const Word* function = entryOf(x.machine, x.r[at->a + at->b].object, at->c);
  return function ? enter<callOnly>(x, at, function) : Slow::trap(x.machine, at, Trap::WrongObject);
}
inline const Word* tailCallClosure(Context& x, const Word* at) {
  const Word* function = entryOf(x.machine, x.r[at->b].object, at->c);
  return function ? replace<callOnly>(x, at, function)
                  : Slow::trap(x.machine, at, Trap::WrongObject);
}
inline const Word* returnScalar(Context& x, const Word* at) {
  x.r[0] = x.r[at->a];
  return leave(x);
}

} // namespace vm

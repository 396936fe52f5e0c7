// What each instruction does: a function from the instruction to the next one.
//
// They are inlined into the loop, where a Context is four machine registers. So none hands its
// address on: what is rare is a function of Slow, which takes and gives values.
#pragma once

#include "runtime/scalar_meaning.h"
#include "vm/machine.h"
#include "vm/scalar.h"

#include <bit>

namespace vm {

using runtime::ScalarFunction;

struct Context {
  Machine& machine;
  Slot* r = nullptr;
  Frame* top = nullptr;
  uint32_t fuel = 0;

  void load() {
    r = machine.state.registers;
    top = machine.state.top;
    fuel = machine.state.fuel;
  }
  void save() const { machine.state = {r, top, fuel}; }
};

/// Runs from an instruction to the end of the run.
void runLoop(Machine& machine, const Word* at);
/// Where the loop has the code of each instruction, for LinkedOps.
std::span<const uint16_t> loopPlaces();

/// The rare cases, out of the loop. The state of the machine must be saved before.
struct Slow {
  static const Word* trap(Machine& machine, const Word* at, Trap trap) {
    machine.trap_ = trap;
    machine.trapped_ = at;
    return machine.stop();
  }
  /// Gives fuel for more calls, unless the run ends; the call is then tried again.
  static const Word* refuel(Machine& machine, const Word* at) {
    return refuelFor(machine, at, true);
  }
  /// The same for a call in place of another one, which needs no room.
  static const Word* refuelInPlace(Machine& machine, const Word* at) {
    return refuelFor(machine, at, false);
  }
  static const Word* refuelFor(Machine& machine, const Word* at, bool needsRoom);
  /// An object of the layout that the instruction names; null after a trap.
  static Object* make(Machine& machine, const Word* at);
  static void open(Machine& machine, const Word* at, uint16_t token, Slot* registers);
  static const Word* host(Machine& machine, const Word* at);
  static const Word* kernel(Machine& machine, const Word* at);
  static bool isInterruptedBehind(Machine& machine, const KernelCall& call);
  static void takeOperands(Machine& machine, const HostSite& site, const Word* at);
  static const Word* entryOf(Machine& machine, Object* closure, uint16_t signature);
};

template <typename T>
T& as(Slot& slot) {
  return *reinterpret_cast<T*>(&slot);
}

/// Writes all bytes of a slot: reading one of which only some were just written makes the processor
/// wait for them.
template <typename T>
void put(Slot& slot, T value) {
  if constexpr (sizeof(T) == 8)
    slot.word = std::bit_cast<uint64_t>(value);
  else if constexpr (sizeof(T) == 4)
    slot.word = std::bit_cast<uint32_t>(value);
  else
    slot.word = uint8_t(value);
}

inline const uint16_t* tailOf(const Word* at) {
  return reinterpret_cast<const uint16_t*>(at + 1);
}
inline const Word* behindTail(const Word* at, size_t count) {
  return at + 1 + (count + 3) / 4;
}
inline const Word* jumpBy(const Word* at, int32_t words) {
  return at + 1 + words;
}

// Scalars and references as they are.

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
inline const Word* loadWord(Context& x, const Word* at);
inline const Word* loadStatic(Context& x, const Word* at);
inline const Word* loadOwned(Context& x, const Word* at);
inline const Word* retain(Context& x, const Word* at) {
  Heap::retain((x.r[at->a] = x.r[at->b]).object);
  return at + 1;
}
inline const Word* release(Context& x, const Word* at) {
  x.machine.heap().release(x.r[at->a].object);
  return at + 1;
}

// Objects.

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

// Control.

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
inline const Word* switchTag(Context& x, const Word* at);
inline const Word* call(Context& x, const Word* at);
inline const Word* tailCall(Context& x, const Word* at);
inline const Word* callClosure(Context& x, const Word* at);
inline const Word* tailCallClosure(Context& x, const Word* at);
inline const Word* returnScalar(Context& x, const Word* at);

/// Ends the call, whose result is in its first register.
inline const Word* leave(Context& x) {
  --x.top;
  x.r = x.top->registers;
  return x.top->next;
}
inline const Word* returnFlat(Context& x, const Word*) {
  return leave(x);
}
inline const Word* returnLong(Context& x, const Word* at) {
  x.r[0].i64 = int32_t(wide(*at));
  return leave(x);
}
inline const Word* returnStatic(Context& x, const Word* at);
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
inline const Word* callMove(Context& x, const Word* at);
inline const Word* tailMove(Context& x, const Word* at);
template <typename T>
const Word* callAdd(Context& x, const Word* at);
template <typename T>
const Word* tailAdd(Context& x, const Word* at);

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

// Scalars.

inline const Word* applyAny(Context& x, const Word* at) {
  auto function = ScalarFunction(at[1].op);
  runtime::DType dtype = unpacked(at[1].a);
  Slot b = x.r[at->c];
  if (runtime::scalarFunctionDivides(function) && isWholeZero(dtype, b))
    return Slow::trap(x.machine, at, Trap::DivisionByZero);
  x.r[at->a] = applyScalar(function, dtype, x.r[at->b], b, x.r[at[1].b]);
  return at + 2;
}
inline const Word* convertAny(Context& x, const Word* at) {
  x.r[at->a] = convertScalar(unpacked(at[1].op), unpacked(at[1].a), x.r[at->b]);
  return at + 2;
}
inline const Word* choose(Context& x, const Word* at) {
  x.r[at->a] = x.r[at[1].op].u8 ? x.r[at->b] : x.r[at->c];
  return at + 2;
}

template <ScalarFunction function, typename T>
const Word* binary(Context& x, const Word* at) {
  put(x.r[at->a], runtime::applied<function>(as<T>(x.r[at->b]), as<T>(x.r[at->c])));
  return at + 1;
}
template <ScalarFunction function, typename T>
const Word* immediate(Context& x, const Word* at) {
  put(x.r[at->a], runtime::applied<function>(as<T>(x.r[at->b]), T(int16_t(at->c))));
  return at + 1;
}
template <ScalarFunction function, typename T>
const Word* masked(Context& x, const Word* at) {
  put(x.r[at->a], runtime::applied<function>(as<T>(x.r[at->b]), T(at->c)));
  return at + 1;
}
template <ScalarFunction function, typename T>
const Word* unary(Context& x, const Word* at) {
  put(x.r[at->a], runtime::applied<function>(as<T>(x.r[at->b])));
  return at + 1;
}
template <ScalarFunction function, typename T>
const Word* returnBinary(Context& x, const Word* at) {
  put(x.r[0], runtime::applied<function>(as<T>(x.r[at->b]), as<T>(x.r[at->c])));
  return leave(x);
}
template <ScalarFunction function, typename T>
const Word* returnImmediate(Context& x, const Word* at) {
  put(x.r[0], runtime::applied<function>(as<T>(x.r[at->b]), T(int16_t(at->c))));
  return leave(x);
}
template <ScalarFunction function, typename T>
const Word* returnMasked(Context& x, const Word* at) {
  put(x.r[0], runtime::applied<function>(as<T>(x.r[at->b]), T(at->c)));
  return leave(x);
}
template <ScalarFunction function, typename T>
const Word* jumpUnlessHolds(Context& x, const Word* at) {
  bool holds = runtime::applied<function>(as<T>(x.r[at->a]), as<T>(x.r[at->b]));
  return holds ? at + 1 : jumpBy(at, int16_t(at->c));
}
template <ScalarFunction function, typename T>
const Word* jumpUnlessShort(Context& x, const Word* at) {
  bool holds = runtime::applied<function>(as<T>(x.r[at->a]), T(int16_t(at->b)));
  return holds ? at + 1 : jumpBy(at, int16_t(at->c));
}

// What looks into the machine.

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
inline const Word* returnStatic(Context& x, const Word* at) {
  Heap::retain((x.r[0].object = x.machine.staticObject(wide(*at))));
  return leave(x);
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

template <void (*place)(Context&, const Word*)>
inline constexpr size_t wordsOfCall = place == callOnly ? 1 : 2;

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

// What each instruction does: a function from the instruction to the next one.
//
// They are inlined into the loop, where a Context is two machine registers. So none hands its
// address on: what is rare is a function of Slow, which takes and gives values.
#pragma once

#include "runtime/scalar_meaning.h"
#include "vm/machine.h"
#include "vm/scalar.h"

namespace vm {

using runtime::ScalarFunction;

struct Context {
  Machine& machine;
  Slot* r;
};

/// Where the machine goes on after what is rare.
struct Landing {
  const Word* next;
  Slot* registers;
};

/// Ends a run: what Stop and every trap lead to.
inline constexpr Word stopWord{uint16_t(Op::Stop), 0, 0, 0};

/// The rare cases, out of the loop.
struct Slow {
  static const Word* trap(Machine& machine, const Word* at, Trap trap) {
    machine.trap_ = trap;
    machine.trapped_ = at;
    return &stopWord;
  }
  /// Asks the host whether to go on, and makes room; then the call is tried again.
  static Landing makeRoom(Machine& machine, const Word* at, Slot* registers, Slot* window,
                          size_t count);
  static const Word* host(Machine& machine, const Word* at, Slot* registers);
  static const Entry* entryOf(Machine& machine, Object* closure, uint16_t signature);
};

template <typename T>
T& as(Slot& slot) {
  return *reinterpret_cast<T*>(&slot);
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

template <size_t known>
const Word* make(Context& x, const Word* at) {
  Heap& heap = x.machine.heap();
  Object* object = at->c == none ? nullptr : x.r[at->c].object;
  if (object)
    Heap::start(object, at->b);
  else
    object = known > 0 ? heap.makeOf(known, at->b) : heap.make(at->b);
  const uint16_t* from = tailOf(at);
  size_t count = fieldCount<known>(x, at);
  for (size_t i = 0; i < count; ++i)
    object->fields()[i] = x.r[from[i]];
  x.r[at->a].object = object;
  return behindTail(at, count);
}

template <size_t known>
const Word* fields(Context& x, const Word* at) {
  Object* object = x.r[at->a].object;
  if (!isOf(object, at->b))
    return Slow::trap(x.machine, at, Trap::WrongObject);
  const uint16_t* to = tailOf(at);
  size_t count = fieldCount<known>(x, at);
  for (size_t i = 0; i < count; ++i)
    if (to[i] != none)
      x.r[to[i]] = object->fields()[i];
  // What is loaded is looked at soon, and the processor does not see trees coming.
  for (uint16_t field : x.machine.heap().referencesOf(at->b))
    __builtin_prefetch(object->fields()[field].object);
  return behindTail(at, count);
}

/// Gives up an object: its fields go to the registers of the tail, and those without one go with
/// it.
inline void openObject(Context& x, const Word* at, Object* object) {
  Heap& heap = x.machine.heap();
  const uint16_t* to = tailOf(at);
  bool isLast = object->references == 1;
  for (uint16_t field : heap.referencesOf(at->b)) {
    Object* inner = object->fields()[field].object;
    if (isLast && to[field] == none)
      heap.release(inner);
    else if (!isLast && to[field] != none)
      Heap::retain(inner);
  }
  if (!isLast)
    --object->references;
  else if (at->c == none)
    heap.recycle(object);
  if (at->c != none)
    x.r[at->c].object = isLast ? object : nullptr;
}

inline const Word* open(Context& x, const Word* at) {
  Object* object = x.r[at->a].object;
  if (!isOf(object, at->b))
    return Slow::trap(x.machine, at, Trap::WrongObject);
  openObject(x, at, object);
  return behindTail(at, x.machine.heap().sizeOf(at->b));
}

template <size_t known>
const Word* unpack(Context& x, const Word* at) {
  Object* object = x.r[at->a].object;
  const Word* next = fields<known>(x, at);
  if (next != &stopWord)
    openObject(x, at, object);
  return next;
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
  if (next != &stopWord)
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
  if (next != &stopWord)
    x.machine.heap().release(before);
  return next;
}

// Control.

inline const Word* jump(Context&, const Word* at) {
  return jumpBy(at, int32_t(wide(*at)));
}
inline const Word* jumpUnless(Context& x, const Word* at) {
  return x.r[at->a].u8 ? at + 1 : jumpBy(at, int32_t(wide(*at)));
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

inline const Word* note(Context& x, const Word* at) {
  x.machine.note(at);
  return at + 1;
}
inline const Word* host(Context& x, const Word* at) {
  return Slow::host(x.machine, at, x.r);
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
  auto value = runtime::applied<function>(as<T>(x.r[at->b]), as<T>(x.r[at->c]));
  as<decltype(value)>(x.r[at->a]) = value;
  return at + 1;
}
template <ScalarFunction function, typename T>
const Word* immediate(Context& x, const Word* at) {
  as<T>(x.r[at->a]) = runtime::applied<function>(as<T>(x.r[at->b]), T(int16_t(at->c)));
  return at + 1;
}
template <ScalarFunction function, typename T>
const Word* masked(Context& x, const Word* at) {
  as<T>(x.r[at->a]) = runtime::applied<function>(as<T>(x.r[at->b]), T(at->c));
  return at + 1;
}
template <ScalarFunction function, typename T>
const Word* unary(Context& x, const Word* at) {
  as<T>(x.r[at->a]) = runtime::applied<function>(as<T>(x.r[at->b]));
  return at + 1;
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

inline const Word* switchTag(Context& x, const Word* at) {
  uint16_t tag = x.machine.tagOf(x.r[at->a].object);
  if (tag >= at->b)
    return Slow::trap(x.machine, at, Trap::WrongObject);
  int32_t words;
  std::memcpy(&words, reinterpret_cast<const std::byte*>(at + 1) + 4 * size_t(tag), 4);
  return at + 1 + (at->b + 1) / 2 + words;
}

inline const Word* loadWord(Context& x, const Word* at) {
  x.r[at->a].word = x.machine.program().words[wide(*at)];
  return at + 1;
}
inline const Word* loadStatic(Context& x, const Word* at) {
  x.r[at->a].object = x.machine.staticObject(wide(*at));
  return at + 1;
}

inline const Word* enter(Context& x, const Word* at, const Entry& function) {
  Slot* window = x.r + at->a;
  if (!x.machine.hasRoom(window + function.registers)) {
    Landing landing = Slow::makeRoom(x.machine, at, x.r, window, function.registers);
    x.r = landing.registers;
    if (landing.next != at)
      return landing.next;
    window = x.r + at->a;
  }
  x.machine.pushFrame({at + 1, x.r});
  x.r = window;
  return function.code;
}

/// Goes on with `count` arguments from the window in the first registers.
inline const Word* replace(Context& x, const Word* at, const Entry& function, size_t count) {
  if (!x.machine.hasRoom(x.r + function.registers)) {
    Landing landing = Slow::makeRoom(x.machine, at, x.r, x.r, function.registers);
    x.r = landing.registers;
    if (landing.next != at)
      return landing.next;
  }
  const Slot* from = x.r + at->a;
  for (size_t i = 0; i < count; ++i)
    x.r[i] = from[i];
  return function.code;
}

inline const Word* call(Context& x, const Word* at) {
  return enter(x, at, x.machine.entry(wide(*at)));
}
inline const Word* tailCall(Context& x, const Word* at) {
  const Entry& function = x.machine.entry(wide(*at));
  return replace(x, at, function, function.parameters);
}
/// The code of a closure for calls by a signature; null when it has none.
inline const Entry* entryOf(Machine& machine, Object* closure, uint16_t signature) {
  const Machine::ClosureEntry& first = machine.closureEntry(closure->layout);
  return first.signature == signature ? first.entry : Slow::entryOf(machine, closure, signature);
}

inline const Word* callClosure(Context& x, const Word* at) {
  const Entry* function = entryOf(x.machine, x.r[at->a + at->b].object, at->c);
  return function ? enter(x, at, *function) : Slow::trap(x.machine, at, Trap::WrongObject);
}
inline const Word* tailCallClosure(Context& x, const Word* at) {
  const Entry* function = entryOf(x.machine, x.r[at->a + at->b].object, at->c);
  return function ? replace(x, at, *function, at->b + size_t(1))
                  : Slow::trap(x.machine, at, Trap::WrongObject);
}
inline const Word* returnScalar(Context& x, const Word* at) {
  x.r[0] = x.r[at->a];
  Frame frame = x.machine.popFrame();
  x.r = frame.registers;
  return frame.next;
}

} // namespace vm

// What all instructions work on: a Context, and the rare cases, which lie out of the loop.
//
// Instructions are functions from the instruction to the next one. They are inlined into the loop,
// where a Context is four machine registers. So none hands its address on: what is rare is a
// function of Slow, which takes and gives values.
#pragma once

#include "runtime/scalar_meaning.h"
#include "vm/machine/machine.h"
#include "vm/machine/scalar.h"

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
  /// Ends the run with what is wrong at a site.
  static const Word* fail(Machine& machine, const Word* at, const runtime::Fault& fault) {
    machine.host_.kernelFailed(wide(*at), fault);
    return trap(machine, at, Trap::Host);
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
  /// Counts the calls that took fuel; the next one asks for some.
  static void settle(Machine& machine);
  /// The same for calls of a runner, of which so many are open within the one that it makes, and
  /// for so many of which there is room; false after a trap.
  static bool refuelElsewhere(Machine& machine, const Word* at, size_t depth, size_t room,
                              bool needsRoom);
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

/// Ends the call, whose result is in its first register.
inline const Word* leave(Context& x) {
  --x.top;
  x.r = x.top->registers;
  return x.top->next;
}

} // namespace vm

// What compiled code and the machine share: a table in the data of the loaded image, which the
// runner fills and code reads by the offsets of its members. Code knows no address but this one, so
// an image can be kept and loaded again.
#pragma once

#include "vm/machine/machine.h"

namespace vm::native {

/// Counts where calls that are open go on, outermost first.
using Frame = uint32_t;

struct NativeContext;

/// The first way to call closures of a layout: where the code is, for calls by a signature.
struct ClosureCode {
  uint64_t signature;
  const void* code;
};

/// What code calls where it does not go on by itself. Positions are those of instructions in the
/// program's code; `top` is where the next frame goes. Each may end the run instead of returning.
struct Helpers {
  /// Does what the loop would at an instruction that neither jumps nor calls, on registers in the
  /// window.
  void (*step)(NativeContext*, uint64_t position, Frame* top);
  /// Gives fuel for more calls.
  uint64_t (*refuel)(NativeContext*, uint64_t position, Frame* top, uint64_t needsRoom);
  /// Ends the run.
  void (*trap)(NativeContext*, uint64_t position, Frame* top, uint64_t trap);
  /// An object of the layout that the instruction names.
  Object* (*make)(NativeContext*, uint64_t position, Frame* top);
  /// Gives up an object that is shared or has fields that go with it; what is left of it, if that
  /// is memory.
  Object* (*open)(NativeContext*, uint64_t position, Object* object, uint64_t keepsMemory);
  /// Memory of so many fields in exchange for that of a dead object.
  Object* (*moved)(NativeContext*, Object* object, uint64_t fields);
  /// Gives up a reference.
  void (*release)(NativeContext*, Object* object);
  /// The code of a closure for calls by a signature that is not its first one.
  const void* (*entryOf)(NativeContext*, uint64_t position, Frame* top, Object* closure,
                         uint64_t signature);
};

struct NativeContext {
  Heap::Front* heap;
  /// Registers of instructions that the machine does, and fields of tuples that calls end with.
  Slot* window;
  Object* const* statics;
  /// By layout.
  const uint16_t* tags;
  const ClosureCode* closures;
  Helpers helpers;
  /// What code does not look at.
  void* runner;
};

inline constexpr size_t contextWords = sizeof(NativeContext) / 8;

} // namespace vm::native

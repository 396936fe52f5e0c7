// Objects of the machine's heap, and slots, which hold a number or a reference to one.
//
// vm/ is the machine that runs bytecode, and what it needs: it ships with compiled programs and
// knows nothing of the language. Start with instructions.def, then program.h, then execute.h.
//
// An object is a header of eight bytes and one slot for each field; which of them are references,
// its layout says. A dead object keeps its layout and uses the count in its header as a link.
#pragma once

#include "runtime/value.h"

#include <cstdint>

namespace vm {

struct Object;

/// A register or field. Scalars lie in the low bytes as they do in a tensor; the rest is open.
union Slot {
  uint64_t word = 0;
  int64_t i64;
  int32_t i32;
  uint8_t u8;
  float f32;
  double f64;
  Object* object;
};
static_assert(sizeof(Slot) == 8);

struct Object {
  uint64_t layout : 16;
  /// Of the collector of cycles: whether it looks at the object now, and whether it is a cell that
  /// may close a cycle.
  uint64_t isReached : 1;
  uint64_t isSuspect : 1;
  uint64_t unused : 1;
  /// References to it; of an object in a list of dead or free ones the address of the next, without
  /// the three bits that are zero in all addresses of objects.
  uint64_t references : 45;

  Slot* fields() { return reinterpret_cast<Slot*>(this + 1); }
  const Slot* fields() const { return reinterpret_cast<const Slot*>(this + 1); }
};
static_assert(sizeof(Object) == 8);

/// The value of the run-time that an object of kind Boxed holds: a tensor, or what a host keeps.
inline runtime::Value& boxed(Object& object) {
  return *reinterpret_cast<runtime::Value*>(object.fields());
}

} // namespace vm

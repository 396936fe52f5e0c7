// Values that are handed in, as objects of the machine. Recursion does not follow data.
#pragma once

#include "runtime/numbering.h"
#include "vm/executable/executable.h"
#include "vm/machine/heap.h"

namespace executable {

/// Why a value is not of a form, or what is wrong with the fields of a constructor in it. What
/// tensors outside of constructors are is not looked at.
std::optional<runtime::Fault> misfitOf(const Executable& made, uint32_t form,
                                       const runtime::Value& value);

/// Makes objects of the values that are handed in to one call. They share nothing with the values
/// but the elements of tensors; what is shared among the values is shared among the objects.
class SlotMaker {
public:
  SlotMaker(const Executable& made, vm::Heap& heap) : made_(made), heap_(heap) {}

  /// The slot of a value of a form; a reference is owned. Throws std::bad_alloc, and then objects
  /// are left behind.
  vm::Slot of(uint32_t form, const runtime::Value& value);

private:
  const Executable& made_;
  vm::Heap& heap_;
  /// What more than one reference leads to, and the object of each.
  runtime::Numbering shared_;
  runtime::List<vm::Object*> objects_;
};

} // namespace executable

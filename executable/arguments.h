// Values that are handed in, as objects of the machine. Recursion does not follow data.
#pragma once

#include "executable/executable.h"
#include "vm/heap.h"

namespace executable {

/// Why a value is not of a form, or what is wrong with the fields of a constructor in it. What
/// tensors outside of constructors are is not looked at.
std::optional<runtime::Fault> misfitOf(const Executable& made, uint32_t form,
                                       const runtime::Value& value);

/// The slot of a value of a form; a reference is owned. It shares nothing with the value but the
/// elements of tensors. Throws std::bad_alloc, and then objects are left behind.
vm::Slot slotOf(const Executable& made, uint32_t form, const runtime::Value& value, vm::Heap& heap);

} // namespace executable

// Slots as the words that they are.
#include "vm/machine/scalar.h"

#include "lower/elements/scalar.h"

namespace vm {

namespace {

Slot slotOf(uint64_t word) {
  Slot slot;
  slot.word = word;
  return slot;
}

} // namespace

bool canApply(runtime::ScalarFunction function, runtime::DType dtype) {
  return lower::canApply(function, dtype);
}

Slot applyScalar(runtime::ScalarFunction function, runtime::DType dtype, Slot a, Slot b, Slot c) {
  return slotOf(lower::applyScalar(function, dtype, a.word, b.word, c.word));
}

bool isWholeZero(runtime::DType dtype, Slot slot) {
  return !dtype.isFloat() && (slot.word & UINT64_MAX >> (64 - dtype.bits)) == 0;
}

Slot convertScalar(runtime::DType from, runtime::DType to, Slot slot) {
  return slotOf(lower::convertScalar(from, to, slot.word));
}

} // namespace vm

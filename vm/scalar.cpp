// What the reference computes, on numbers as they lie in slots.
#include "vm/scalar.h"

#include "runtime/element.h"

namespace vm {

using namespace runtime;

namespace {

const std::byte* bytesOf(const Slot& slot) {
  return reinterpret_cast<const std::byte*>(&slot);
}

Slot slotOf(DType dtype, double real) {
  Slot slot;
  writeFloat(dtype, reinterpret_cast<std::byte*>(&slot), rounded(dtype, real));
  return slot;
}

Slot slotOf(DType dtype, int64_t whole) {
  Slot slot;
  writeWhole(dtype, reinterpret_cast<std::byte*>(&slot), whole);
  return slot;
}

Slot slotOfBool(bool holds) {
  Slot slot;
  slot.word = holds;
  return slot;
}

} // namespace

Slot applyScalar(ScalarFunction function, DType dtype, Slot a, Slot b, Slot c) {
  bool givesBool = scalarFunctionGivesBool(function);
  if (dtype.isFloat()) {
    double x = readFloat(dtype, bytesOf(a)), y = readFloat(dtype, bytesOf(b));
    double value = dtype.bits == 64 ? realFunction(function, dtype, x, y)
                                    : realFunction(function, dtype, float(x), float(y));
    return givesBool ? slotOfBool(value != 0) : slotOf(dtype, value);
  }
  uint64_t value = wholeFunction(function, dtype, readWhole(dtype, bytesOf(a)),
                                 readWhole(dtype, bytesOf(b)), readWhole(dtype, bytesOf(c)));
  DType result = givesBool ? Bool : dtype;
  return slotOf(result, wrap(result, value));
}

bool isWholeZero(DType dtype, Slot slot) {
  return !dtype.isFloat() && readWhole(dtype, bytesOf(slot)) == 0;
}

Slot convertScalar(DType from, DType to, Slot slot) {
  if (from.isFloat()) {
    double real = readFloat(from, bytesOf(slot));
    return to.isBool()    ? slotOfBool(real != 0)
           : to.isFloat() ? slotOf(to, real)
                          : slotOf(to, wholeOf(to, real));
  }
  int64_t whole = readWhole(from, bytesOf(slot));
  return to.isBool()    ? slotOfBool(whole != 0)
         : to.isFloat() ? slotOf(to, floatOf(to, wideOf(from, whole)))
                        : slotOf(to, wrap(to, uint64_t(whole)));
}

} // namespace vm

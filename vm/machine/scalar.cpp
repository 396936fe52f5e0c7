// Whole numbers are computed in 64 bits by what programs use most; else a scalar is a strip of one
// element, and the kernels of lower/ compute it.
#include "vm/machine/scalar.h"

#include "lower/elements/kernels.h"
#include "runtime/scalar_meaning.h"

namespace vm {

using lower::Element;
using runtime::DType;
using runtime::ScalarFunction;

namespace {

const std::byte* bytesOf(const Slot& slot) {
  return reinterpret_cast<const std::byte*>(&slot);
}

Slot run(lower::ApplyKernel kernel, std::span<const std::byte* const> operands) {
  Slot result;
  kernel(reinterpret_cast<std::byte*>(&result), operands.data(), 1);
  return result;
}

Slot convert(Element from, Element to, Slot slot) {
  while (from != to) {
    Element next = lower::castStep(from, to);
    const std::byte* operand = bytesOf(slot);
    slot = run(lower::castKernel(from, next), {&operand, 1});
    from = next;
  }
  return slot;
}

/// The type in which a function is computed: float64 where whole numbers have no loop.
Element elementFor(ScalarFunction function, Element element) {
  Element own = lower::computeElement(function, element);
  return isFloat(own) || lower::applyKernel(function, own) ? own : Element::Float64;
}

/// A whole number in all bits of a slot, and back.
Slot widened(DType dtype, Slot slot) {
  unsigned unused = 64u - dtype.bits;
  slot.word <<= unused;
  if (dtype.isSigned())
    slot.i64 >>= unused;
  else
    slot.word >>= unused;
  return slot;
}
uint64_t narrowed(DType dtype, int64_t number) {
  return uint64_t(number) & UINT64_MAX >> (64u - dtype.bits);
}

/// Whether the function of whole numbers is that of signed ones in 64 bits, cut off: unsigned ones
/// of 64 bits are ordered otherwise.
bool applyWhole(ScalarFunction function, DType dtype, Slot a, Slot b, Slot& result) {
  using enum ScalarFunction;
  if (!dtype.isInteger() || (dtype.bits == 64 && function >= Less && function <= GreaterEqual))
    return false;
  int64_t left = widened(dtype, a).i64, right = widened(dtype, b).i64, number;
  switch (function) {
#define WHOLE(name)                                                                                \
  case name:                                                                                       \
    number = int64_t(runtime::applied<name>(left, right));                                         \
    break;
    WHOLE(Add)
    WHOLE(Subtract)
    WHOLE(Multiply)
    WHOLE(BitAnd)
    WHOLE(BitOr)
    WHOLE(BitXor)
    WHOLE(Equal)
    WHOLE(NotEqual)
    WHOLE(Less)
    WHOLE(LessEqual)
    WHOLE(Greater)
    WHOLE(GreaterEqual)
#undef WHOLE
  default:
    return false;
  }
  result.word =
      runtime::scalarFunctionGivesBool(function) ? uint64_t(number) : narrowed(dtype, number);
  return true;
}

} // namespace

bool canApply(ScalarFunction function, DType dtype) {
  using enum ScalarFunction;
  return function != Select && function != Reinterpret &&
         lower::applyKernel(function, elementFor(function, lower::elementOf(dtype)));
}

Slot applyScalar(ScalarFunction function, DType dtype, Slot a, Slot b, Slot c) {
  if (Slot result; applyWhole(function, dtype, a, b, result))
    return result;
  Element own = lower::elementOf(dtype), element = elementFor(function, own);
  Slot slots[] = {a, b, c};
  const std::byte* operands[3];
  for (size_t i = 0; i < runtime::scalarFunctionArity(function); ++i) {
    slots[i] = convert(own, element, slots[i]);
    operands[i] = bytesOf(slots[i]);
  }
  Slot result = run(lower::applyKernel(function, element), operands);
  return runtime::scalarFunctionGivesBool(function) ? result : convert(element, own, result);
}

bool isWholeZero(DType dtype, Slot slot) {
  return !dtype.isFloat() && (slot.word & UINT64_MAX >> (64 - dtype.bits)) == 0;
}

Slot convertScalar(DType from, DType to, Slot slot) {
  return convert(lower::elementOf(from), lower::elementOf(to), slot);
}

} // namespace vm

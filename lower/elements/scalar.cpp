// Whole numbers are computed in 64 bits by what programs use most; else a scalar is a strip of one
// element, and kernels compute it.
#include "lower/elements/scalar.h"

#include "lower/elements/kernels.h"
#include "runtime/scalar_meaning.h"

namespace lower {

using runtime::DType;
using runtime::ScalarFunction;

namespace {

const std::byte* bytesOf(const uint64_t& word) {
  return reinterpret_cast<const std::byte*>(&word);
}

uint64_t run(ApplyKernel kernel, std::span<const std::byte* const> operands) {
  uint64_t result = 0;
  kernel(reinterpret_cast<std::byte*>(&result), operands.data(), 1);
  return result;
}

uint64_t convert(Element from, Element to, uint64_t word) {
  while (from != to) {
    Element next = castStep(from, to);
    const std::byte* operand = bytesOf(word);
    word = run(castKernel(from, next), {&operand, 1});
    from = next;
  }
  return word;
}

/// The type in which a function is computed: float64 where whole numbers have no loop.
Element elementFor(ScalarFunction function, Element element) {
  Element own = computeElement(function, element);
  return isFloat(own) || applyKernel(function, own) ? own : Element::Float64;
}

/// A whole number in all bits of a word, and back.
int64_t widened(DType dtype, uint64_t word) {
  unsigned unused = 64u - dtype.bits;
  word <<= unused;
  return dtype.isSigned() ? int64_t(word) >> unused : int64_t(word >> unused);
}
uint64_t narrowed(DType dtype, int64_t number) {
  return uint64_t(number) & UINT64_MAX >> (64u - dtype.bits);
}

/// Whether the function of whole numbers is that of signed ones in 64 bits, cut off: unsigned ones
/// of 64 bits are ordered otherwise.
bool applyWhole(ScalarFunction function, DType dtype, uint64_t a, uint64_t b, uint64_t& result) {
  using enum ScalarFunction;
  if (!dtype.isInteger() || (dtype.bits == 64 && function >= Less && function <= GreaterEqual))
    return false;
  int64_t left = widened(dtype, a), right = widened(dtype, b), number;
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
  result = runtime::scalarFunctionGivesBool(function) ? uint64_t(number) : narrowed(dtype, number);
  return true;
}

} // namespace

bool canApply(ScalarFunction function, DType dtype) {
  using enum ScalarFunction;
  return function != Select && function != Reinterpret &&
         applyKernel(function, elementFor(function, elementOf(dtype)));
}

uint64_t applyScalar(ScalarFunction function, DType dtype, uint64_t a, uint64_t b, uint64_t c) {
  if (uint64_t result; applyWhole(function, dtype, a, b, result))
    return result;
  Element own = elementOf(dtype), element = elementFor(function, own);
  uint64_t words[] = {a, b, c};
  const std::byte* operands[3];
  for (size_t i = 0; i < runtime::scalarFunctionArity(function); ++i) {
    words[i] = convert(own, element, words[i]);
    operands[i] = bytesOf(words[i]);
  }
  uint64_t result = run(applyKernel(function, element), operands);
  return runtime::scalarFunctionGivesBool(function) ? result : convert(element, own, result);
}

uint64_t convertScalar(DType from, DType to, uint64_t word) {
  return convert(elementOf(from), elementOf(to), word);
}

} // namespace lower

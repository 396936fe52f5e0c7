// Scalar functions on slots, for those element types and functions that have no instruction.
#pragma once

#include "runtime/scalar_function.h"
#include "vm/machine/object.h"

namespace vm {

/// An element type in 16 bits of an instruction.
inline uint16_t packed(runtime::DType dtype) {
  return uint16_t(uint16_t(dtype.code) << 8 | dtype.bits);
}
inline runtime::DType unpacked(uint16_t bits) {
  return {runtime::DTypeCode(bits >> 8), uint8_t(bits)};
}

/// Whether `applyScalar` can compute the function on scalars of a computable type.
bool canApply(runtime::ScalarFunction function, runtime::DType dtype);
/// The function of scalars of one type, or of a bool where it gives one; not by zero where it
/// divides.
Slot applyScalar(runtime::ScalarFunction function, runtime::DType dtype, Slot a, Slot b, Slot c);
/// Whether the scalar is zero, and no float.
bool isWholeZero(runtime::DType dtype, Slot slot);
Slot convertScalar(runtime::DType from, runtime::DType to, Slot slot);

} // namespace vm

// Scalar functions on single elements, each in the low bytes of a word.
#pragma once

#include "runtime/dtype.h"
#include "runtime/scalar_function.h"

#include <cstdint>

namespace lower {

/// Whether `applyScalar` can compute the function on scalars of a computable type.
bool canApply(runtime::ScalarFunction function, runtime::DType dtype);
/// The function of scalars of one type, or of a bool where it gives one; not by zero where it
/// divides.
uint64_t applyScalar(runtime::ScalarFunction function, runtime::DType dtype, uint64_t a, uint64_t b,
                     uint64_t c);
uint64_t convertScalar(runtime::DType from, runtime::DType to, uint64_t word);

} // namespace lower

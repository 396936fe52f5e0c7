// Whether a tensor function is one, for who did not build it: places in its tables, types of its
// expressions, loops. What only numbers for extents tell is found when a plan is made.
#pragma once

#include "lower/tensor/expression.h"

namespace tensor {

/// What is wrong, or null; `at` is set to the number of what is wrong among sizes and then tensors,
/// or to how many there are. Operands must not be null, and no node its own operand.
const char* problemOf(const TensorFunction& function, size_t* at = nullptr);

} // namespace tensor

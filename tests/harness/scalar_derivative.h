// Derivatives of scalar functions as scalar expressions.
#pragma once

#include "lang/op/compute.h"

namespace harness {

/// The derivative of `function` with respect to operand `i` where it has the value `y`, all of one
/// type of floats but the condition of Select. Nothing where the table gives none.
std::optional<lang::Scalar> scalarDerivative(tensor::ScalarFunction function, size_t i,
                                             std::span<const lang::Scalar> operands,
                                             lang::Scalar y);

} // namespace harness

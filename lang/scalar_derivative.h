// Derivatives of scalar functions as scalar expressions.
#pragma once

#include "lang/compute.h"

namespace lang {

/// The derivative of `function` with respect to operand `i` where it has the value `y`, all of one
/// type of floats but the condition of Select. Nothing where the table gives none.
std::optional<Scalar> scalarDerivative(ScalarFunction function, size_t i,
                                       std::span<const Scalar> operands, Scalar y);

} // namespace lang

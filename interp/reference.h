// The reference engine: tensor functions evaluated as they stand, one element after the other.
//
// A float is computed in float64 and rounded to its type after every function, an integer wraps at
// its width. There is one rule for sums and products: those of floats are added up (multiplied) in
// float64, in the row-major order of the reduced positions, and rounded once at the end; those of
// integers wrap. So a result does not depend on how many other elements there are. Running sums
// and products obey the same rule.
//
// With `digits` decimal digits floats are reals, which nothing rounds to the types of the program;
// the same code computes them. Their values carry them along (runtime::Value::exact), beside
// elements that are rounded. A kernel that only compares and moves elements is given the
// ranks of the reals in their place, and so keeps them; any other one computes in float64.
#pragma once

#include "lower/tensor/engine.h"

#include <string>

namespace interp {

/// In the program's own types when `digits` is 0.
tensor::TensorEngine referenceEngine(unsigned digits = 0);

/// One element in decimal with all its digits, of a value that carries reals; `flat` is its
/// row-major position.
std::string realText(const runtime::Value& value, int64_t flat);

} // namespace interp

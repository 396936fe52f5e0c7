// e^x before 2^n is applied, for functions that need it in another form or with more digits.
#pragma once

#include "codegen/math/float_bits.h"

#include <optional>

namespace codegen::functions {

/// e^x is `power` times 2^n, where n is the whole `exponent`.
struct ExponentialParts {
  MathValue power;
  MathValue exponent;
};

/// Of x + low, where n fits an exponent of twice the range.
ExponentialParts exponentialParts(MathValue x, std::optional<MathValue> low = std::nullopt);

/// e^x where neither it nor 2^n is subnormal or infinite.
MathValue scaledOnce(const ExponentialParts& parts);

/// e^x 2^more, where 2^n may pass the range of floats though the product does not.
MathValue scaled(const ExponentialParts& parts, int more = 0);

} // namespace codegen::functions

// How far programs of scalar functions are off, against reals of many digits and the functions'
// meanings in the C library.
#pragma once

#include "codegen/math/run.h"

#include <array>
#include <optional>

namespace driver {

/// Where a program is off the most.
struct MathError {
  /// In units in the last place of the right value, which are those of the smallest normal number
  /// below it. Infinite where NaN, an infinity, the sign of a zero or a value that is exact is
  /// wrong.
  double units = 0;
  std::array<double, 2> arguments = {};
  double found = 0;
};

struct MathAccuracy {
  size_t points = 0;
  MathError fused;
  MathError unfused;
};

/// Of about `points` arguments; nothing where the function has no program on the type.
std::optional<MathAccuracy> mathAccuracy(runtime::ScalarFunction function, runtime::DType dtype,
                                         size_t points);

} // namespace driver

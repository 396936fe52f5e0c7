// Bounds on data that every part of Baton keeps, so that no input makes it run away.
#pragma once

#include <cstddef>

namespace runtime {

/// The largest rank of a tensor. Work on shapes may be quadratic in it.
inline constexpr size_t mostDimensions = 1024;

} // namespace runtime

// What instructions on numbers compute.
#pragma once

#include <cstdint>

namespace strips {

/// a + b * c, which wraps.
inline int64_t sumOf(int64_t a, int64_t b, int64_t c) {
  return int64_t(uint64_t(a) + uint64_t(b) * uint64_t(c));
}

/// a / b rounded down, 0 where b is not above 0.
inline int64_t quotientOf(int64_t a, int64_t b) {
  if (b <= 0)
    return 0;
  return a / b - (a % b < 0);
}

} // namespace strips

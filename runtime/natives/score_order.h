// Putting detection boxes in order, for the functions that choose among them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <vector>

namespace natives {

/// 0 .. count-1, the highest `score(i)` first; NaN counts as the lowest. Equal ones keep their
/// order.
template <typename Score>
std::vector<int64_t> byScore(int64_t count, Score score) {
  std::vector<int64_t> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  auto rank = [&](int64_t i) {
    double value = score(i);
    return std::isnan(value) ? -INFINITY : value;
  };
  std::ranges::stable_sort(order, std::greater<>(), rank);
  return order;
}

} // namespace natives

// Nearness of names, for "did you mean".
#pragma once

#include <algorithm>
#include <numeric>
#include <string_view>
#include <vector>

namespace lang {

/// How many letters must be changed, added, left out or swapped with their neighbour to turn one
/// name into the other; gives up with `limit + 1` when the lengths alone pass the limit.
inline size_t editDistance(std::string_view from, std::string_view to, size_t limit) {
  size_t difference = from.size() > to.size() ? from.size() - to.size() : to.size() - from.size();
  if (difference > limit)
    return limit + 1;
  std::vector<size_t> before(to.size() + 1), last(to.size() + 1), row(to.size() + 1);
  std::iota(last.begin(), last.end(), size_t(0));
  for (size_t i = 1; i <= from.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= to.size(); ++j) {
      size_t change = last[j - 1] + (from[i - 1] != to[j - 1]);
      row[j] = std::min({change, last[j] + 1, row[j - 1] + 1});
      bool swapped = i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1];
      if (swapped)
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[to.size()];
}

/// The names within a third of `name`'s length of it, nearest first, at most three.
template <typename Names>
std::vector<std::string_view> similarNames(std::string_view name, const Names& names) {
  size_t limit = std::max<size_t>(1, name.size() / 3);
  std::vector<std::pair<size_t, std::string_view>> found;
  for (std::string_view candidate : names) {
    size_t distance = editDistance(name, candidate, limit);
    if (distance <= limit)
      found.emplace_back(distance, candidate);
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string_view> best;
  for (const auto& [distance, candidate] : found)
    if (best.size() < 3)
      best.push_back(candidate);
  return best;
}

} // namespace lang

// Sorting by numbers: of each element a key whose order as an unsigned integer is the order of
// sorting, beside the place that it came from.
//
// The order is total: -0 and 0 are equal, NaN is larger than every number and equal to itself.
// Equal elements have equal keys, also downwards, so a stable sort of keys keeps their order.
#pragma once

#include "runtime/natives/elements.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <vector>

namespace natives {

/// A key of up to 32 bits in a line that has fewer than 2^32 elements.
struct NarrowEntry {
  uint32_t key, place;
};

struct WideEntry {
  uint64_t key, place;
};

/// The integer that is the `isAscending` order of an element.
template <typename T>
auto orderKey(T element, bool isAscending) {
  auto value = wide(element);
  using Key = std::conditional_t<sizeof value == 8, uint64_t, uint32_t>;
  Key key;
  if constexpr (std::is_floating_point_v<decltype(value)>) {
    constexpr Key sign = Key(1) << (8 * sizeof(Key) - 1);
    Key bits = value == 0 ? 0 : std::bit_cast<Key>(value);
    key = std::isnan(value) ? ~Key(0) : bits & sign ? ~bits : bits | sign;
  } else {
    key = Key(value) - Key(std::numeric_limits<decltype(value)>::min());
  }
  return isAscending ? key : ~key;
}

/// What a line of so many elements of a type is sorted as.
template <typename T, typename Visit>
void visitEntryType(size_t length, Visit&& visit) {
  constexpr bool isWide = sizeof(orderKey(T(), true)) == 8;
  if (!isWide && length <= UINT32_MAX)
    visit(NarrowEntry());
  else
    visit(WideEntry());
}

/// Sorts entries by their keys; equal ones keep their order. `scratch` is room to reuse.
void sortEntries(std::vector<NarrowEntry>& entries, std::vector<NarrowEntry>& scratch);
void sortEntries(std::vector<WideEntry>& entries, std::vector<WideEntry>& scratch);

/// Leaves the first `count` entries, of equal keys those of lower places, in no order but that the
/// last of them is the last; there are more, and `count` is not 0.
void keepFirst(std::vector<NarrowEntry>& entries, size_t count);
void keepFirst(std::vector<WideEntry>& entries, size_t count);

/// The first `count` elements of `length` in sorted order, where `keyAt(i)` is the key of one.
template <typename Entry, typename KeyAt>
void sortFirst(size_t length, size_t count, KeyAt&& keyAt, std::vector<Entry>& entries,
               std::vector<Entry>& scratch) {
  using Key = decltype(Entry::key);
  using Place = decltype(Entry::place);
  if (count == 0 || count >= length / 4) {
    entries.resize(length);
    for (size_t i = 0; i < length; ++i)
      entries[i] = {Key(keyAt(i)), Place(i)};
    sortEntries(entries, scratch);
    return entries.resize(count);
  }
  // Of what comes later only that counts which is before the last of the best so far.
  const size_t room = 2 * count + 256;
  Key bound = 0;
  bool isBounded = false;
  entries.clear();
  for (size_t i = 0; i < length; ++i) {
    auto key = Key(keyAt(i));
    if (isBounded && key >= bound)
      continue;
    entries.push_back({key, Place(i)});
    if (entries.size() == room) {
      keepFirst(entries, count);
      bound = entries.back().key;
      isBounded = true;
    }
  }
  if (entries.size() > count)
    keepFirst(entries, count);
  std::ranges::sort(entries, {}, &Entry::place);
  sortEntries(entries, scratch);
}

} // namespace natives

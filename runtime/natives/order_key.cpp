// Keys are sorted byte by byte, the lowest first (radix sort); a byte that all keys share costs
// nothing but its count. Short lines are sorted by insertion.
#include "runtime/natives/order_key.h"

#include <array>
#include <utility>

namespace natives {

namespace {

constexpr size_t shortLine = 48;

template <typename Entry>
void insertInOrder(std::vector<Entry>& entries) {
  for (size_t i = 1; i < entries.size(); ++i) {
    Entry entry = entries[i];
    size_t at = i;
    for (; at > 0 && entry.key < entries[at - 1].key; --at)
      entries[at] = entries[at - 1];
    entries[at] = entry;
  }
}

template <typename Entry>
void sortByBytes(std::vector<Entry>& entries, std::vector<Entry>& scratch) {
  constexpr size_t digits = sizeof(Entry::key);
  std::array<std::array<size_t, 256>, digits> starts = {};
  for (const Entry& entry : entries)
    for (size_t digit = 0; digit < digits; ++digit)
      ++starts[digit][entry.key >> 8 * digit & 255];
  scratch.resize(entries.size());
  for (size_t digit = 0; digit < digits; ++digit) {
    std::array<size_t, 256>& start = starts[digit];
    if (start[entries[0].key >> 8 * digit & 255] == entries.size())
      continue;
    size_t next = 0;
    for (size_t& each : start)
      next += std::exchange(each, next);
    for (const Entry& entry : entries)
      scratch[start[entry.key >> 8 * digit & 255]++] = entry;
    entries.swap(scratch);
  }
}

template <typename Entry>
void sortOf(std::vector<Entry>& entries, std::vector<Entry>& scratch) {
  if (entries.size() <= shortLine)
    insertInOrder(entries);
  else
    sortByBytes(entries, scratch);
}

template <typename Entry>
void keepFirstOf(std::vector<Entry>& entries, size_t count) {
  std::ranges::nth_element(entries, entries.begin() + ptrdiff_t(count) - 1, {},
                           [](const Entry& each) { return std::pair(each.key, each.place); });
  entries.resize(count);
}

} // namespace

void sortEntries(std::vector<NarrowEntry>& entries, std::vector<NarrowEntry>& scratch) {
  sortOf(entries, scratch);
}

void sortEntries(std::vector<WideEntry>& entries, std::vector<WideEntry>& scratch) {
  sortOf(entries, scratch);
}

void keepFirst(std::vector<NarrowEntry>& entries, size_t count) {
  keepFirstOf(entries, count);
}

void keepFirst(std::vector<WideEntry>& entries, size_t count) {
  keepFirstOf(entries, count);
}

} // namespace natives

// Sorting by keys beside the order that elements are compared in, on what is hard: equal elements,
// both zeros, NaN, ends of types, and lengths around which the way of sorting changes.
#include "runtime/natives/order_key.h"
#include "tests/harness/random.h"

#include <catch2/catch.hpp>
#include <numeric>

using namespace natives;

namespace {

template <typename T>
T drawn(harness::Random& random, bool hasMany) {
  uint64_t bits = random.next();
  if (!hasMany)
    return T(Wide<T>(bits % 5) - Wide<T>(bits % 2));
  if constexpr (std::is_floating_point_v<Wide<T>>) {
    constexpr float special[] = {0.0f, -0.0f, INFINITY, -INFINITY, NAN, -NAN, 1e-40f, -1e-40f};
    if (bits % 4 == 0)
      return T(special[bits / 4 % std::size(special)]);
    return T(float(int64_t(bits)) * 1e-12f);
  } else {
    return T(bits >> 7);
  }
}

/// The places of the first elements in the order of comparisons.
template <typename T>
std::vector<size_t> expectedPlaces(const std::vector<T>& line, size_t count, bool isAscending) {
  std::vector<size_t> places(line.size());
  std::iota(places.begin(), places.end(), size_t(0));
  std::ranges::stable_sort(places, [&](size_t left, size_t right) {
    if (!isAscending)
      std::swap(left, right);
    return comesBefore(wide(line[left]), wide(line[right]));
  });
  places.resize(count);
  return places;
}

template <typename T, typename Entry>
std::vector<size_t> placesByKeys(const std::vector<T>& line, size_t count, bool isAscending) {
  std::vector<Entry> entries, scratch;
  std::vector<size_t> places;
  sortFirst(
      line.size(), count, [&](size_t i) { return orderKey(line[i], isAscending); }, entries,
      scratch);
  for (const Entry& entry : entries)
    places.push_back(size_t(entry.place));
  return places;
}

template <typename T>
void checkLines(uint64_t seed) {
  harness::Random random(seed);
  for (size_t length : {0, 1, 2, 47, 48, 49, 300, 3000})
    for (size_t count : {size_t(0), size_t(1), size_t(7), length / 4, length / 2, length})
      for (bool hasMany : {false, true}) {
        if (count > length)
          continue;
        std::vector<T> line;
        for (size_t i = 0; i < length; ++i)
          line.push_back(drawn<T>(random, hasMany));
        for (bool isAscending : {false, true}) {
          auto expected = expectedPlaces(line, count, isAscending);
          CHECK(placesByKeys<T, WideEntry>(line, count, isAscending) == expected);
          visitEntryType<T>(length, [&](auto entry) {
            CHECK(placesByKeys<T, decltype(entry)>(line, count, isAscending) == expected);
          });
        }
      }
}

} // namespace

TEST_CASE("Keys sort as comparisons do") {
  checkLines<int8_t>(1);
  checkLines<uint8_t>(2);
  checkLines<int16_t>(3);
  checkLines<uint16_t>(4);
  checkLines<int32_t>(5);
  checkLines<uint32_t>(6);
  checkLines<int64_t>(7);
  checkLines<uint64_t>(8);
  checkLines<runtime::Half>(9);
  checkLines<runtime::BHalf>(10);
  checkLines<float>(11);
  checkLines<double>(12);
}

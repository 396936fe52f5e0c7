#include "runtime/open_calls.h"

#include <catch2/catch.hpp>

namespace {

std::vector<int> keptOf(int count) {
  runtime::OpenCalls<int, 3> calls;
  for (int i = 0; i < count; ++i)
    calls.add(i);
  CHECK(calls.count() == size_t(count));
  return calls.places();
}

} // namespace

TEST_CASE("of many open calls both ends are kept in order") {
  CHECK(keptOf(0).empty());
  CHECK(keptOf(7) == std::vector{0, 1, 2, 3, 4, 5, 6});
  CHECK(keptOf(8) == std::vector{0, 1, 2, 4, 5, 6, 7});
  CHECK(keptOf(30) == std::vector{0, 1, 2, 26, 27, 28, 29});
}

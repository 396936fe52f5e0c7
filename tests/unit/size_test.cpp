// Sizes: forms, questions about them, and for which other numbers the answers stay.
#include "lower/strips/size.h"

#include <array>
#include <catch2/catch.hpp>
#include <random>

using lower::Size;
using lower::Sizes;
using Numbers = std::vector<int64_t>;

namespace {

/// Asks something of sizes with these numbers, then whether others have the same answers.
template <typename Ask>
auto classOf(const Numbers& numbers, Ask&& ask) {
  auto sizes = std::make_shared<Sizes>(numbers);
  ask(*sizes);
  sizes->close();
  return [sizes](const Numbers& others) { return sizes->renew(others); };
}

} // namespace

TEST_CASE("equal forms are one form", "[sizes]") {
  Sizes sizes(Numbers{5, 7, 3});
  Size n = sizes.parameter(0), m = sizes.parameter(1), k = sizes.parameter(2);
  auto sum = [&](Size a, Size b) { return *sizes.sum(a, b); };
  auto product = [&](Size a, Size b) { return *sizes.product(a, b); };
  CHECK(sum(n, m).form == sum(m, n).form);
  CHECK(sum(n, 2).form != sum(n, 3).form);
  CHECK(product(product(n, m), k).form == product(n, product(k, m)).form);
  CHECK(product(sum(n, 1), m).form == sum(product(m, n), m).form);
  CHECK(product(sum(n, 1), m).number == 42);
  CHECK(sizes.sum(n, n, -1)->isConstant());
  CHECK(sizes.sum(product(n, m), product(m, n), -1)->number == 0);
  CHECK(product(n, 0).isConstant());
  CHECK(product(n, 1).form == n.form);
  CHECK(sizes.conditions() == 3);
}

TEST_CASE("quotients are exact where the form says so", "[sizes]") {
  Sizes sizes(Numbers{5, 7});
  Size n = sizes.parameter(0), m = sizes.parameter(1);
  REQUIRE(sizes.isAtLeast(m, 1));
  Size area = *sizes.product(n, m);
  CHECK(sizes.quotient(area, m).form == n.form);
  CHECK(sizes.rest(area, m).isConstant());
  CHECK(sizes.quotient(*sizes.sum(area, m), m).number == 6);
  CHECK(sizes.quotient(*sizes.product(n, 6), 3).form == sizes.product(n, 2)->form);
  CHECK(sizes.quotient(*sizes.sum(*sizes.product(n, 6), 4), 3).number == 11);
  CHECK(sizes.quotient(n, 2).number == 2);
  CHECK(sizes.rest(n, 2).number == 1);
  CHECK(!sizes.rest(n, 2).isConstant());
  CHECK(sizes.quotient(area, *sizes.sum(n, 1)).number == 5);
  CHECK(sizes.quotient(-5, 3).number == -2);
  CHECK(sizes.rest(-5, 3).number == 1);
}

TEST_CASE("questions that all numbers answer alike note nothing", "[sizes]") {
  Sizes sizes(Numbers{5, 7});
  Size n = sizes.parameter(0), m = sizes.parameter(1);
  size_t before = sizes.conditions();
  Size last = *sizes.sum(n, -1);
  CHECK(sizes.isLess(last, n));
  CHECK(sizes.isSame(n, n));
  CHECK(sizes.isAtLeast(n, 0));
  CHECK(sizes.isAtLeast(*sizes.product(n, m), 0));
  CHECK(sizes.isLess(*sizes.product(n, m), int64_t(1) << 50));
  CHECK(sizes.isLess(n, INT64_MAX));
  CHECK(!sizes.isSame(*sizes.sum(n, 1), 0));
  CHECK(!sizes.isKnownAtLeast(n, m));
  CHECK(!sizes.isKnownAtLeast(n, 1));
  auto open = classOf({5, 7}, [](Sizes& asked) { asked.parameter(0); });
  CHECK(sizes.conditions() == before);
  CHECK(open({0, 0}));
  CHECK(open({1000, 1}));
  CHECK(!open({1000}));
}

TEST_CASE("an answer follows from those before", "[sizes]") {
  Sizes sizes(Numbers{5, 7});
  Size n = sizes.parameter(0), m = sizes.parameter(1);
  CHECK(!sizes.isSame(n, 1));
  CHECK(sizes.isKnownAtLeast(n, 2));
  CHECK(sizes.isAtLeast(m, 3));
  CHECK(sizes.isKnownAtLeast(*sizes.product(n, m), 6));
  CHECK(sizes.isLess(n, m));
  CHECK(sizes.isKnownAtLeast(m, *sizes.sum(n, 1)));
  CHECK(!sizes.isKnownAtLeast(m, *sizes.sum(n, 2)));
}

TEST_CASE("a class has the numbers with the same answers", "[sizes]") {
  auto isOne = classOf({3}, [](Sizes& s) { CHECK(!s.isSame(s.parameter(0), 1)); });
  CHECK(isOne({2}));
  CHECK(isOne({40}));
  CHECK(!isOne({1}));
  CHECK(!isOne({0}));
  auto exact = classOf({3, 4}, [](Sizes& s) { CHECK(s.exact(s.parameter(1)) == 4); });
  CHECK(exact({9, 4}));
  CHECK(!exact({9, 5}));
  auto same = classOf({3, 3}, [](Sizes& s) { CHECK(s.isSame(s.parameter(0), s.parameter(1))); });
  CHECK(same({8, 8}));
  CHECK(!same({8, 7}));
  CHECK(!same({7, 8}));
  auto before = classOf({3, 5}, [](Sizes& s) { CHECK(s.isLess(s.parameter(0), s.parameter(1))); });
  CHECK(before({7, 8}));
  CHECK(!before({8, 8}));
  auto scaled = classOf({5}, [](Sizes& s) {
    CHECK(s.isAtLeast(*s.product(s.parameter(0), 3), 14));
    CHECK(s.isAtLeast(*s.product(s.parameter(0), -3), -20));
    CHECK(!s.isAtLeast(*s.product(s.parameter(0), -2), -9));
  });
  CHECK(scaled({6}));
  CHECK(!scaled({4}));
  CHECK(!scaled({7}));
  auto even = classOf({6}, [](Sizes& s) { CHECK(s.isSame(s.rest(s.parameter(0), 2), 0)); });
  CHECK(even({8}));
  CHECK(!even({7}));
  auto area = classOf(
      {6, 4}, [](Sizes& s) { CHECK(s.isLess(*s.product(s.parameter(0), s.parameter(1)), 100)); });
  CHECK(area({33, 3}));
  CHECK(!area({50, 2}));
}

TEST_CASE("what passes 64 bits is of no class", "[sizes]") {
  constexpr int64_t large = int64_t(1) << 40;
  Sizes sizes(Numbers{large, large});
  CHECK(!sizes.product(sizes.parameter(0), sizes.parameter(1)));
  CHECK(!sizes.sum(sizes.parameter(0), INT64_MAX));
  auto product =
      classOf({4, 4}, [](Sizes& s) { s.use(s.product(s.parameter(0), s.parameter(1))->form); });
  CHECK(product({1000, 1000}));
  CHECK(!product({large, large}));
  auto alone = classOf({4}, [](Sizes& s) { s.setAlone(); });
  CHECK(!alone({4}));
}

TEST_CASE("a form that is too long is a number", "[sizes]") {
  for (size_t count : {20, 40}) {
    Numbers ones(count, 1), twos(count, 2);
    auto sum = classOf(ones, [&](Sizes& s) {
      Size total = 0;
      for (size_t i = 0; i < count; ++i)
        total = *s.sum(total, s.parameter(i));
      CHECK(total.number == int64_t(count));
      CHECK(total.isConstant() == (count > 32));
    });
    CHECK(sum(twos) == (count <= 32));
  }
}

TEST_CASE("numbers in place of others are those of arithmetic", "[sizes]") {
  std::mt19937_64 random(20);
  auto below = [&](uint64_t count) { return int64_t(random() % count); };
  for (int round = 0; round < 300; ++round) {
    // The steps are drawn once and done with sizes and, for other numbers, with new sizes.
    std::array<std::array<int64_t, 4>, 8> steps;
    for (auto& step : steps)
      step = {below(4), below(1000), below(1000), below(5) - 2};
    auto compute = [&](Sizes& sizes) {
      std::vector<Size> values{sizes.parameter(0), sizes.parameter(1), sizes.parameter(2)};
      for (auto [kind, a, b, factor] : steps) {
        Size left = values[size_t(a) % values.size()], right = values[size_t(b) % values.size()];
        auto value = kind == 0                    ? sizes.sum(left, right, factor)
                     : kind == 1                  ? sizes.product(left, right)
                     : !sizes.isAtLeast(right, 1) ? left
                     : kind == 2                  ? sizes.quotient(left, right)
                                                  : sizes.rest(left, right);
        values.push_back(value.value_or(left));
      }
      return values;
    };
    Sizes sizes(Numbers{below(9), below(9), below(9)});
    std::vector<Size> values = compute(sizes);
    for (Size value : values)
      if (!value.isConstant())
        sizes.use(value.form);
    sizes.close();
    for (int i = 0; i < 20; ++i) {
      Numbers others{below(9), below(9), below(9)};
      if (!sizes.renew(others))
        continue;
      Sizes own(others);
      std::vector<Size> wanted = compute(own);
      for (size_t j = 0; j < values.size(); ++j)
        CHECK((values[j].isConstant() ? values[j].number : sizes.valueOf(values[j].form)) ==
              wanted[j].number);
    }
  }
}

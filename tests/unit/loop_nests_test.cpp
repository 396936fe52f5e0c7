// Loop nests of all operators under random schedules and damage: whatever verifies gives what the
// reference gives.
#include "lower/loops/choose.h"
#include "lower/loops/read.h"
#include "lower/loops/rewrite.h"
#include "lower/loops/verify.h"
#include "tests/harness/random_schedule.h"
#include "tests/harness/run_nest.h"
#include "tests/unit/operator_nests.h"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cctype>
#include <cstdlib>
#include <functional>
#include <map>

using harness::Random;
using loops::Nest;

namespace {

std::string disagreement(const NestCase& made, const Nest& changed) {
  harness::NestRun run = harness::runNest(changed, {}, made.inputs);
  return made.disagreement(run.results, run.fault ? &*run.fault : nullptr);
}

} // namespace

TEST_CASE("random schedules never change what a nest gives") {
  std::map<std::string, size_t> applied;
  size_t total = 0;
  forEachNestCase(harness::mixSeed(Catch::rngSeed(), 1), [&](const NestCase& made, Random& random) {
    const auto [nest, steps, schedule] = harness::drawSchedule(made.nest, 24, random);
    for (const loops::Step& step : steps)
      ++applied[step.rewrite];
    total += steps.size();
    INFO(schedule << "of\n" << loops::textOf(made.nest) << "made\n" << loops::textOf(nest));
    CHECK(disagreement(made, nest) == "");
    auto again = loops::nestOf(loops::textOf(nest));
    REQUIRE((again ? "" : again.failure().text) == "");
    CHECK(loops::problemOf(*again) == "");
    CHECK(loops::textOf(*again) == loops::textOf(nest));
  });
  // Nests of operators have no sizes, and few of them multiply bytes (whole_products_test.cpp).
  constexpr std::array<std::string_view, 5> rare{"assume", "bias", "distribute", "keep",
                                                 "round-up"};
  for (const loops::Rewrite& row : loops::rewriteTable()) {
    INFO(row.name);
    CHECK((std::ranges::find(rare, row.name) != rare.end() || applied[std::string(row.name)] > 0));
  }
  INFO(total << " steps applied");
  CHECK(total > 100);
}

TEST_CASE("schedules that are chosen never change what a nest gives") {
  size_t total = 0, inLanes = 0;
  forEachNestCase(harness::mixSeed(Catch::rngSeed(), 4), [&](const NestCase& made, Random&) {
    loops::Scheduled chosen = loops::scheduled(made.nest, {.threads = 4, .pointsOfThread = 10});
    std::string schedule;
    for (const loops::Step& step : chosen.steps)
      schedule += loops::textOf(step) + "\n";
    std::string text = loops::textOf(chosen.nest);
    INFO(schedule << "of\n" << loops::textOf(made.nest) << "made\n" << text);
    CHECK(loops::problemOf(chosen.nest) == "");
    CHECK(disagreement(made, chosen.nest) == "");
    ++total;
    inLanes += text.find("vector ") != std::string::npos;
  });
  CHECK(inLanes > total / 2);
}

TEST_CASE("a nest that was verified is verified again without a new proof") {
  forEachNestCase(harness::mixSeed(Catch::rngSeed(), 5), [&](const NestCase& made, Random&) {
    Nest nest = made.nest;
    CHECK(loops::problemOf(nest) == "");
    size_t answers = nest.table.knowledge().answerCount();
    INFO(loops::textOf(nest));
    CHECK(loops::problemOf(nest) == "");
    CHECK(nest.table.knowledge().answerCount() == answers);
  });
}

TEST_CASE("a product is computed by tiles, with what is read of it on the tile") {
  auto nest = loops::nestOf(
      R"(kernel dense(x: float32[n, 8], w: float32[16, 8]) -> (y: float32[n, 16]) numbers reordered
  alloc t: float32[n, 16]
  for i in n
    for j in 16
      alloc a: float64[]
      a[] = float64(0)
      for r in 8
        a[] += float64(x[i, r] * w[j, r]) over r : 8
      t[i, j] = float32(a[])
  for k in n
    for l in 16
      y[k, l] = maximum(t[k, l], float32(0))
)");
  REQUIRE(nest);
  loops::Scheduled chosen = loops::scheduled(*nest, {.vectorBytes = 32});
  CHECK(
      loops::textOf(chosen.nest) ==
      R"(kernel dense(x: float32[n, 8], w: float32[16, 8]) -> (y: float32[n, 16]) numbers reordered
  size n
  alloc wc: float32[8, 16]
  for rc in 8
    vector j2c in 16
      wc[rc, j2c] = w[j2c, rc]
  for io in n/6
    alloc a: float32[6, 16]
    for ii in 6
      vector j in 16
        a[ii, j] = float32(0)
    for r in 8
      unroll ii1 in 6
        vector j2 in 16
          a[ii1, j2] += x[io*6 + ii1, r] * wc[r, j2] over r : 8
    for ii11 in 6
      vector j21 in 16
        y[io*6 + ii11, j21] = maximum(a[ii11, j21], float32(0))
  for i1 in n % 6
    for j1 in 16
      alloc a1: float32[]
      a1[] = float32(0)
      for r1 in 8
        a1[] += x[i1 + (n/6)*6, r1] * w[j1, r1] over r1 : 8
      y[i1 + (n/6)*6, j1] = maximum(a1[], float32(0))
)");
}

TEST_CASE("maps of short rows are computed as one row, where nothing asks for more") {
  auto nest = loops::nestOf(
      R"(kernel point(x: float32[8, 14, 14], w: float32[6, 8]) -> (y: float32[6, 14, 14]) numbers reordered
  for j in 6
    for k in 14
      for l in 14
        alloc a: float32[]
        a[] = float32(0)
        for r in 8
          a[] += x[r, k, l] * w[j, r] over r : 8
        y[j, k, l] = a[]
)");
  REQUIRE(nest);
  std::string text = loops::textOf(loops::scheduled(*nest, {.vectorBytes = 32}).nest);
  CHECK(text.find("x: float32[8, 196]") != text.npos);
  CHECK(text.find("y: float32[6, 196]") != text.npos);
  CHECK(text.find("14") == text.npos);
}

TEST_CASE("dimensions are not made one where a place may be outside") {
  auto nest = loops::nestOf(
      R"(kernel shifted(x: float32[4, 8]) -> (y: float32[4, 8]) numbers reordered
  for i in 4
    for j in 8
      y[i, j] = x[i, j - 1 else float32(0)]
)");
  REQUIRE(nest);
  CHECK(!loops::rewritten(*nest, {"flatten", {"x", "1"}}));
  CHECK(!loops::rewritten(*nest, {"flatten", {"y", "2"}}));
  CHECK(!loops::rewritten(*nest, {"flatten", {"z", "1"}}));
  auto flat = loops::rewritten(*nest, {"flatten", {"y", "1"}});
  REQUIRE(flat);
  CHECK(loops::textOf(*flat).find("y[i*8 + j] = x[i, j - 1 else float32(0)]") != std::string::npos);
}

TEST_CASE("windows are pooled in lanes, of a copy with what is outside") {
  auto nest = loops::nestOf(
      R"(kernel pool(x: float32[3, 32]) -> (y: float32[3, 32]) numbers reordered
  for i in 3
    for j in 32
      alloc a: float32[]
      a[] = float32(-inf)
      for r in 3
        a[] max= x[i, j + r - 1 else float32(-inf)] over r : 3
      y[i, j] = a[]
)");
  REQUIRE(nest);
  std::string text = loops::textOf(loops::scheduled(*nest, {.vectorBytes = 32}).nest);
  CHECK(text.find("alloc a: float32[32]") != text.npos);
  CHECK(text.find("a[j1] max= xc[r + j1]") != text.npos);
}

TEST_CASE("damaged nests are refused, or give the same") {
  size_t refused = 0, accepted = 0;
  forEachNestCase(harness::mixSeed(Catch::rngSeed(), 2), [&](const NestCase& made, Random& random) {
    for (int i = 0; i < 12; ++i) {
      Nest nest = harness::drawSchedule(made.nest, 3, random).nest;
      harness::damage(nest, random);
      if (!loops::problemOf(nest).empty()) {
        ++refused;
        continue;
      }
      ++accepted;
      INFO(loops::textOf(nest));
      CHECK(disagreement(made, nest) == "");
    }
  });
  CHECK(refused > 100);
  CHECK(accepted > 100);
}

TEST_CASE("damaged texts of nests are read, or refused with a place") {
  size_t refused = 0;
  forEachNestCase(harness::mixSeed(Catch::rngSeed(), 3), [&](const NestCase& made, Random& random) {
    std::string text = loops::textOf(made.nest);
    for (int i = 0; i < 20; ++i) {
      std::string damaged = text;
      size_t at = random.index(damaged.size());
      constexpr std::string_view letters = "()[]:,+-*/%<=>. \nabit09";
      switch (random.integer(0, 2)) {
      case 0:
        damaged.erase(at, size_t(random.integer(1, 9)));
        break;
      case 1:
        damaged.insert(at, 1, letters[random.index(letters.size())]);
        break;
      default:
        damaged.insert(at, text.substr(random.index(text.size()), size_t(random.integer(1, 30))));
      }
      auto nest = loops::nestOf(damaged);
      if (nest) {
        loops::problemOf(*nest);
        continue;
      }
      ++refused;
      CHECK(std::isdigit(static_cast<unsigned char>(nest.failure().text[0])));
    }
  });
  CHECK(refused > 100);
}

TEST_CASE("a sum so far goes on from elements that are made") {
  auto nest = loops::nestOf(R"(kernel sums(x: float32[8]) -> (y: float32[8]) numbers reordered
  for i in 4
    y[i] = y[i - 1 else float32(0)] + x[i]
    y[i + 4] = y[i + 3] + x[i + 4]
)");
  REQUIRE(nest);
  CHECK(loops::problemOf(*nest) == "`y` reads itself at elements that are not made by then");
  nest = loops::nestOf(R"(kernel sums(x: float32[8]) -> (y: float32[8]) numbers reordered
  for i in 4
    y[i] = y[i - 1 else float32(0)] + x[i]
  for j in 4
    y[j + 4] = y[j + 3] + x[j + 4]
)");
  REQUIRE(nest);
  CHECK(loops::problemOf(*nest) == "");
}

TEST_CASE("what goes on from elements stands behind those that make them") {
  auto nest = loops::nestOf("kernel sums(x: int32[4]) -> (y: int32[4]) numbers reordered\n"
                            "  for j in 2\n    y[j + 2] = y[j + 1] + x[j + 1]\n"
                            "  for i in 2\n    y[i] = y[i - 1 else int32(0)] + x[i]\n");
  REQUIRE(nest);
  CHECK(loops::problemOf(*nest) == "`y` reads itself at elements that are not made by then");
}

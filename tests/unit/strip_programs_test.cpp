// Strip programs of all operators give what the reference gives, whatever was done to the nest
// before.
#include "lower/loops/choose.h"
#include "lower/loops/rewrite.h"
#include "tests/harness/random_schedule.h"
#include "tests/harness/run_strips.h"
#include "tests/harness/shared_work.h"
#include "tests/unit/operator_nests.h"

#include <catch2/catch.hpp>

using harness::Random;
using loops::Nest;

namespace {

void checkStrips(const NestCase& made, const Nest& nest) {
  INFO(loops::textOf(nest));
  harness::NestRun run = harness::runStrips(nest, {}, made.inputs);
  CHECK(made.disagreement(run.results, run.fault ? &*run.fault : nullptr) == "");
}

} // namespace

TEST_CASE("strip programs give what the reference gives") {
  size_t total = 0;
  forEachNestCase(harness::mixSeed(Catch::rngSeed(), 7), [&](const NestCase& made, Random&) {
    checkStrips(made, made.nest);
    ++total;
  });
  CHECK(total > 100);
}

TEST_CASE("strip programs of chosen schedules give what the reference gives") {
  harness::SharedWork shared;
  forEachNestCase(harness::mixSeed(Catch::rngSeed(), 8), [&](const NestCase& made, Random&) {
    checkStrips(made, loops::scheduled(made.nest, {.threads = 4, .pointsOfThread = 10}).nest);
  });
}

TEST_CASE("strip programs of random schedules give what the reference gives") {
  forEachNestCase(harness::mixSeed(Catch::rngSeed(), 9), [&](const NestCase& made, Random& random) {
    Nest nest = made.nest;
    for (int i = 0; i < 24; ++i)
      if (auto next = loops::rewritten(nest, harness::drawStep(nest, random)))
        nest = *std::move(next);
    checkStrips(made, nest);
  });
}

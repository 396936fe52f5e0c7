// Strip programs of all operators give what the reference gives, whatever was done to the nest
// before.
#include "codegen/strips/compile/compile.h"
#include "lower/loops/choose.h"
#include "lower/loops/read.h"
#include "lower/loops/rewrite.h"
#include "tests/harness/random_schedule.h"
#include "tests/harness/run_strips.h"
#include "tests/harness/shared_work.h"
#include "tests/unit/operator_nests.h"

#include <catch2/catch.hpp>

#include <algorithm>

using harness::Random;
using loops::Nest;

namespace {

void checkStrips(const NestCase& made, const Nest& nest) {
  INFO(loops::textOf(nest));
  harness::NestRun run = harness::runStrips(nest, {}, made.inputs);
  CHECK(made.disagreement(run.results, run.fault ? &*run.fault : nullptr) == "");
}

using strips::Code;

strips::Program programOfText(std::string_view text) {
  auto nest = loops::nestOf(text);
  REQUIRE(nest);
  auto program = strips::programOf(*nest);
  REQUIRE(program);
  return *std::move(program);
}

/// How many instructions of a program are one of these.
size_t countOf(const strips::Program& program, std::initializer_list<Code> codes) {
  size_t count = 0;
  for (const strips::Instruction& at : program.code)
    count += size_t(std::ranges::count(codes, at.code));
  return count;
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
    checkStrips(made, harness::drawSchedule(made.nest, 24, random).nest);
  });
}

TEST_CASE("strip programs of few elements have no loops and no arithmetic") {
  strips::Program program = programOfText(
      R"(kernel add(x: float32[2, 4], y: float32[2, 4]) -> (z: float32[2, 4]) numbers reordered
  for i in 2
    for j in 4
      z[i, j] = x[i, j] + y[i, j]
)");
  CHECK(program.code.size() == 5);
  CHECK(countOf(program, {Code::Row, Code::Apply, Code::Stop}) == 5);
}

TEST_CASE("strip programs look no further where positions are clamped") {
  strips::Program program = programOfText(
      R"(kernel take(x: float32[1000, 256], y: int64[50]) -> (z: float32[50, 256]) numbers reordered
  for i in 50
    for j in 256
      z[i, j] = x[check at(minimum(maximum(y[i], int64(0)), int64(999))), j]
)");
  CHECK(countOf(program, {Code::Check, Code::Outside}) == 0);
  // The row is put where it is stored.
  CHECK(countOf(program, {Code::Store}) == 0);
}

TEST_CASE("strip programs read rows where loops are divided") {
  strips::Program program =
      programOfText(R"(kernel tile(x: float32[128, 128]) -> (y: float32[512, 512]) numbers reordered
  for i in 512
    for j in 512
      y[i, j] = x[i % 128, j % 128]
)");
  CHECK(countOf(program, {Code::Load, Code::Position, Code::Quotient}) == 0);
}

TEST_CASE("strip programs take sums of products of whole numbers for contractions") {
  strips::Program program = programOfText(
      R"(kernel dense(x: int8[32, 64], y: int8[48, 64]) -> (z: int32[32, 48]) numbers reordered
  for i in 32
    for j in 48
      alloc a0: int64[]
      a0[] = int64(0)
      for r in 64
        a0[] += int64(int32(x[i, r]) * int32(y[j, r])) over r : 64
      z[i, j] = int32(a0[])
)");
  REQUIRE(program.contractions.size() == 1);
  CHECK(program.contractions[0].panel == lower::Element::Int32);
}

TEST_CASE("strip programs bound only what may be outside") {
  strips::Program program = programOfText(
      R"(kernel pad(x: float32[4, 8, 30, 30]) -> (y: float32[4, 8, 32, 32]) numbers reordered
  for n in 4
    for c in 8
      for i in 32
        for j in 32
          y[n, c, i, j] = x[n, c, i - 1, j - 1 else float32(0)]
)");
  REQUIRE(program.accesses.size() == 1);
  CHECK(program.accesses[0].placeCount == 2);
  CHECK(countOf(program, {Code::Loop}) == 2);
}

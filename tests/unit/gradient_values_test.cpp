// Every gradient rule against difference quotients of its operator, and what becomes of it when it
// is differentiated again against those of the rule: see tests/harness/gradient_check.h.
//
// BATON_GRADIENT_CALLS in the environment asks for as many comparisons in all, and `--rng-seed` for
// other ones; with `-s` each row tells how many there were.
#include "stdlib/ops.h"
#include "tests/harness/gradient_check.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <fmt/format.h>

using namespace lang;

namespace {

/// Fewest comparisons that a row must have; a row that needs more tries has more.
constexpr size_t leastCompared = 6;
constexpr size_t mostElements = 300;

size_t wantedCalls() {
  const char* text = std::getenv("BATON_GRADIENT_CALLS");
  return text ? std::strtoul(text, nullptr, 10) : 0;
}

bool isSmall(const harness::OperatorSample& sample) {
  size_t count = 0;
  auto add = [&](const Type* part) {
    size_t elements = 1;
    for (const Dim* dim : part->shape)
      elements *= dim->isConstant() ? size_t(dim->value) : 1;
    count += part->isTensor() ? elements : 0;
    return false;
  };
  for (const Type* operand : sample.operands)
    harness::anyPart(operand, add);
  harness::anyPart(sample.output, add);
  return count <= mostElements;
}

struct Tally {
  size_t compared = 0, named = 0, kinks = 0, tried = 0;
  std::vector<std::string> problems = {};
};

using Compare = harness::GradientVerdict(TypeContext&, const harness::OperatorSample&,
                                         harness::Random&, bool isNamed);

/// Compares calls of one row in turn until there are enough, or too many were tried.
Tally compareRow(Compare& compare, TypeContext& types,
                 const std::vector<const harness::OperatorSample*>& samples, uint64_t seed,
                 size_t wanted) {
  Tally tally;
  harness::Random random(seed);
  for (size_t round = 0; tally.tried < wanted * 40 && tally.compared < wanted; ++round) {
    size_t triedBefore = tally.tried;
    for (const harness::OperatorSample* sample : samples) {
      if (tally.compared >= wanted ||
          !harness::isDifferentiable(*sample->row, sample->operands, sample->output))
        continue;
      ++tally.tried;
      harness::GradientVerdict verdict = compare(types, *sample, random, false);
      tally.compared += verdict.isCompared;
      tally.kinks += verdict.isKink;
      if (!verdict.problem.empty() && tally.problems.size() < 4)
        tally.problems.push_back(harness::callText(*sample) + ": " + verdict.problem);
      if (tally.named > 0 && random.chance(70))
        continue;
      harness::GradientVerdict named = compare(types, *sample, random, true);
      tally.named += named.isCompared;
      if (!named.problem.empty() && tally.problems.size() < 4)
        tally.problems.push_back(harness::callText(*sample) + ", over names: " + named.problem);
    }
    if (tally.tried == triedBefore)
      break;
  }
  return tally;
}

/// Compares calls of all rows, and demands some of each.
void compareRows(Compare& compare, size_t least) {
  TypeContext types;
  harness::Reader reader(types);
  harness::SamplePool pool;
  uint64_t seed = harness::mixSeed(21, Catch::rngSeed());
  harness::fillSamples(pool, reader, seed, {.perRow = wantedCalls() ? size_t(200) : size_t(40)});
  size_t rules =
      size_t(std::ranges::count_if(stdlib::operatorTable().all(), [](const OperatorRow* row) {
        return harness::gradientRule(*row) != nullptr;
      }));
  size_t wanted = std::max(wantedCalls() / rules, least * 3);
  for (size_t i = 0; i < pool.byRow.size(); ++i) {
    const OperatorRow& row = *stdlib::operatorTable().all()[i];
    // What ends the run gives no value to compare.
    if (!harness::gradientRule(row) || row.role == lang::Role::Fail)
      continue;
    auto samples = pool.byRow[i];
    std::erase_if(samples, [](const harness::OperatorSample* sample) { return !isSmall(*sample); });
    Tally tally = compareRow(compare, types, samples, harness::mixSeed(seed, row.name), wanted);
    INFO(row.name << ": " << tally.compared << " compared of " << tally.tried << ", of which "
                  << tally.kinks << " at kinks, and " << tally.named << " over names");
    CAPTURE(tally.problems);
    CHECK(tally.problems.empty());
    CHECK(tally.compared >= least);
    CHECK(tally.named >= 1);
  }
}

} // namespace

TEST_CASE("gradient rules agree with difference quotients") {
  compareRows(harness::compareGradient, leastCompared);
}

TEST_CASE("gradient rules that are differentiated agree with difference quotients of them") {
  compareRows(harness::compareSecondGradient, leastCompared);
}

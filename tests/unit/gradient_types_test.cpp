// Every gradient rule as a function that the verifier and the checker take: over numbers, over
// named sizes, and with extents that are not known.
#include "stdlib/ops.h"
#include "tests/harness/gradient_check.h"
#include "tests/harness/naming.h"

#include <catch2/catch.hpp>

using namespace lang;

namespace {

/// Fewest calls of each kind that a row must have; some rows have few samples.
constexpr size_t leastChecked = 1;

/// The call with other operand types, or those that the relation asks for in their place.
std::optional<harness::OperatorSample> withOperands(TypeContext& types,
                                                    const harness::OperatorSample& sample,
                                                    std::vector<const Type*> operands) {
  RelationResult answer = harness::relateAdopting(*sample.row, types, operands, sample.attributes);
  if (answer.outcome != RelationResult::Outcome::Solved)
    return std::nullopt;
  harness::OperatorSample changed = sample;
  changed.operands = std::move(operands);
  changed.output = answer.output;
  return changed;
}

std::vector<const Type*> opened(TypeContext& types, Types operands, harness::Random& random) {
  std::vector<const Type*> result;
  for (const Type* operand : operands)
    result.push_back(harness::changeDims(
        types, operand, [&](const Dim* dim) { return random.chance(40) ? types.any() : dim; }));
  return result;
}

struct Tally {
  size_t numbers = 0, names = 0, open = 0;
  std::vector<std::string> problems = {};

  void check(TypeContext& types, const harness::OperatorSample& sample, size_t& count) {
    if (!harness::isDifferentiable(*sample.row, sample.operands, sample.output))
      return;
    ++count;
    std::string problem = harness::gradientTypeProblem(types, *sample.row, sample.operands,
                                                       sample.output, sample.attributes);
    if (!problem.empty() && problems.size() < 4)
      problems.push_back(harness::callText(sample) + ": " + problem);
  }
};

} // namespace

TEST_CASE("gradient rules have the types of their operands") {
  TypeContext types;
  harness::Reader reader(types);
  harness::SamplePool pool;
  uint64_t seed = harness::mixSeed(22, Catch::rngSeed());
  harness::fillSamples(pool, reader, seed, {.perRow = 40});
  for (size_t i = 0; i < pool.byRow.size(); ++i) {
    const OperatorRow& row = *stdlib::operatorTable().all()[i];
    // What ends the run is asked of no operands.
    if (!harness::gradientRule(row) || row.role == lang::Role::Fail)
      continue;
    Tally tally;
    harness::Random random(harness::mixSeed(seed, row.name));
    for (const harness::OperatorSample* sample : pool.byRow[i]) {
      tally.check(types, *sample, tally.numbers);
      // Some rows want operands that fit each other so well that few named ones do.
      for (int round = 0; round < 3 || (round < 60 && tally.names < leastChecked); ++round) {
        harness::Naming naming(types, random);
        if (auto named = withOperands(types, *sample, naming.name(sample->operands)))
          tally.check(types, *named, tally.names);
        if (auto open = withOperands(types, *sample, opened(types, sample->operands, random)))
          tally.check(types, *open, tally.open);
      }
    }
    INFO(row.name << ": " << tally.numbers << " calls over numbers, " << tally.names
                  << " over names, " << tally.open << " with `?`");
    CAPTURE(tally.problems);
    CHECK(tally.problems.empty());
    CHECK(tally.numbers >= leastChecked);
    CHECK(tally.names >= leastChecked);
  }
}

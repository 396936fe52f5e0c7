// Random operand types, attributes and data for every operator: a relation must answer, never
// crash, and where it accepts, the result must have the shape that it promised, be the same in
// every run, and be what the reference makes of the tensor expression.
#include "lower/loops/read.h"
#include "lower/loops/verify.h"
#include "stdlib/ops.h"
#include "tests/harness/agreement.h"
#include "tests/harness/draw.h"
#include "tests/harness/in_place.h"
#include "tests/harness/operand_data.h"
#include "tests/harness/run_nest.h"
#include "tests/harness/run_operator.h"
#include "tests/harness/samples.h"

#include <catch2/catch.hpp>
#include <set>

using namespace lang;
using harness::Data;
using runtime::Tensor;

namespace {

/// An accepted call with its data, and its result type.
struct Accepted {
  const OperatorRow& row;
  const RelationCall& call;
  const Type* output;
  std::span<const Tensor> leaves;
};

void compareWithReference(const Accepted& accepted, const harness::OperatorRun& run) {
  auto function = harness::operatorFunction(accepted.row, accepted.call, accepted.output);
  if (!function)
    return;
  std::vector<runtime::Value> inputs, results;
  for (const Tensor& leaf : accepted.leaves)
    inputs.push_back(runtime::tensorValue(leaf));
  for (const Tensor& tensor : run.results)
    results.push_back(runtime::tensorValue(tensor));
  runtime::Fault fault{runtime::FaultKind::Data, run.problem};
  CHECK(harness::disagreement(std::move(*function), inputs, results,
                              run.problem.empty() ? nullptr : &fault) == "");
}

/// The nest of the call verifies, reads back, and gives what the reference gives.
void compareNest(const Accepted& accepted) {
  auto function = harness::operatorFunction(accepted.row, accepted.call, accepted.output);
  if (!function)
    return;
  std::vector<runtime::Value> inputs;
  for (const Tensor& leaf : accepted.leaves)
    inputs.push_back(runtime::tensorValue(leaf));
  INFO(accepted.row.name << "\n" << tensor::tensorFunctionText(*function));
  auto nest = harness::closedNest(*function);
  if (!nest) {
    CHECK(nest.failure().text == "a sum that may fail is needed for some elements alone");
    return;
  }
  std::string text = loops::textOf(*nest);
  INFO(text);
  REQUIRE(loops::problemOf(*nest) == "");
  auto again = loops::nestOf(text);
  REQUIRE((again ? loops::textOf(*again) : again.failure().text) == text);
  CHECK(loops::problemOf(*again) == "");
  harness::NestRun run = harness::runNest(*again, {}, inputs);
  CHECK(harness::disagreement(std::move(*function), inputs, run.results,
                              run.fault ? &*run.fault : nullptr) == "");
}

void demandSame(const harness::OperatorRun& first, const harness::OperatorRun& second) {
  CHECK(first.problem == second.problem);
  REQUIRE(first.results.size() == second.results.size());
  for (size_t i = 0; i < first.results.size(); ++i) {
    const Tensor &a = first.results[i], &b = second.results[i];
    REQUIRE(a.shape() == b.shape());
    CHECK(std::memcmp(a.bytes(), b.bytes(), a.byteSize()) == 0);
  }
}

/// Runs an accepted call; true when it gave a value.
bool runAccepted(const Accepted& accepted) {
  const auto& [row, call, output, leaves] = accepted;
  std::vector<const Type*> promised;
  bool isSmall = harness::appendLeafTypes(output, promised);
  auto run = harness::runOperator(row, call, output, leaves);
  if (!run)
    return false;
  // Once more, in the memory of the operands where that is possible.
  size_t replaced = 0;
  demandSame(*run,
             *harness::runOperator(row, call, output, leaves, harness::inPlaceLoops(replaced)));
  compareWithReference(accepted, *run);
  compareNest(accepted);
  if (!run->problem.empty() || !isSmall)
    return run->problem.empty();
  REQUIRE(run->results.size() == promised.size());
  for (size_t i = 0; i < promised.size(); ++i) {
    CHECK(run->results[i].shape() == lang::shapeOf(promised[i]));
    CHECK(runtime::dtypeName(run->results[i].dtype()) == runtime::dtypeName(promised[i]->dtype));
  }
  return true;
}

std::string callText(Types operands, std::span<const AttributeValue> attributes) {
  std::string text = "(";
  for (const Type* operand : operands)
    text += typeText(operand) + ", ";
  for (const AttributeValue& value : attributes)
    text += harness::attributeText(value) + ", ";
  return text + ")";
}

/// Asks the relation about a call with this data and runs what it accepts as it stands; true when
/// there was a value.
bool askAndRun(TypeContext& types, const OperatorRow& row, Types operands,
               const Attributes& attributes, std::span<const Tensor> leaves) {
  std::vector<const Tensor*> values(operands.size());
  for (size_t i = 0, leaf = 0; i < operands.size(); ++i) {
    if (operands[i]->isTensor() && row.shapeNeeds != ShapeNeeds::Shapes)
      values[i] = &leaves[leaf];
    leaf += operands[i]->isTuple() ? operands[i]->parts.size() : 1;
  }
  RelationCall call{types, operands, attributes, values};
  RelationResult result = applyRelation(row, call);
  if (result.outcome != RelationResult::Outcome::Solved) {
    CHECK((result.outcome == RelationResult::Outcome::Waiting || !result.problem.empty()));
    return false;
  }
  REQUIRE(result.output != nullptr);
  for (const auto& [index, type] : result.operands)
    if (type != operands[index])
      return false;
  return runAccepted({row, call, result.output, leaves});
}

/// Runs calls on data of every kind; whether one of them gave something, not of zeros alone.
bool runOnAllData(TypeContext& types, std::span<const harness::OperatorSample* const> samples,
                  uint64_t round) {
  bool hasRun = false;
  for (size_t i = 0; i < samples.size(); ++i) {
    const harness::OperatorSample* sample = samples[i];
    INFO(sample->row->name << callText(sample->operands, sample->attributes.values));
    for (Data data : harness::allData) {
      INFO("data " << int(data));
      harness::Random random(harness::mixSeed(uint64_t(data), round * samples.size() + i));
      auto leaves = harness::operandLeaves(sample->operands, data, random);
      bool gives = askAndRun(types, *sample->row, sample->operands, sample->attributes, leaves);
      hasRun |= gives && (data != Data::Zeros || leaves.empty());
    }
  }
  return hasRun;
}

} // namespace

TEST_CASE("relations answer every question, and keep their promises") {
  const OperatorTable& table = stdlib::operatorTable();
  TypeContext types;
  for (const OperatorRow* row : table.all()) {
    INFO(row->name);
    uint64_t seed = harness::mixSeed(1, row->name);
    for (uint64_t round = 0; round < 150; ++round) {
      INFO("round " << round);
      Arena arena;
      harness::Random random(harness::mixSeed(seed, round));
      harness::OperatorDraw draw(types, random);
      std::vector<const Type*> operands;
      for (const OperandRow& operand : row->operands)
        operands.push_back(draw.operand(operand));
      std::vector<AttributeValue> attributeValues;
      auto defaults = table.defaults(row);
      for (size_t i = 0; i < defaults.size(); ++i)
        attributeValues.push_back(draw.attribute(arena, row->attributes[i], defaults[i]));
      Data data = random.pick(std::span(harness::allData));
      INFO(callText(operands, attributeValues) << ", data " << int(data));
      askAndRun(types, *row, operands, {row->attributes, attributeValues},
                harness::operandLeaves(operands, data, random));
    }
  }
}

TEST_CASE("calls give what their tensor expressions say, for data of every kind") {
  TypeContext types;
  harness::Reader reader(types);
  harness::SamplePool pool;
  harness::fillSamples(pool, reader, 8, {.perRow = 12});
  std::set<std::string_view> neverRun;
  for (size_t at = 0; at < pool.byRow.size(); ++at) {
    const auto& samples = pool.byRow[at];
    const OperatorRow& row = *stdlib::operatorTable().all()[at];
    if (!harness::takesData(row))
      continue;
    INFO(row.name);
    REQUIRE(!samples.empty());
    bool hasRun = runOnAllData(types, samples, 0);
    // Some operators want data that fits their shapes so well that little of what is drawn does.
    for (uint64_t round = 1; !hasRun && round < 20; ++round)
      hasRun = runOnAllData(types, samples, round);
    if (!hasRun)
      neverRun.insert(samples[0]->row->name);
  }
  CHECK(neverRun == std::set<std::string_view>{});
}

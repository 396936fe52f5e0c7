// Random operand types, attributes and data for every operator: a relation must answer, never
// crash, and where it accepts, the result must have the shape that it promised, be the same in
// every run, and be what the naive interpreter makes of the tensor expression.
//
// How near floats must be: with data of a few bits nearly every sum and product is exact, so what
// is left are the roundings of quotients and of functions such as exp, each relative to the
// operand that it has at hand. An expression has a few of them in a row, and none of the operators
// amplifies an error beyond the largest number that occurs in a stage of it. So results may differ
// by 64 units in the last place of that number.
#include "harness/draw.h"
#include "harness/operand_data.h"
#include "harness/run_operator.h"
#include "harness/samples.h"
#include "stdlib/ops.h"
#include "tests/unit/tensor_eval_oracle.h"

#include <catch2/catch.hpp>
#include <set>

using namespace lang;
using harness::Data;
using runtime::Tensor;

namespace {

constexpr double unitsAllowed = 64;

/// An accepted call with its data, and its result type.
struct Accepted {
  const OperatorRow& row;
  const RelationCall& call;
  const Type* output;
  std::span<const Tensor> leaves;
};

double largestNumber(const std::vector<oracle::Cells>& tensors) {
  double largest = 0;
  for (const oracle::Cells& tensor : tensors)
    for (const oracle::Cell& cell : tensor.cells)
      if (std::isfinite(cell.real))
        largest = std::max(largest, std::fabs(cell.real));
  return largest;
}

/// The most that a float result may differ where the numbers of its computation are that large.
double allowance(runtime::DType dtype, double largest) {
  bool isBrain = dtype.code == runtime::DTypeCode::BFloat;
  int digits = dtype.bits == 64 ? 53 : dtype.bits == 32 ? 24 : isBrain ? 8 : 11;
  return unitsAllowed * std::ldexp(largest, -digits);
}

bool isNear(const oracle::Cell& a, const oracle::Cell& b, double allowed) {
  if (a.whole != b.whole)
    return false;
  if (std::isfinite(a.real) && std::isfinite(b.real))
    return std::fabs(a.real - b.real) <= allowed;
  return std::isnan(a.real) ? std::isnan(b.real) : a.real == b.real;
}

void compareWithNaive(const Accepted& accepted, const harness::OperatorRun& run) {
  auto function =
      harness::operatorFunction(accepted.row, accepted.call, accepted.output, accepted.leaves);
  if (!function)
    return;
  size_t resultCount = function->results.size();
  for (uint32_t i = 0; i < function->tensors.size(); ++i)
    function->results.push_back(i);
  std::vector<oracle::Cells> inputs, expected;
  for (const Tensor& leaf : accepted.leaves)
    inputs.push_back(oracle::read(leaf));
  try {
    expected = oracle::Machine(*function).run(std::move(inputs));
  } catch (const oracle::OracleFault&) {
    // A stage may be at fault for elements that no result asks for.
    bool isEmpty = std::ranges::all_of(run.results, [](const Tensor& t) { return t.size() == 0; });
    CHECK((!run.problem.empty() || isEmpty));
    return;
  }
  CHECK(run.problem == "");
  if (!run.problem.empty())
    return;
  double largest = largestNumber(expected);
  for (size_t i = 0; i < resultCount; ++i) {
    oracle::Cells found = oracle::read(run.results[i]);
    double allowed = allowance(found.dtype, largest);
    for (size_t j = 0; j < found.cells.size(); ++j) {
      const oracle::Cell &a = found.cells[j], &b = expected[i].cells[j];
      if (isNear(a, b, allowed))
        continue;
      INFO("result " << i << " element " << j << ": " << a.real << " " << int64_t(a.whole)
                     << " and naively " << b.real << " " << int64_t(b.whole) << " allowed "
                     << allowed << " of " << largest);
      CHECK(false);
      break;
    }
  }
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
  demandSame(*run, *harness::runOperator(row, call, output, leaves));
  compareWithNaive(accepted, *run);
  if (!run->problem.empty() || !isSmall)
    return run->problem.empty();
  REQUIRE(run->results.size() == promised.size());
  for (size_t i = 0; i < promised.size(); ++i) {
    CHECK(run->results[i].shape() == harness::shapeOf(promised[i]));
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

} // namespace

TEST_CASE("relations answer every question, and keep their promises") {
  const OperatorTable& table = stdlib::operatorTable();
  TypeContext types;
  uint64_t number = 0;
  for (const OperatorRow* row : table.all()) {
    INFO(row->name);
    ++number;
    for (uint64_t round = 0; round < 150; ++round) {
      INFO("round " << round);
      Arena arena;
      harness::Random random(harness::mixSeed(number, round));
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
  harness::fillSamples(pool, reader, 7, {.perRow = 12});
  std::set<std::string_view> neverRun;
  for (const auto& samples : pool.byRow) {
    REQUIRE(!samples.empty());
    bool hasRun = false;
    for (size_t i = 0; i < samples.size(); ++i) {
      const harness::OperatorSample* sample = samples[i];
      INFO(sample->row->name << callText(sample->operands, sample->attributes.values));
      for (Data data : harness::allData) {
        INFO("data " << int(data));
        harness::Random random(harness::mixSeed(uint64_t(data), i));
        auto leaves = harness::operandLeaves(sample->operands, data, random);
        bool gives = askAndRun(types, *sample->row, sample->operands, sample->attributes, leaves);
        hasRun |= gives && (data != Data::Zeros || leaves.empty());
      }
    }
    if (!hasRun)
      neverRun.insert(samples[0]->row->name);
  }
  CHECK(neverRun == std::set<std::string_view>{});
}

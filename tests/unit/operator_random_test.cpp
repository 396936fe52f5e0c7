// Random operand types and attributes for every operator: a relation must answer, never crash, and
// where it accepts, the result must have the shape that it promised.
#include "harness/draw.h"
#include "harness/run_operator.h"
#include "stdlib/ops.h"

#include <catch2/catch.hpp>

using namespace lang;

namespace {

/// Runs an accepted call on zeros; what comes out must have the promised types.
void runAccepted(const OperatorRow& row, const RelationCall& call, const Type* output,
                 std::span<const runtime::Tensor> leaves) {
  std::vector<const Type*> promised;
  bool isSmall = harness::appendLeafTypes(output, promised);
  auto run = harness::runOperator(row, call, output, leaves);
  if (!run || !run->problem.empty() || !isSmall)
    return;
  REQUIRE(run->results.size() == promised.size());
  for (size_t i = 0; i < promised.size(); ++i) {
    CHECK(run->results[i].shape() == harness::shapeOf(promised[i]));
    CHECK(runtime::dtypeName(run->results[i].dtype()) == runtime::dtypeName(promised[i]->dtype));
  }
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
      Attributes attributes{row->attributes, attributeValues};
      std::vector<runtime::Tensor> leaves = harness::zeroLeaves(operands);
      std::vector<const runtime::Tensor*> values(operands.size());
      for (size_t i = 0, leaf = 0; i < operands.size(); ++i) {
        if (operands[i]->isTensor() && row->shapeNeeds != ShapeNeeds::Shapes)
          values[i] = &leaves[leaf];
        leaf += operands[i]->isTuple() ? operands[i]->parts.size() : 1;
      }
      RelationCall call{types, operands, attributes, values};
      INFO("round " << round);
      RelationResult result = applyRelation(*row, call);
      if (result.outcome != RelationResult::Outcome::Solved) {
        CHECK((result.outcome == RelationResult::Outcome::Waiting || !result.problem.empty()));
        continue;
      }
      REQUIRE(result.output != nullptr);
      bool operandsFit = true;
      for (const auto& [index, type] : result.operands)
        operandsFit &= type == operands[index];
      if (operandsFit)
        runAccepted(*row, call, result.output, leaves);
    }
  }
}

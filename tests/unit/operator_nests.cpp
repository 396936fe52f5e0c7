// Operators whose results' shapes hang on values have no nest of numbers.
#include "tests/unit/operator_nests.h"

#include "stdlib/ops.h"
#include "tests/harness/agreement.h"
#include "tests/harness/operand_data.h"
#include "tests/harness/run_nest.h"
#include "tests/harness/run_operator.h"
#include "tests/harness/samples.h"

#include <catch2/catch.hpp>
#include <cstdlib>

using namespace lang;

namespace {

size_t nestsPerRow() {
  const char* text = std::getenv("BATON_SCHEDULES");
  return text ? size_t(std::strtoull(text, nullptr, 10)) : 3;
}

std::optional<NestCase> caseOf(TypeContext& types, const harness::OperatorSample& sample,
                               harness::Random& random) {
  RelationCall call{types, sample.operands, sample.attributes};
  if (sample.row->shapeNeeds != ShapeNeeds::Shapes)
    return std::nullopt;
  auto function = harness::operatorFunction(*sample.row, call, sample.output);
  if (!function)
    return std::nullopt;
  auto nest = harness::closedNest(*function);
  if (!nest)
    return std::nullopt;
  std::vector<runtime::Value> inputs;
  for (runtime::Tensor& leaf :
       harness::operandLeaves(sample.operands, harness::Data::Positions, random))
    inputs.push_back(runtime::tensorValue(std::move(leaf)));
  return NestCase{sample.row->name, *std::move(function), std::move(inputs), *std::move(nest)};
}

} // namespace

std::string NestCase::disagreement(std::span<const runtime::Value> results,
                                   const runtime::Fault* fault) const {
  std::vector<runtime::Value> shaped;
  for (const loops::Buffer& buffer : nest.buffers)
    if (buffer.space == loops::Space::Output && shaped.size() < results.size()) {
      runtime::Shape shape;
      for (loops::Form extent : buffer.extents)
        shape.push_back(*nest.table.constantOf(extent));
      shaped.push_back(harness::reshaped(results[shaped.size()], shape));
    }
  return harness::disagreement(function, inputs, shaped, fault);
}

void forEachNestCase(uint64_t seed,
                     const std::function<void(const NestCase&, harness::Random&)>& check) {
  TypeContext types;
  harness::Reader reader(types);
  harness::SamplePool pool;
  harness::fillSamples(pool, reader, seed, {.perRow = nestsPerRow()});
  for (size_t i = 0; i < pool.byRow.size(); ++i) {
    harness::Random random(harness::mixSeed(seed, i));
    size_t count = 0;
    for (const harness::OperatorSample* sample : pool.byRow[i])
      if (sample->row->compute && harness::takesData(*sample->row) && count < nestsPerRow())
        if (auto made = caseOf(types, *sample, random)) {
          ++count;
          INFO(sample->row->name);
          check(*made, random);
        }
  }
}

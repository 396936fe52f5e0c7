// A program behind the contract of engines.
#include "lower/engine.h"

#include "lower/tensor_eval.h"

namespace lower {

namespace {

/// The values of graphs and the steps of loops; what else there is has the same order.
size_t bytesOf(const Nest& nest) {
  size_t bytes = nest.graph.values.size() * sizeof(GraphValue);
  for (const Block& block : nest.blocks)
    bytes += sizeof(Block) + block.steps.size() * sizeof(Step);
  return bytes;
}

size_t bytesOf(const Program& program) {
  size_t bytes = sizeof program + program.tensors.size() * sizeof(PlanTensor);
  for (const StagePlan& stage : program.stages)
    bytes += sizeof stage + bytesOf(stage.map) + bytesOf(stage.contraction.rows.nest) +
             bytesOf(stage.contraction.columns.nest);
  return bytes;
}

} // namespace

lang::TensorEngine loopsEngine() {
  return {[](const lang::TensorFunction& function) -> lang::TensorCode {
    auto program = std::make_shared<const Program>(makeProgram(function));
    return {[program, expected = lang::inputTypes(function)](std::span<const runtime::Value> inputs,
                                                             std::vector<runtime::Value>& outputs) {
              auto fault = lang::inputFault(expected, inputs);
              return fault ? fault : run(*program, inputs, outputs);
            },
            bytesOf(*program)};
  }};
}

} // namespace lower

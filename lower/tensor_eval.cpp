// The life of a run: inputs, stages in order, results. Each tensor is dropped after its last use.
#include "lower/tensor_eval.h"

#include "lower/tensor_eval_contract.h"
#include "lower/tensor_eval_parallel.h"
#include "lower/tensor_eval_strip.h"

#include <algorithm>

namespace lower {

namespace {

using runtime::Fault;
using runtime::Tensor;
using runtime::Value;

class Run {
public:
  explicit Run(const Program& program)
      : program_(program), tensors_(program.tensors.size()), buffers_(program.tensors.size()) {}

  std::optional<Fault> run(std::span<const Value> inputs, std::vector<Value>& outputs) {
    for (size_t i = 0; i < inputs.size(); ++i)
      setTensor(uint32_t(i), inputs[i].tensor());
    for (size_t i = 0; i < program_.stages.size(); ++i) {
      if (auto fault = runStage(program_.stages[i]))
        return fault;
      for (size_t tensor = 0; tensor < tensors_.size(); ++tensor)
        if (program_.tensors[tensor].lastUse == i)
          tensors_[tensor].reset();
    }
    outputs.clear();
    for (uint32_t result : program_.results)
      outputs.push_back(runtime::tensorValue(*tensors_[result]));
    return std::nullopt;
  }

  /// What the last allocation was for.
  Fault memoryFault() const {
    return wanted_ ? runtime::memoryFault(wanted_->dtype, wanted_->shape)
                   : Fault{runtime::FaultKind::Memory, "out of memory"};
  }

private:
  void setTensor(uint32_t number, Tensor tensor) {
    buffers_[number] = std::as_const(tensor).bytes();
    tensors_[number] = std::move(tensor);
  }

  std::optional<Fault> runStage(const StagePlan& stage) {
    const PlanTensor& plan = program_.tensors[stage.result];
    if (stage.kind == StagePlanKind::Reshape) {
      setTensor(stage.result, tensors_[stage.source]->reshaped(plan.shape));
      return std::nullopt;
    }
    wanted_ = &plan;
    Tensor tensor(plan.dtype, plan.shape);
    std::byte* out = tensor.bytes();
    std::optional<Fault> fault;
    if (stage.kind == StagePlanKind::Map)
      fault = runMap(stage.map, out);
    else if (stage.kind == StagePlanKind::Contract)
      runContraction(stage.contraction, buffers_.data(), out);
    else if (stage.kind == StagePlanKind::Scan)
      stage.scanKernel(out, buffers_[stage.source], stage.scan);
    setTensor(stage.result, std::move(tensor));
    return fault;
  }

  std::optional<Fault> runMap(const Nest& nest, std::byte* out) {
    int64_t extent = 1;
    if (nest.chain.size() > 1)
      extent = nest.graph.extents[nest.blocks[nest.chain[1]].axis];
    size_t threads = threadsFor(nest.cost);
    if (threads == 1) {
      StripRunner runner(nest, buffers_.data());
      return runner.runMap(0, extent, out)
                 ? std::nullopt
                 : std::optional(Fault{runtime::FaultKind::Data, runner.problem()});
    }
    int64_t grain = nest.blocks[nest.chain.back()].axis == nest.lane && nest.chain.size() == 2
                        ? int64_t(nest.stripLength)
                        : 1;
    return runParts(extent, grain, threads, [&](int64_t first, int64_t last) {
      StripRunner runner(nest, buffers_.data());
      return runner.runMap(first, last, out)
                 ? std::nullopt
                 : std::optional(Fault{runtime::FaultKind::Data, runner.problem()});
    });
  }

  const Program& program_;
  std::vector<std::optional<Tensor>> tensors_;
  std::vector<const std::byte*> buffers_;
  const PlanTensor* wanted_ = nullptr;
};

} // namespace

std::optional<Fault> run(const Program& program, std::span<const Value> inputs,
                         std::vector<Value>& outputs) {
  if (!program.problem.empty())
    return Fault{program.problemKind, program.problem};
  Run state(program);
  try {
    return state.run(inputs, outputs);
  } catch (const std::bad_alloc&) {
    return state.memoryFault();
  }
}

} // namespace lower

// The life of a run: inputs, stages in order, results. Each tensor is dropped after its last use.
#include "lower/tensor_eval.h"

#include "lower/plan.h"
#include "lower/real.h"
#include "lower/tensor_eval_contract.h"
#include "lower/tensor_eval_parallel.h"
#include "lower/tensor_eval_strip.h"

#include <fmt/format.h>
#include <mutex>

namespace lower {

using runtime::FaultKind;

/// The function, and its program for either kind of floats; that for reals is made when needed.
struct PlanData {
  lang::TensorFunction function;
  Program own;
  mutable std::once_flag realsOnce;
  mutable Program reals;
};

namespace {

std::string typeText(runtime::DType dtype, std::span<const int64_t> shape) {
  std::string extents;
  for (int64_t extent : shape) {
    extents += extents.empty() ? "" : ", ";
    extents += std::to_string(extent);
  }
  return fmt::format("shape ({}) and type {}", extents, runtime::dtypeName(dtype));
}

class Run {
public:
  Run(const Program& program, Precision precision)
      : program_(program), precision_(precision), tensors_(program.tensors.size()),
        buffers_(program.tensors.size()) {}

  std::optional<runtime::Fault> run(std::span<const Array> inputs, std::vector<Array>& outputs) {
    if (!program_.problem.empty())
      return runtime::Fault{program_.problemKind, program_.problem};
    if (auto fault = takeInputs(inputs))
      return fault;
    for (size_t i = 0; i < program_.stages.size(); ++i) {
      if (auto fault = runStage(program_.stages[i]))
        return fault;
      for (size_t tensor = 0; tensor < tensors_.size(); ++tensor)
        if (program_.tensors[tensor].lastUse == i)
          tensors_[tensor].reset();
    }
    outputs.clear();
    for (uint32_t result : program_.results)
      outputs.push_back(*tensors_[result]);
    return std::nullopt;
  }

  /// What the last allocation was for.
  std::string memoryProblem() const {
    if (!wanted_)
      return "out of memory";
    double bytes = double(wanted_->count) * double(elementBytes(wanted_->element));
    return fmt::format("out of memory: {} bytes for a tensor of {}", uint64_t(bytes),
                       typeText(wanted_->dtype, wanted_->shape));
  }

private:
  std::optional<runtime::Fault> takeInputs(std::span<const Array> inputs) {
    if (inputs.size() != program_.inputCount)
      return runtime::Fault{FaultKind::Internal, fmt::format("expected {} inputs, got {}",
                                                             program_.inputCount, inputs.size())};
    for (size_t i = 0; i < inputs.size(); ++i) {
      const PlanTensor& expected = program_.tensors[i];
      if (inputs[i].dtype() != expected.dtype || inputs[i].shape() != expected.shape)
        return runtime::Fault{FaultKind::Internal,
                              fmt::format("input {} is a tensor of {}, expected {}", i,
                                          typeText(inputs[i].dtype(), inputs[i].shape()),
                                          typeText(expected.dtype, expected.shape))};
      wanted_ = &expected;
      bool isReal = inputs[i].plain() == nullptr, wantsReal = expected.element == Element::Real;
      setTensor(uint32_t(i), isReal == wantsReal
                                 ? inputs[i]
                                 : Array::fromTensor(inputs[i].toTensor(), precision_));
    }
    return std::nullopt;
  }

  void setTensor(uint32_t number, Array array) {
    buffers_[number] = array.bytes();
    tensors_[number] = std::move(array);
  }

  /// A zeroed tensor and its buffer, for one stage to fill.
  std::pair<Array, std::byte*> makeTensor(const PlanTensor& plan) {
    wanted_ = &plan;
    if (plan.element == Element::Real) {
      auto memory = makeElements(Element::Real, size_t(plan.count));
      std::byte* bytes = memory.get();
      return {Array(plan.dtype, plan.shape, std::move(memory)), bytes};
    }
    runtime::Tensor tensor(plan.dtype, plan.shape);
    std::byte* bytes = tensor.bytes();
    return {Array(std::move(tensor)), bytes};
  }

  std::optional<runtime::Fault> runStage(const StagePlan& stage) {
    const PlanTensor& plan = program_.tensors[stage.result];
    if (stage.kind == StagePlanKind::Reshape) {
      setTensor(stage.result, tensors_[stage.source]->reshaped(plan.shape));
      return std::nullopt;
    }
    auto [array, out] = makeTensor(plan);
    std::optional<runtime::Fault> fault;
    if (stage.kind == StagePlanKind::Map)
      fault = runMap(stage.map, out);
    else if (stage.kind == StagePlanKind::Contract)
      runContraction(stage.contraction, buffers_.data(), out);
    else if (stage.kind == StagePlanKind::Scan)
      stage.scanKernel(out, buffers_[stage.source], stage.scan);
    setTensor(stage.result, std::move(array));
    return fault;
  }

  std::optional<runtime::Fault> runMap(const Nest& nest, std::byte* out) {
    int64_t extent = 1;
    if (nest.chain.size() > 1)
      extent = nest.graph.extents[nest.blocks[nest.chain[1]].axis];
    size_t threads = precision_.digits == 0 ? threadsFor(nest.cost) : 1;
    if (threads == 1) {
      StripRunner runner(nest, buffers_.data());
      return runner.runMap(0, extent, out)
                 ? std::nullopt
                 : std::optional(runtime::Fault{FaultKind::Data, runner.problem()});
    }
    int64_t grain = nest.blocks[nest.chain.back()].axis == nest.lane && nest.chain.size() == 2
                        ? int64_t(nest.stripLength)
                        : 1;
    return runParts(extent, grain, threads, [&](int64_t first, int64_t last) {
      StripRunner runner(nest, buffers_.data());
      return runner.runMap(first, last, out)
                 ? std::nullopt
                 : std::optional(runtime::Fault{FaultKind::Data, runner.problem()});
    });
  }

  const Program& program_;
  Precision precision_;
  std::vector<std::optional<Array>> tensors_;
  std::vector<const std::byte*> buffers_;
  const PlanTensor* wanted_ = nullptr;
};

} // namespace

Plan compile(lang::TensorFunction&& function) {
  auto data = std::make_shared<PlanData>();
  data->function = std::move(function);
  data->own = makeProgram(data->function, false);
  return Plan(std::move(data));
}

std::optional<runtime::Fault> run(const Plan& plan, std::span<const Array> inputs,
                                  Precision precision, std::vector<Array>& outputs) {
  const PlanData& data = plan.data();
  std::optional<RealDigits> digits;
  if (precision.digits != 0) {
    digits.emplace(precision.digits);
    std::call_once(data.realsOnce, [&] { data.reals = makeProgram(data.function, true); });
  }
  Run state(precision.digits != 0 ? data.reals : data.own, precision);
  try {
    return state.run(inputs, outputs);
  } catch (const std::bad_alloc&) {
    return runtime::Fault{FaultKind::Memory, state.memoryProblem()};
  }
}

} // namespace lower

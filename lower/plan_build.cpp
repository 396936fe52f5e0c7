// From a tensor function to a program: tensors, stages, and how long each tensor is needed.
#include "lower/plan.h"

#include "lower/plan_contract.h"
#include "lower/plan_guards.h"
#include "lower/plan_lower.h"
#include "lower/plan_merge.h"
#include "lower/plan_schedule.h"
#include "runtime/tensor.h"

#include <algorithm>
#include <fmt/format.h>

namespace lower {

namespace {

class Builder {
public:
  explicit Builder(const tensor::TensorFunction& function) : function_(function) {}

  Program run() {
    addTensors();
    program_.inputCount = function_.inputCount;
    program_.results = function_.results;
    for (size_t i = 0; i < function_.stages.size() && program_.problem.empty(); ++i)
      addStage(function_.stages[i], uint32_t(function_.inputCount + i));
    for (uint32_t result : program_.results)
      if (result >= function_.tensors.size())
        fail("a result is no tensor");
    if (program_.problem.empty())
      findLastUses();
    return std::move(program_);
  }

private:
  void fail(std::string text) {
    if (program_.problem.empty())
      program_.problem = std::move(text);
  }

  void failForMemory(std::string text) {
    if (program_.problem.empty())
      program_.problemKind = runtime::FaultKind::Memory;
    fail(std::move(text));
  }

  void addTensors() {
    if (function_.tensors.size() != function_.inputCount + function_.stages.size())
      fail("the number of stages does not fit that of tensors");
    for (const tensor::TensorInfo& info : function_.tensors) {
      PlanTensor tensor{info.dtype, Element::Bool, {}, 0};
      for (const tensor::ScalarNode* node : info.shape)
        tensor.shape.push_back(constantExtent(node).value_or(-1));
      auto count = runtime::elementCount(tensor.shape);
      if (!count && std::ranges::find(tensor.shape, -1) != tensor.shape.end())
        fail("a shape is not constant");
      else if (!count)
        failForMemory("out of memory: a shape is too large");
      else if (!info.dtype.isComputable())
        fail(fmt::format("cannot compute with `{}`", runtime::dtypeName(info.dtype)));
      else
        tensor.element = elementOf(info.dtype);
      tensor.count = count.value_or(0);
      program_.tensors.push_back(std::move(tensor));
    }
  }

  void addStage(const tensor::Stage& stage, uint32_t result) {
    StagePlan plan;
    plan.result = result;
    if (stage.kind == tensor::StageKind::Map)
      return addMap(stage, std::move(plan));
    const PlanTensor& target = program_.tensors[result];
    if (stage.source >= result || program_.tensors[stage.source].count != target.count ||
        program_.tensors[stage.source].dtype != target.dtype)
      return fail("a stage does not fit its source");
    plan.source = stage.source;
    plan.kind = StagePlanKind::Reshape;
    if (stage.kind == tensor::StageKind::Scan) {
      if (stage.axis >= target.shape.size() || target.shape != program_.tensors[stage.source].shape)
        return fail("a scan does not fit its source");
      plan.kind = target.count == 0 ? StagePlanKind::Empty : StagePlanKind::Scan;
      plan.scan = {1, target.shape[stage.axis], 1, stage.exclusive,
                   stage.combiner == tensor::Combiner::Product};
      for (size_t i = 0; i < target.shape.size(); ++i)
        if (i != stage.axis)
          (i < stage.axis ? plan.scan.outer : plan.scan.inner) *= target.shape[i];
      plan.scanKernel = scanKernel(target.element);
    }
    program_.stages.push_back(std::move(plan));
  }

  /// True when the loops of a stage cover exactly its tensor.
  bool loopsFit(const tensor::Stage& stage, const PlanTensor& tensor) const {
    bool fit = stage.axes.size() == tensor.shape.size();
    for (size_t i = 0; fit && i < stage.axes.size(); ++i)
      fit = constantExtent(stage.axes[i].extent) == tensor.shape[i];
    return fit;
  }

  void addMap(const tensor::Stage& stage, StagePlan plan) {
    if (!loopsFit(stage, program_.tensors[plan.result]))
      return fail("the loops of a stage do not fit its shape");
    if (program_.tensors[plan.result].count == 0) {
      program_.stages.push_back(std::move(plan));
      return;
    }
    auto known = std::span(program_.tensors).first(plan.result);
    Graph graph = lowerStage(stage, known, program_.problem);
    if (!program_.problem.empty())
      return;
    if (graph.values[graph.root].element != program_.tensors[plan.result].element)
      return fail("a stage does not have the type of its tensor");
    if (extractContractions(graph, plan.result, program_))
      return;
    addGuards(graph);
    mergeAllAxes(graph);
    std::vector<uint32_t> chain = graph.outputAxes;
    Lanes lanes = chooseLanes(graph, chain, true);
    if (auto place = std::ranges::find(chain, lanes.result); place != chain.end()) {
      chain.erase(place);
      chain.push_back(lanes.result);
    }
    plan.kind = StagePlanKind::Map;
    plan.map = schedule(std::move(graph), chain, std::move(lanes), true);
    program_.stages.push_back(std::move(plan));
  }

  void findLastUses() {
    for (size_t i = 0; i < program_.stages.size(); ++i) {
      const StagePlan& stage = program_.stages[i];
      program_.tensors[stage.result].lastUse = i;
      program_.tensors[stage.source].lastUse = i;
      for (const Nest* nest :
           {&stage.map, &stage.contraction.rows.nest, &stage.contraction.columns.nest})
        for (const GraphValue& value : nest->graph.values)
          if (value.kind == GraphValueKind::Load)
            program_.tensors[value.tensor].lastUse = i;
    }
    for (uint32_t result : program_.results)
      program_.tensors[result].lastUse = program_.stages.size();
  }

  const tensor::TensorFunction& function_;
  Program program_;
};

} // namespace

Program makeProgram(const tensor::TensorFunction& function) {
  return Builder(function).run();
}

} // namespace lower

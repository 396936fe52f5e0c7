// From a tensor function to a program: tensors, stages, and how long each tensor is needed.
#include "lower/strips/plan.h"

#include "lower/strips/plan_contract.h"
#include "lower/strips/plan_guards.h"
#include "lower/strips/plan_lower.h"
#include "lower/strips/plan_merge.h"
#include "lower/strips/plan_results.h"
#include "lower/strips/plan_schedule.h"

#include <algorithm>
#include <fmt/format.h>

namespace lower {

namespace {

class Builder {
public:
  Builder(const tensor::TensorFunction& function, Sizes& sizes)
      : function_(function), sizes_(sizes), given_{sizes} {}

  Program run() {
    placeExtents();
    if (program_.problem.empty())
      addTensors();
    if (program_.problem.empty())
      compareInputs();
    program_.inputCount = function_.inputCount;
    program_.results.append(function_.results);
    for (size_t i = 0; i < function_.stages.size() && program_.problem.empty(); ++i)
      addStage(function_.stages[i], uint32_t(function_.inputCount + i));
    if (program_.problem.empty())
      findResults(program_, sizes_);
    else
      sizes_.setAlone();
    for (const Size* size : openSizes(program_))
      sizes_.use(size->form);
    sizes_.close();
    return std::move(program_);
  }

private:
  static constexpr const char* forOtherShapes = "a kernel is for other shapes";

  bool hasExtents() const { return sizes_.parameters() > 0; }

  void fail(std::string text) {
    if (program_.problem.empty())
      program_.problem = std::move(text);
  }

  void failForMemory(runtime::DType dtype, const List<Size>& shape) {
    runtime::Shape numbers;
    for (Size extent : shape)
      numbers.push_back(extent.number);
    if (program_.problem.empty())
      program_.problemKind = runtime::FaultKind::Memory;
    fail(runtime::memoryFault(dtype, numbers).problem);
  }

  /// What memory can hold, so that no number of bytes passes 64 bits.
  static int64_t mostElements(Element element) {
    constexpr int64_t addressable = int64_t(1) << 46;
    return addressable / int64_t(elementBytes(element));
  }

  /// Finds where the extents of inputs and results are among the parameters.
  void placeExtents() {
    if (function_.tensors.size() != function_.inputCount + function_.stages.size())
      return fail("the number of stages does not fit that of tensors");
    uint32_t next = 0;
    auto place = [&](List<uint32_t>& firsts, const tensor::TensorInfo& tensor) {
      firsts.push_back(next);
      next += uint32_t(tensor.shape.size());
    };
    for (size_t i = 0; i < function_.inputCount; ++i)
      place(given_.inputs, function_.tensors[i]);
    for (uint32_t result : function_.results) {
      if (result >= function_.tensors.size())
        return fail("a result is no tensor");
      place(given_.results, function_.tensors[result]);
    }
    if (hasExtents() && next != sizes_.parameters())
      fail(forOtherShapes);
  }

  void addTensors() {
    for (const tensor::TensorInfo& info : function_.tensors) {
      PlanTensor tensor{info.dtype, Element::Bool, {}, 0};
      if (!info.dtype.isComputable())
        return fail(fmt::format("cannot compute with `{}`", runtime::dtypeName(info.dtype)));
      tensor.element = elementOf(info.dtype);
      for (const tensor::ScalarNode* node : info.shape) {
        auto extent = extentOf(node, given_);
        if (!extent || !sizes_.isAtLeast(*extent, 0))
          return fail("a shape is not constant");
        tensor.shape.push_back(*extent);
      }
      auto count = countOf(tensor.shape);
      if (!count || !sizes_.isAtLeast(mostElements(tensor.element), *count))
        return failForMemory(info.dtype, tensor.shape);
      tensor.count = *count;
      program_.tensors.push_back(std::move(tensor));
    }
  }

  /// The elements of a shape; nothing beyond 64 bits.
  std::optional<Size> countOf(const List<Size>& shape) {
    std::optional<Size> count = 1;
    bool isEmpty = false;
    for (Size extent : shape) {
      isEmpty = isEmpty || (extent.number == 0 && !sizes_.isAtLeast(extent, 1));
      count = count ? sizes_.product(*count, extent) : std::nullopt;
    }
    return isEmpty ? Size(0) : count;
  }

  bool isEmpty(const PlanTensor& tensor) {
    return !std::ranges::all_of(tensor.shape,
                                [&](Size extent) { return sizes_.isAtLeast(extent, 1); });
  }

  /// A function that somebody made up may be for other shapes than it is given.
  void compareInputs() {
    bool fits = true;
    for (size_t i = 0; hasExtents() && i < function_.inputCount; ++i) {
      const List<Size>& shape = program_.tensors[i].shape;
      for (uint32_t dim = 0; fits && dim < shape.size(); ++dim)
        fits = sizes_.isSame(shape[dim], sizes_.parameter(given_.inputs[i] + dim));
    }
    if (!fits)
      fail(forOtherShapes);
  }

  bool areSame(const List<Size>& a, const List<Size>& b) {
    return std::ranges::equal(a, b, [&](Size x, Size y) { return sizes_.isSame(x, y); });
  }

  void addStage(const tensor::Stage& stage, uint32_t result) {
    StagePlan plan;
    plan.result = result;
    if (stage.kind == tensor::StageKind::Map)
      return addMap(stage, std::move(plan));
    const PlanTensor& target = program_.tensors[result];
    const PlanTensor* source = stage.source < result ? &program_.tensors[stage.source] : nullptr;
    if (!source || source->dtype != target.dtype || !sizes_.isSame(source->count, target.count))
      return fail("a stage does not fit its source");
    plan.source = stage.source;
    plan.kind = StagePlanKind::Reshape;
    if (stage.kind == tensor::StageKind::Scan) {
      if (stage.axis >= target.shape.size() || !areSame(target.shape, source->shape))
        return fail("a scan does not fit its source");
      plan.kind = isEmpty(target) ? StagePlanKind::Empty : StagePlanKind::Scan;
      plan.scan = scanOf(stage, target);
    }
    program_.stages.push_back(std::move(plan));
  }

  /// The product of some of the extents of a tensor that has elements.
  Size productOf(std::span<const Size> extents) {
    Size product = 1;
    for (Size extent : extents)
      product = sizes_.product(product, extent).value_or(0);
    return product;
  }

  Scan scanOf(const tensor::Stage& stage, const PlanTensor& tensor) {
    auto extents = std::span(tensor.shape);
    return {productOf(extents.first(stage.axis)),        extents[stage.axis],
            productOf(extents.subspan(stage.axis + 1)),  stage.exclusive,
            stage.combiner == tensor::Combiner::Product, scanKernel(tensor.element)};
  }

  /// True when the loops of a stage cover exactly its tensor.
  bool loopsFit(const tensor::Stage& stage, const PlanTensor& tensor) {
    bool fit = stage.axes.size() == tensor.shape.size();
    for (size_t i = 0; fit && i < stage.axes.size(); ++i) {
      auto extent = extentOf(stage.axes[i].extent, given_);
      fit = extent && sizes_.isSame(*extent, tensor.shape[i]);
    }
    return fit;
  }

  void addMap(const tensor::Stage& stage, StagePlan plan) {
    if (!loopsFit(stage, program_.tensors[plan.result]))
      return fail("the loops of a stage do not fit its shape");
    if (isEmpty(program_.tensors[plan.result])) {
      program_.stages.push_back(std::move(plan));
      return;
    }
    auto known = std::span(program_.tensors).first(plan.result);
    Graph graph = lowerStage(stage, known, given_, program_.problem);
    if (!program_.problem.empty())
      return;
    if (graph.values[graph.root].element != program_.tensors[plan.result].element)
      return fail("a stage does not have the type of its tensor");
    if (extractContractions(graph, sizes_, plan.result, program_))
      return;
    addGuards(graph, sizes_);
    mergeAllAxes(graph, sizes_);
    List<uint32_t> chain = graph.outputAxes;
    Lanes lanes = chooseLanes(graph, sizes_, chain, true);
    if (auto place = std::ranges::find(chain, lanes.result); place != chain.end()) {
      chain.erase(place);
      chain.push_back(lanes.result);
    }
    plan.kind = StagePlanKind::Map;
    plan.map = schedule(std::move(graph), sizes_, chain, std::move(lanes), true);
    program_.stages.push_back(std::move(plan));
  }

  const tensor::TensorFunction& function_;
  Sizes& sizes_;
  PlanSizes given_;
  Program program_;
};

} // namespace

Program makeProgram(const tensor::TensorFunction& function) {
  Sizes constants;
  return makeProgram(function, constants);
}

Program makeProgram(const tensor::TensorFunction& function, Sizes& sizes) {
  return Builder(function, sizes).run();
}

} // namespace lower

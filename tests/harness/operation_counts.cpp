// Counting walks each stage with a stack of its own: bodies that rules write may be deep.
#include "tests/harness/operation_counts.h"

#include "lower/tensor/bind.h"
#include "lower/tensor/wrapped_kernel.h"

#include <unordered_set>

namespace harness {

using namespace tensor;

namespace {

int64_t positions(std::span<const tensor::LoopAxis> axes) {
  int64_t count = 1;
  for (const tensor::LoopAxis& axis : axes)
    count *= axis.extent->as<tensor::ScalarNumber>()->integer;
  return count;
}

void addJoins(OperationCounts& counts, Combiner combiner, runtime::DType dtype, int64_t joins) {
  if (!dtype.isFloat() || joins <= 0)
    return;
  if (combiner == Combiner::Sum)
    counts.additions += joins;
  else if (combiner == Combiner::Product)
    counts.multiplications += joins;
}

void addApply(OperationCounts& counts, const tensor::ScalarApply& apply, int64_t times) {
  if (!apply.dtype.isFloat())
    return;
  switch (apply.function) {
  case ScalarFunction::Add:
  case ScalarFunction::Subtract:
    counts.additions += times;
    break;
  case ScalarFunction::Multiply:
  case ScalarFunction::Divide:
    counts.multiplications += times;
    break;
  default:
    break;
  }
}

void addBody(OperationCounts& counts, const ScalarNode* body, int64_t times) {
  struct Visit {
    const ScalarNode* node;
    int64_t times;
  };
  std::unordered_set<const ScalarNode*> seen;
  std::vector<Visit> stack = {{body, times}};
  auto visit = [&](const ScalarNode* node, int64_t count) {
    if (node && seen.insert(node).second)
      stack.push_back({node, count});
  };
  while (!stack.empty()) {
    Visit at = stack.back();
    stack.pop_back();
    if (const auto* apply = at.node->as<tensor::ScalarApply>()) {
      addApply(counts, *apply, at.times);
      for (const ScalarNode* operand : apply->operands)
        visit(operand, at.times);
    } else if (const auto* cast = at.node->as<tensor::ScalarCast>()) {
      visit(cast->operand, at.times);
    } else if (const auto* load = at.node->as<tensor::ScalarLoad>()) {
      visit(load->outside, at.times);
    } else if (const auto* reduce = at.node->as<tensor::ScalarReduce>()) {
      int64_t inside = positions(reduce->axes);
      addJoins(counts, reduce->combiner, reduce->dtype, at.times * (inside - 1));
      visit(reduce->body, at.times * inside);
    }
  }
}

/// A running sum joins each element to those before it.
void addScan(OperationCounts& counts, const tensor::Stage& stage, const TensorInfo& tensor) {
  int64_t elements = 1, along = 1;
  for (size_t i = 0; i < tensor.shape.size(); ++i) {
    int64_t extent = tensor.shape[i]->as<tensor::ScalarNumber>()->integer;
    (i == stage.axis ? along : elements) *= extent;
  }
  addJoins(counts, stage.combiner, tensor.dtype, elements * (along - 1));
}

} // namespace

OperationCounts countOperations(const TensorFunction& function) {
  OperationCounts counts;
  for (size_t i = 0; i < function.stages.size(); ++i) {
    const tensor::Stage& stage = function.stages[i];
    if (stage.kind == tensor::StageKind::Map)
      addBody(counts, stage.body, positions(stage.axes));
    else if (stage.kind == tensor::StageKind::Scan)
      addScan(counts, stage, function.tensors[function.inputCount + i]);
  }
  return counts;
}

tensor::TensorEngine countingEngine(tensor::TensorEngine engine, OperationCounts& counts) {
  auto around = [&counts](const TensorFunction& function, std::span<const int64_t> extents) {
    return [once = countOperations(closed(function, extents)),
            &counts](runtime::KernelCode& code, std::span<const std::byte* const> inputs,
                     std::span<std::byte* const> outputs) {
      counts.additions += once.additions;
      counts.multiplications += once.multiplications;
      return code.run(inputs, outputs);
    };
  };
  engine.makeKernel = tensor::wrapped(engine.makeKernel, around);
  return engine;
}

} // namespace harness

// Nodes are counted where they stand: outside of a reduction once for an element of the stage, in
// it once for each that is joined. A node of both counts where it was met first.
#include "lower/tensor/demand.h"

#include "lower/tensor/bind.h"
#include "lower/tensor/walk.h"

#include <algorithm>

namespace tensor {

namespace {

double numberOf(const ScalarNode* extent) {
  const auto* number = extent->as<ScalarNumber>();
  return number ? double(number->integer) : 0;
}

double pointsOf(std::span<const LoopAxis> axes) {
  double points = 1;
  for (const LoopAxis& axis : axes)
    points *= numberOf(axis.extent);
  return points;
}

double elementsOf(const TensorInfo& tensor) {
  double elements = 1;
  for (const ScalarNode* extent : tensor.shape)
    elements *= numberOf(extent);
  return elements;
}

/// Of a function whose extents are numbers.
class Count {
public:
  explicit Count(const TensorFunction& function)
      : function_(function), reads_(function.tensors.size()) {}

  Demand run() {
    for (size_t i = 0; i < function_.stages.size(); ++i)
      add(function_.stages[i], function_.tensors[function_.inputCount + i]);
    for (uint32_t i = 0; i < function_.inputCount; ++i)
      addBytes(i, std::min(reads_[i], elementsOf(function_.tensors[i])));
    for (uint32_t result : function_.results)
      addBytes(result, elementsOf(function_.tensors[result]));
    return demand_;
  }

private:
  struct Open {
    const ScalarNode* node;
    double times;
  };

  void addBytes(uint32_t tensor, double elements) {
    demand_.bytes += elements * double(function_.tensors[tensor].dtype.bytes());
  }

  void addOperations(runtime::DType type, double times) {
    if (type.isFloat())
      (type.bytes() > 4 ? demand_.wide : demand_.narrow) += times;
  }

  void add(const Stage& stage, const TensorInfo& made) {
    const double elements = elementsOf(made);
    if (stage.kind == StageKind::Map)
      return addBody(stage.body, pointsOf(stage.axes));
    reads_[stage.source] += elements;
    if (stage.kind == StageKind::Scan)
      addOperations(made.dtype, elements);
  }

  void addBody(const ScalarNode* body, double points) {
    std::unordered_set<const ScalarNode*> seen{body};
    std::vector<Open> stack{{body, points}};
    while (!stack.empty()) {
      Open open = stack.back();
      stack.pop_back();
      double inside = count(*open.node, open.times);
      forEachOperand(*open.node, [&](const ScalarNode* operand) {
        if (seen.insert(operand).second)
          stack.push_back({operand, inside});
      });
    }
  }

  /// Counts a node that is computed so often; gives how often its operands are.
  double count(const ScalarNode& node, double times) {
    if (const auto* load = node.as<ScalarLoad>())
      reads_[load->tensor] += times;
    if (const auto* apply = node.as<ScalarApply>(); apply && isOperation(apply->function))
      addOperations(apply->operands[0]->dtype, times);
    const auto* reduce = node.as<ScalarReduce>();
    if (!reduce)
      return times;
    times *= pointsOf(reduce->axes);
    addOperations(reduce->body->dtype, times);
    return times;
  }

  static bool isOperation(ScalarFunction function) { return function != ScalarFunction::Select; }

  const TensorFunction& function_;
  Demand demand_;
  /// By tensor: how often an element is read.
  std::vector<double> reads_;
};

} // namespace

Demand demandOf(const TensorFunction& function, std::span<const int64_t> extents) {
  return Count(bound(function, extents)).run();
}

} // namespace tensor

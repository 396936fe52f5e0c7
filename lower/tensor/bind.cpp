// A tensor whose elements turn out to be one constant is made only where something needs the tensor
// itself; loads of it are that constant.
#include "lower/tensor/bind.h"

#include "lower/tensor/fold.h"
#include "lower/tensor/given.h"
#include "lower/tensor/rewrite.h"

namespace tensor {

using runtime::Shape;

namespace {

class Binding {
public:
  Binding(const TensorFunction& function, std::span<const Shape> inputs,
          std::span<const Shape> results)
      : function_(function), inputs_(inputs), results_(results) {}

  TensorFunction run() {
    bound_.inputCount = function_.inputCount;
    for (size_t i = 0; i < function_.inputCount; ++i) {
      tensors_.push_back({uint32_t(i)});
      bound_.tensors.push_back(infoOf(function_.tensors[i]));
    }
    for (size_t i = 0; i < function_.stages.size(); ++i)
      bindStage(function_.stages[i], function_.tensors[function_.inputCount + i]);
    for (uint32_t result : function_.results)
      bound_.results.push_back(numberOf(result));
    return std::move(bound_);
  }

private:
  static constexpr uint32_t none = UINT32_MAX;

  /// What became of a tensor: its number, or the constant that all its elements are, whose stage is
  /// put off until something needs the tensor itself.
  struct Bound {
    uint32_t number = none;
    Stage stage = {};
    TensorInfo info = {};
    const ScalarNode* everywhere() const { return number == none ? stage.body : nullptr; }
  };

  TensorInfo infoOf(const TensorInfo& from) {
    return {from.dtype, rewriter_.rewrittenAll(from.shape)};
  }

  uint32_t numberOf(uint32_t tensor) {
    Bound& bound = tensors_[tensor];
    if (bound.number == none)
      bound.number = addStage(bound.stage, std::move(bound.info));
    return bound.number;
  }

  uint32_t addStage(const Stage& stage, TensorInfo info) {
    bound_.stages.push_back(stage);
    bound_.tensors.push_back(std::move(info));
    return uint32_t(bound_.tensors.size() - 1);
  }

  void bindStage(const Stage& from, const TensorInfo& info) {
    Bound bound{none, from, infoOf(info)};
    bool isMap = from.kind == StageKind::Map;
    if (isMap) {
      bound.stage.axes = rewriter_.freshAxes(from.axes);
      bound.stage.body = rewriter_.rewritten(from.body);
    } else {
      bound.stage.source = numberOf(from.source);
    }
    if (!isMap || bound.stage.body->kind != ScalarKind::Number)
      bound.number = addStage(bound.stage, std::move(bound.info));
    tensors_.push_back(std::move(bound));
  }

  const ScalarNode* size(const ScalarSize& size) {
    const SizeParameter& from = function_.sizes[size.number];
    const Shape& shape = (from.isOfResult ? results_ : inputs_)[from.tensor];
    return makeInteger(*bound_.arena, shape[from.dim]);
  }

  const ScalarNode* load(const ScalarLoad& load, const ScalarNodes& position,
                         const ScalarNode* outside) {
    if (const ScalarNode* everywhere = tensors_[load.tensor].everywhere(); everywhere && !outside)
      return everywhere;
    return nodes_.unique(bound_.arena->make<ScalarLoad>(ScalarNode{ScalarKind::Load, load.dtype},
                                                        numberOf(load.tensor),
                                                        bound_.arena->copy(position), outside));
  }

  const TensorFunction& function_;
  std::span<const Shape> inputs_, results_;
  TensorFunction bound_;
  std::vector<Bound> tensors_;
  UniqueNodes nodes_{*bound_.arena};
  uint32_t nextAxis_ = 0;
  Rewriter rewriter_{nodes_,
                     nextAxis_,
                     {[this](const ScalarSize& each) { return size(each); },
                      [this](const ScalarLoad& each, const ScalarNodes& position,
                             const ScalarNode* outside) { return load(each, position, outside); }}};
};

} // namespace

TensorFunction bound(const TensorFunction& function, std::span<const Shape> inputs,
                     std::span<const Shape> results) {
  return Binding(function, inputs, results).run();
}

TensorFunction bound(const TensorFunction& function, std::span<const int64_t> extents) {
  std::vector<Shape> shapes = givenShapes(function, extents);
  std::span<const Shape> all(shapes);
  return bound(function, all.first(function.inputCount), all.subspan(function.inputCount));
}

TensorFunction closed(const TensorFunction& function, std::span<const int64_t> extents) {
  return function.sizes.empty() ? function : bound(function, extents);
}

} // namespace tensor

// Every node is built again by the functions that fold, operands first, with a stack of its own:
// expressions may be deep.
#include "lang/bind.h"

#include "lang/fold.h"

#include <unordered_map>

namespace lang {

namespace {

using runtime::Shape;

class Binder {
public:
  Binder(const TensorFunction& function, std::span<const Shape> inputs,
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

  Arena& arena() { return *bound_.arena; }

  TensorInfo infoOf(const TensorInfo& from) {
    TensorInfo info{from.dtype, {}};
    for (const ScalarNode* extent : from.shape)
      info.shape.push_back(bind(extent));
    return info;
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
    if (from.kind == StageKind::Map) {
      bound.stage.axes = bindAxes(from.axes);
      bound.stage.body = bind(from.body);
    } else {
      bound.stage.source = numberOf(from.source);
    }
    bool isConstant = from.kind == StageKind::Map && bound.stage.body->kind == ScalarKind::Number;
    if (!isConstant)
      bound.number = addStage(bound.stage, std::move(bound.info));
    tensors_.push_back(std::move(bound));
  }

  std::span<const LoopAxis> bindAxes(std::span<const LoopAxis> from) {
    std::vector<LoopAxis> axes;
    for (const LoopAxis& axis : from)
      axes.push_back({axis.number, bind(axis.extent)});
    return arena().copy(axes);
  }

  const ScalarNode* bind(const ScalarNode* root) {
    std::vector<const ScalarNode*> stack{root};
    while (!stack.empty()) {
      const ScalarNode* node = stack.back();
      if (const ScalarNode* pending = done_.contains(node) ? nullptr : pendingOf(node)) {
        stack.push_back(pending);
        continue;
      }
      if (!done_.contains(node))
        done_[node] = rebuilt(node);
      stack.pop_back();
    }
    return done_[root];
  }

  const ScalarNode* firstPending(std::span<const ScalarNode* const> nodes) const {
    for (const ScalarNode* node : nodes)
      if (!done_.contains(node))
        return node;
    return nullptr;
  }

  /// An operand that has not been bound yet.
  const ScalarNode* pendingOf(const ScalarNode* node) {
    if (const auto* load = node->as<ScalarLoad>()) {
      const ScalarNode* position = firstPending(load->position);
      return position || !load->outside ? position : firstPending({&load->outside, 1});
    }
    if (const auto* apply = node->as<ScalarApply>())
      return firstPending(apply->operands);
    if (const auto* cast = node->as<ScalarCast>())
      return firstPending({&cast->operand, 1});
    const auto* reduce = node->as<ScalarReduce>();
    if (!reduce)
      return nullptr;
    for (const LoopAxis& axis : reduce->axes)
      if (!done_.contains(axis.extent))
        return axis.extent;
    if (reduce->combiner == Combiner::Sum)
      for (const LoopAxis& axis : reduce->axes)
        if (runsOnce(done_.at(axis.extent)))
          leftOut_.emplace(axis.number, makeInteger(arena(), 0));
    return firstPending({&reduce->body, 1});
  }

  std::vector<const ScalarNode*> boundOf(std::span<const ScalarNode* const> nodes) const {
    std::vector<const ScalarNode*> bound;
    for (const ScalarNode* node : nodes)
      bound.push_back(done_.at(node));
    return bound;
  }

  /// The node with its operands, which are bound, in place.
  const ScalarNode* rebuilt(const ScalarNode* node) {
    switch (node->kind) {
    case ScalarKind::Number:
      return arena().make<ScalarNumber>(*node->as<ScalarNumber>());
    case ScalarKind::Index: {
      const auto* index = node->as<ScalarIndex>();
      auto leftOut = leftOut_.find(index->axis);
      return leftOut == leftOut_.end() ? arena().make<ScalarIndex>(*index) : leftOut->second;
    }
    case ScalarKind::Extent: {
      const auto* extent = node->as<ScalarExtent>();
      const Shape& shape = (extent->isOfResult ? results_ : inputs_)[extent->tensor];
      return makeInteger(arena(), shape[extent->dim]);
    }
    case ScalarKind::Load:
      return rebuiltLoad(*node->as<ScalarLoad>());
    case ScalarKind::Apply: {
      const auto* apply = node->as<ScalarApply>();
      return makeApply(arena(), apply->function, apply->dtype, boundOf(apply->operands));
    }
    case ScalarKind::Cast:
      return makeCast(arena(), done_.at(node->as<ScalarCast>()->operand), node->dtype);
    case ScalarKind::Reduce:
      return rebuiltReduce(*node->as<ScalarReduce>());
    }
    return node;
  }

  const ScalarNode* rebuiltLoad(const ScalarLoad& load) {
    const Bound& tensor = tensors_[load.tensor];
    if (tensor.everywhere() && !load.outside)
      return tensor.everywhere();
    return arena().make<ScalarLoad>(ScalarNode{ScalarKind::Load, load.dtype}, numberOf(load.tensor),
                                    arena().copy(boundOf(load.position)),
                                    load.outside ? done_.at(load.outside) : nullptr);
  }

  const ScalarNode* rebuiltReduce(const ScalarReduce& reduce) {
    std::vector<LoopAxis> axes;
    for (const LoopAxis& axis : reduce.axes)
      if (!leftOut_.contains(axis.number))
        axes.push_back({axis.number, done_.at(axis.extent)});
    const ScalarNode* body = done_.at(reduce.body);
    if (axes.empty() && reduce.combiner == Combiner::Sum)
      return body;
    return arena().make<ScalarReduce>(ScalarNode{ScalarKind::Reduce, reduce.dtype}, reduce.combiner,
                                      arena().copy(axes), body);
  }

  const TensorFunction& function_;
  std::span<const Shape> inputs_, results_;
  TensorFunction bound_;
  std::vector<Bound> tensors_;
  std::unordered_map<const ScalarNode*, const ScalarNode*> done_;
  /// The axes of sums that run once, and the index 0 that stands for theirs.
  std::unordered_map<uint32_t, const ScalarNode*> leftOut_;
};

} // namespace

TensorFunction bindExtents(const TensorFunction& function, std::span<const Shape> inputs,
                           std::span<const Shape> results) {
  return Binder(function, inputs, results).run();
}

} // namespace lang

// Every node is built again by the functions that fold, operands first, in the order of a list;
// the walk that makes the list has a stack of its own, since expressions may be deep.
#include "lower/tensor/bind.h"

#include "lower/tensor/fold.h"

#include <unordered_map>

namespace tensor {

using runtime::Shape;

/// Lists the nodes of a function.
class NodeLister {
public:
  explicit NodeLister(ExtentBinder& binder) : binder_(binder) {}

  void run() {
    const TensorFunction& function = binder_.function_;
    for (size_t i = 0; i < function.inputCount; ++i)
      addRoots(function.tensors[i].shape);
    binder_.ends_.push_back(binder_.entries_.size());
    for (size_t i = 0; i < function.stages.size(); ++i) {
      const Stage& stage = function.stages[i];
      addRoots(function.tensors[function.inputCount + i].shape);
      if (stage.kind == StageKind::Map) {
        for (const LoopAxis& axis : stage.axes)
          addRoots({&axis.extent, 1});
        addRoots({&stage.body, 1});
      }
      binder_.ends_.push_back(binder_.entries_.size());
    }
  }

private:
  void addRoots(std::span<const ScalarNode* const> roots) {
    for (const ScalarNode* root : roots)
      binder_.roots_.push_back(placeOf(root));
  }

  uint32_t placeOf(const ScalarNode* root) {
    std::vector<const ScalarNode*> stack{root};
    while (!stack.empty()) {
      const ScalarNode* node = stack.back();
      if (places_.contains(node)) {
        stack.pop_back();
        continue;
      }
      size_t before = stack.size();
      findOperands(node);
      for (const ScalarNode* operand : operandNodes_)
        if (!places_.contains(operand))
          stack.push_back(operand);
      if (stack.size() == before)
        add(node);
    }
    return places_.at(root);
  }

  void add(const ScalarNode* node) {
    auto& operands = binder_.operands_;
    binder_.entries_.push_back({node, uint32_t(operands.size()), uint32_t(operandNodes_.size())});
    for (const ScalarNode* operand : operandNodes_)
      operands.push_back(places_.at(operand));
    places_.emplace(node, uint32_t(binder_.entries_.size() - 1));
  }

  void findOperands(const ScalarNode* node) {
    operandNodes_.clear();
    auto add = [&](std::span<const ScalarNode* const> nodes) {
      operandNodes_.insert(operandNodes_.end(), nodes.begin(), nodes.end());
    };
    if (const auto* load = node->as<ScalarLoad>()) {
      add(load->position);
      if (load->outside)
        add({&load->outside, 1});
    } else if (const auto* apply = node->as<ScalarApply>()) {
      add(apply->operands);
    } else if (const auto* cast = node->as<ScalarCast>()) {
      add({&cast->operand, 1});
    } else if (const auto* index = node->as<ScalarIndex>()) {
      if (auto sum = sumExtents_.find(index->axis); sum != sumExtents_.end())
        add({&sum->second, 1});
    } else if (const auto* reduce = node->as<ScalarReduce>()) {
      for (const LoopAxis& axis : reduce->axes) {
        add({&axis.extent, 1});
        if (reduce->combiner == Combiner::Sum)
          sumExtents_.emplace(axis.number, axis.extent);
      }
      add({&reduce->body, 1});
    }
  }

  ExtentBinder& binder_;
  std::unordered_map<const ScalarNode*, uint32_t> places_;
  /// The extents of the loops of sums that the walk has come to, by their numbers.
  std::unordered_map<uint32_t, const ScalarNode*> sumExtents_;
  std::vector<const ScalarNode*> operandNodes_;
};

/// One pass over the list.
class Binding {
public:
  Binding(const ExtentBinder& binder, std::span<const Shape> inputs, std::span<const Shape> results)
      : binder_(binder), inputs_(inputs), results_(results) {
    done_.reserve(binder.entries_.size());
  }

  TensorFunction run() {
    const TensorFunction& function = binder_.function_;
    bound_.inputCount = function.inputCount;
    rebuildUpTo(binder_.ends_[0]);
    for (size_t i = 0; i < function.inputCount; ++i) {
      tensors_.push_back({uint32_t(i)});
      bound_.tensors.push_back(infoOf(function.tensors[i]));
    }
    for (size_t i = 0; i < function.stages.size(); ++i) {
      rebuildUpTo(binder_.ends_[i + 1]);
      bindStage(function.stages[i], function.tensors[function.inputCount + i]);
    }
    for (uint32_t result : function.results)
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

  const ScalarNode* nextRoot() { return done_[binder_.roots_[nextRoot_++]]; }

  TensorInfo infoOf(const TensorInfo& from) {
    TensorInfo info{from.dtype, {}};
    for (size_t i = 0; i < from.shape.size(); ++i)
      info.shape.push_back(nextRoot());
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
      std::vector<LoopAxis> axes;
      for (const LoopAxis& axis : from.axes)
        axes.push_back({axis.number, nextRoot()});
      bound.stage.axes = arena().copy(axes);
      bound.stage.body = nextRoot();
    } else {
      bound.stage.source = numberOf(from.source);
    }
    bool isConstant = from.kind == StageKind::Map && bound.stage.body->kind == ScalarKind::Number;
    if (!isConstant)
      bound.number = addStage(bound.stage, std::move(bound.info));
    tensors_.push_back(std::move(bound));
  }

  void rebuildUpTo(size_t end) {
    while (done_.size() < end) {
      const ExtentBinder::Entry& entry = binder_.entries_[done_.size()];
      operands_.clear();
      for (uint32_t i = 0; i < entry.operandCount; ++i)
        operands_.push_back(done_[binder_.operands_[entry.firstOperand + i]]);
      done_.push_back(rebuilt(entry.node));
    }
  }

  /// The node with `operands_` in place of its own.
  const ScalarNode* rebuilt(const ScalarNode* node) {
    switch (node->kind) {
    case ScalarKind::Number:
      return arena().make<ScalarNumber>(*node->as<ScalarNumber>());
    case ScalarKind::Index:
      if (!operands_.empty() && runsOnce(operands_[0]))
        return makeInteger(arena(), 0);
      return arena().make<ScalarIndex>(*node->as<ScalarIndex>());
    case ScalarKind::Extent: {
      const auto* extent = node->as<ScalarExtent>();
      const Shape& shape = (extent->isOfResult ? results_ : inputs_)[extent->tensor];
      return makeInteger(arena(), shape[extent->dim]);
    }
    case ScalarKind::Load:
      return rebuiltLoad(*node->as<ScalarLoad>());
    case ScalarKind::Apply:
      return makeApply(arena(), node->as<ScalarApply>()->function, node->dtype, operands_);
    case ScalarKind::Cast:
      return makeCast(arena(), operands_[0], node->dtype);
    case ScalarKind::Reduce:
      return rebuiltReduce(*node->as<ScalarReduce>());
    }
    return node;
  }

  const ScalarNode* rebuiltLoad(const ScalarLoad& load) {
    const Bound& tensor = tensors_[load.tensor];
    if (tensor.everywhere() && !load.outside)
      return tensor.everywhere();
    auto position = std::span(operands_).first(load.position.size());
    return arena().make<ScalarLoad>(ScalarNode{ScalarKind::Load, load.dtype}, numberOf(load.tensor),
                                    arena().copy(position),
                                    load.outside ? operands_.back() : nullptr);
  }

  const ScalarNode* rebuiltReduce(const ScalarReduce& reduce) {
    bool isSum = reduce.combiner == Combiner::Sum;
    std::vector<LoopAxis> axes;
    for (size_t i = 0; i < reduce.axes.size(); ++i)
      if (!isSum || !runsOnce(operands_[i]))
        axes.push_back({reduce.axes[i].number, operands_[i]});
    if (axes.empty() && isSum)
      return operands_.back();
    return arena().make<ScalarReduce>(ScalarNode{ScalarKind::Reduce, reduce.dtype}, reduce.combiner,
                                      arena().copy(axes), operands_.back());
  }

  const ExtentBinder& binder_;
  std::span<const Shape> inputs_, results_;
  TensorFunction bound_;
  std::vector<Bound> tensors_;
  /// What became of the entries so far, and of the operands of the one at hand.
  std::vector<const ScalarNode*> done_, operands_;
  size_t nextRoot_ = 0;
};

ExtentBinder::ExtentBinder(TensorFunction function) : function_(std::move(function)) {
  NodeLister(*this).run();
}

TensorFunction ExtentBinder::bind(std::span<const Shape> inputs,
                                  std::span<const Shape> results) const {
  return Binding(*this, inputs, results).run();
}

} // namespace tensor

// Each function is rewritten into the whole, stage by stage; what is written into its readers is
// rewritten once more at the positions where they read it.
#include "lower/tensor/compose.h"

#include "lower/tensor/access.h"
#include "lower/tensor/fold.h"

#include <algorithm>
#include <set>

namespace tensor {

/// Adds one function.
class Adder {
public:
  Adder(Composition& whole, const TensorFunction& function, std::span<const Composed> operands,
        std::span<const ScalarNodes> resultShapes)
      : whole_(whole), function_(function), resultShapes_(resultShapes),
        tensors_(operands.begin(), operands.end()), readings_(readingsOf(function)) {}

  std::vector<Composed> run() {
    for (size_t i = 0; i < function_.stages.size(); ++i)
      addStage(function_.stages[i], function_.tensors[function_.inputCount + i]);
    std::vector<Composed> results;
    for (uint32_t result : function_.results)
      results.push_back(tensors_[result]);
    return results;
  }

private:
  Arena& arena() { return whole_.arena(); }

  void addStage(const Stage& stage, const TensorInfo& info) {
    Rewriter rewriter = fresh();
    ScalarNodes shape = rewriter.rewrittenAll(info.shape);
    Stage made = stage;
    if (stage.kind != StageKind::Map) {
      made.source = whole_.tensorOf(tensors_[stage.source], shapeOf(rewriter, stage.source));
    } else {
      made.axes = rewriter.freshAxes(stage.axes);
      made.body = rewriter.rewritten(stage.body);
    }
    tensors_.push_back({whole_.addStage(made, {info.dtype, std::move(shape)})});
  }

  ScalarNodes shapeOf(Rewriter& rewriter, uint32_t tensor) {
    return rewriter.rewrittenAll(function_.tensors[tensor].shape);
  }

  Rewriter fresh() {
    return {whole_.nodes_,
            whole_.nextAxis_,
            {[this](const ScalarSize& size) { return extentOf(function_.sizes[size.number]); },
             [this](const ScalarLoad& load, const ScalarNodes& position,
                    const ScalarNode* outside) { return loaded(load, position, outside); }}};
  }

  const ScalarNode* extentOf(const SizeParameter& size) {
    if (size.isOfResult)
      return resultShapes_[size.tensor][size.dim];
    return whole_.function_.tensors[tensors_[size.tensor].tensor].shape[size.dim];
  }

  const ScalarNode* loaded(const ScalarLoad& load, const ScalarNodes& position,
                           const ScalarNode* outside) {
    const Composed& operand = tensors_[load.tensor];
    const ScalarNode* inside = operand.everywhere;
    if (!inside && isWritten(load.tensor))
      inside = elementOf(operand.tensor, position);
    if (!inside)
      return whole_.nodes_.unique(arena().make<ScalarLoad>(ScalarNode{ScalarKind::Load, load.dtype},
                                                           operand.tensor, arena().copy(position),
                                                           outside));
    return outside ? chosen(load.tensor, position, inside, outside) : inside;
  }

  /// Whether a tensor is written into this function in place of being made.
  bool isWritten(uint32_t tensor) {
    constexpr size_t mostNodes = 1024, mostReaders = 3;
    const TensorFunction& whole = whole_.function_;
    uint32_t made = tensors_[tensor].tensor;
    if (made < whole.inputCount || whole_.kept_.contains(made))
      return false;
    const Stage& stage = whole.stages[made - whole.inputCount];
    const Reading& reading = readings_[tensor];
    if (stage.kind != StageKind::Map || reading.isWhole || reading.isViewed || reading.isReused)
      return false;
    auto [known, isNew] = work_.try_emplace(made);
    if (isNew)
      known->second = workOf(stage.body);
    const Work& work = known->second;
    size_t readers = reading.positions.size();
    bool isOnce = readers == 1 && !reading.isShared;
    // Loops that add up are the faster the less they read.
    bool isAgain =
        work.isCheap() && readers <= mostReaders && (!reading.isReduced || work.loads <= 1);
    return !work.reduces && work.nodes <= mostNodes && (isOnce || isAgain);
  }

  /// The element of a stage at a position.
  const ScalarNode* elementOf(uint32_t tensor, const ScalarNodes& position) {
    const TensorFunction& whole = whole_.function_;
    const Stage& stage = whole.stages[tensor - whole.inputCount];
    Rewriter at(
        whole_.nodes_, whole_.nextAxis_,
        {[this](const ScalarSize& size) { return arena().make<ScalarSize>(size); },
         [this](const ScalarLoad& load, const ScalarNodes& where, const ScalarNode* outside) {
           return whole_.nodes_.unique(arena().make<ScalarLoad>(
               static_cast<const ScalarNode&>(load), load.tensor, arena().copy(where), outside));
         }});
    for (size_t i = 0; i < position.size(); ++i)
      at.setIndex(stage.axes[i].number, position[i]);
    return at.rewritten(stage.body);
  }

  const ScalarNode* applied(ScalarFunction function, runtime::DType dtype, ScalarNodes operands) {
    return whole_.nodes_.unique(makeApply(arena(), function, dtype, operands));
  }

  /// `inside` at positions in the tensor, else `outside`.
  const ScalarNode* chosen(uint32_t tensor, const ScalarNodes& position, const ScalarNode* inside,
                           const ScalarNode* outside) {
    Rewriter rewriter = fresh();
    ScalarNodes shape = shapeOf(rewriter, tensor);
    const ScalarNode* zero = whole_.nodes_.unique(makeInteger(arena(), 0));
    const ScalarNode* isInside = whole_.nodes_.unique(makeNumber(arena(), runtime::Bool, 1));
    for (size_t i = 0; i < position.size(); ++i) {
      const ScalarNode* isBehind =
          applied(ScalarFunction::GreaterEqual, runtime::Bool, {position[i], zero});
      const ScalarNode* isBefore =
          applied(ScalarFunction::Less, runtime::Bool, {position[i], shape[i]});
      isInside = applied(ScalarFunction::LogicalAnd, runtime::Bool, {isInside, isBehind});
      isInside = applied(ScalarFunction::LogicalAnd, runtime::Bool, {isInside, isBefore});
    }
    return applied(ScalarFunction::Select, inside->dtype, {isInside, inside, outside});
  }

  Composition& whole_;
  const TensorFunction& function_;
  std::span<const ScalarNodes> resultShapes_;
  /// What the tensors of the function are in the whole.
  std::vector<Composed> tensors_;
  std::vector<Reading> readings_;
  std::unordered_map<uint32_t, Work> work_;
};

Composed Composition::addInput(runtime::DType dtype, ScalarNodes shape) {
  function_.tensors.push_back({dtype, std::move(shape)});
  return {uint32_t(function_.inputCount++)};
}

std::vector<Composed> Composition::add(const TensorFunction& function,
                                       std::span<const Composed> operands,
                                       std::span<const ScalarNodes> resultShapes) {
  return Adder(*this, function, operands, resultShapes).run();
}

uint32_t Composition::addStage(Stage stage, TensorInfo info) {
  function_.stages.push_back(stage);
  function_.tensors.push_back(std::move(info));
  return uint32_t(function_.tensors.size() - 1);
}

uint32_t Composition::tensorOf(const Composed& operand, const ScalarNodes& shape) {
  if (!operand.everywhere)
    return operand.tensor;
  std::vector<LoopAxis> axes;
  for (const ScalarNode* extent : shape)
    axes.push_back({nextAxis_++, extent});
  Stage stage{.axes = arena().copy(axes), .body = operand.everywhere};
  return addStage(stage, {operand.everywhere->dtype, shape});
}

namespace {

/// Copies what results need, with tensors and axes numbered anew.
class Copier {
public:
  explicit Copier(const TensorFunction& from) : from_(from) {}

  TensorFunction run(std::span<const uint32_t> results) {
    for (uint32_t result : results)
      need(result);
    for (size_t i = from_.stages.size(); i-- > 0;)
      if (needed_.contains(uint32_t(from_.inputCount + i)))
        needSources(from_.stages[i]);
    for (size_t i = 0; i < from_.inputCount; ++i)
      copyTensor(uint32_t(i));
    made_.sizes = from_.sizes;
    made_.inputCount = from_.inputCount;
    for (size_t i = 0; i < from_.stages.size(); ++i)
      if (auto tensor = uint32_t(from_.inputCount + i); needed_.contains(tensor)) {
        copyStage(from_.stages[i]);
        copyTensor(tensor);
      }
    for (uint32_t result : results)
      made_.results.push_back(numbers_.at(result));
    return std::move(made_);
  }

private:
  void need(uint32_t tensor) { needed_.insert(tensor); }

  void needSources(const Stage& stage) {
    if (stage.kind != StageKind::Map)
      return need(stage.source);
    forEachNode(stage.body, [&](const ScalarNode& node) {
      if (const auto* load = node.as<ScalarLoad>())
        need(load->tensor);
    });
  }

  void copyTensor(uint32_t tensor) {
    numbers_.emplace(tensor, uint32_t(made_.tensors.size()));
    Rewriter rewriter = fresh();
    made_.tensors.push_back(
        {from_.tensors[tensor].dtype, rewriter.rewrittenAll(from_.tensors[tensor].shape)});
  }

  void copyStage(Stage stage) {
    Rewriter rewriter = fresh();
    if (stage.kind == StageKind::Map) {
      stage.axes = rewriter.freshAxes(stage.axes);
      stage.body = rewriter.rewritten(stage.body);
    } else {
      stage.source = numbers_.at(stage.source);
    }
    made_.stages.push_back(stage);
  }

  Rewriter fresh() {
    Arena& arena = *made_.arena;
    return {nodes_,
            nextAxis_,
            {[&](const ScalarSize& size) { return arena.make<ScalarSize>(size); },
             [&](const ScalarLoad& load, const ScalarNodes& position, const ScalarNode* outside) {
               return nodes_.unique(arena.make<ScalarLoad>(static_cast<const ScalarNode&>(load),
                                                           numbers_.at(load.tensor),
                                                           arena.copy(position), outside));
             }}};
  }

  const TensorFunction& from_;
  TensorFunction made_;
  UniqueNodes nodes_{*made_.arena};
  uint32_t nextAxis_ = 0;
  std::set<uint32_t> needed_;
  std::unordered_map<uint32_t, uint32_t> numbers_;
};

} // namespace

TensorFunction Composition::take(std::span<const Composed> results) {
  std::vector<uint32_t> tensors;
  for (const Composed& result : results)
    tensors.push_back(tensorOf(result, {}));
  return Copier(function_).run(tensors);
}

} // namespace tensor

// Bodies of stages are built again node by node, operands first, with a stack of its own, since
// expressions may be deep.
#include "lower/tensor/compose.h"

#include "lower/tensor/access.h"
#include "lower/tensor/fold.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <set>

namespace tensor {

namespace {

uint64_t mixed(uint64_t hash, uint64_t part) {
  return (hash ^ part) * 0x9E3779B97F4A7C15u + (hash >> 29);
}

uint64_t mixed(uint64_t hash, std::span<const ScalarNode* const> nodes) {
  for (const ScalarNode* node : nodes)
    hash = mixed(hash, uint64_t(std::bit_cast<uintptr_t>(node)));
  return hash;
}

uint64_t hashOf(const ScalarNode& node) {
  uint64_t hash = mixed(uint64_t(node.kind), uint64_t(node.dtype.code) << 8 | node.dtype.bits);
  if (const auto* number = node.as<ScalarNumber>())
    return mixed(mixed(hash, std::bit_cast<uint64_t>(number->real)), uint64_t(number->integer));
  if (const auto* index = node.as<ScalarIndex>())
    return mixed(hash, index->axis);
  if (const auto* extent = node.as<ScalarExtent>())
    return mixed(mixed(hash, extent->tensor), uint64_t(extent->dim) << 1 | extent->isOfResult);
  if (const auto* load = node.as<ScalarLoad>())
    return mixed(mixed(mixed(hash, load->tensor), load->position), {&load->outside, 1});
  if (const auto* apply = node.as<ScalarApply>())
    return mixed(mixed(hash, uint64_t(apply->function)), apply->operands);
  if (const auto* cast = node.as<ScalarCast>())
    return mixed(hash, {&cast->operand, 1});
  return mixed(hash, std::bit_cast<uintptr_t>(&node));
}

bool areEqual(const ScalarNode& a, const ScalarNode& b) {
  if (a.kind != b.kind || a.dtype != b.dtype)
    return false;
  if (const auto* number = a.as<ScalarNumber>()) {
    const auto* other = b.as<ScalarNumber>();
    return std::bit_cast<uint64_t>(number->real) == std::bit_cast<uint64_t>(other->real) &&
           number->integer == other->integer;
  }
  if (const auto* index = a.as<ScalarIndex>())
    return index->axis == b.as<ScalarIndex>()->axis;
  if (const auto* extent = a.as<ScalarExtent>()) {
    const auto* other = b.as<ScalarExtent>();
    return extent->isOfResult == other->isOfResult && extent->tensor == other->tensor &&
           extent->dim == other->dim;
  }
  if (const auto* load = a.as<ScalarLoad>()) {
    const auto* other = b.as<ScalarLoad>();
    return load->tensor == other->tensor && load->outside == other->outside &&
           std::ranges::equal(load->position, other->position);
  }
  if (const auto* apply = a.as<ScalarApply>()) {
    const auto* other = b.as<ScalarApply>();
    return apply->function == other->function &&
           std::ranges::equal(apply->operands, other->operands);
  }
  if (const auto* cast = a.as<ScalarCast>())
    return cast->operand == b.as<ScalarCast>()->operand;
  return &a == &b;
}

} // namespace

const ScalarNode* UniqueNodes::unique(const ScalarNode* node) {
  uint64_t hash = hashOf(*node);
  auto [first, end] = nodes_.equal_range(hash);
  auto known = std::find_if(first, end, [&](auto& each) { return areEqual(*each.second, *node); });
  return known != end ? known->second : nodes_.emplace(hash, node)->second;
}

namespace {

/// What becomes of the leaves of an expression.
struct Leaves {
  std::function<const ScalarNode*(const ScalarExtent&)> extent;
  std::function<const ScalarNode*(const ScalarLoad&, const ScalarNodes& position,
                                  const ScalarNode* outside)>
      load;
};

/// Builds expressions again; what it knows of one it keeps for the others.
class Rebuilder {
public:
  Rebuilder(UniqueNodes& nodes, uint32_t& nextAxis, Leaves leaves)
      : nodes_(nodes), nextAxis_(nextAxis), leaves_(std::move(leaves)) {}

  /// From here on an index along the axis is that node.
  void setIndex(uint32_t axis, const ScalarNode* node) { indices_[axis] = node; }

  LoopAxis freshAxis(const LoopAxis& axis) {
    LoopAxis made{nextAxis_++, rebuilt(axis.extent)};
    setIndex(axis.number, nodes_.unique(nodes_.arena().make<ScalarIndex>(
                              ScalarNode{ScalarKind::Index, runtime::Int64}, made.number)));
    return made;
  }

  std::span<const LoopAxis> freshAxes(std::span<const LoopAxis> axes) {
    std::vector<LoopAxis> made;
    for (const LoopAxis& axis : axes)
      made.push_back(freshAxis(axis));
    return nodes_.arena().copy(made);
  }

  const ScalarNode* rebuilt(const ScalarNode* root) {
    ScalarNodes stack{root};
    while (!stack.empty()) {
      const ScalarNode* node = stack.back();
      if (done_.contains(node)) {
        stack.pop_back();
        continue;
      }
      enter(node);
      size_t before = stack.size();
      forEachOperand(*node, [&](const ScalarNode* operand) {
        if (!done_.contains(operand))
          stack.push_back(operand);
      });
      if (stack.size() > before)
        continue;
      done_.emplace(node, make(*node));
      stack.pop_back();
    }
    return done_.at(root);
  }

  ScalarNodes rebuiltAll(std::span<const ScalarNode* const> roots) {
    ScalarNodes made;
    for (const ScalarNode* root : roots)
      made.push_back(rebuilt(root));
    return made;
  }

private:
  /// The loops of a reduction get their numbers before its body is built.
  void enter(const ScalarNode* node) {
    const auto* reduce = node->as<ScalarReduce>();
    if (reduce && !loops_.contains(reduce))
      loops_.emplace(reduce, freshAxes(reduce->axes));
  }

  ScalarNodes done(std::span<const ScalarNode* const> nodes) const {
    ScalarNodes made;
    for (const ScalarNode* node : nodes)
      made.push_back(done_.at(node));
    return made;
  }

  const ScalarNode* make(const ScalarNode& node) {
    Arena& arena = nodes_.arena();
    switch (node.kind) {
    case ScalarKind::Number:
      return nodes_.unique(arena.make<ScalarNumber>(*node.as<ScalarNumber>()));
    case ScalarKind::Index:
      return indices_.at(node.as<ScalarIndex>()->axis);
    case ScalarKind::Extent:
      return leaves_.extent(*node.as<ScalarExtent>());
    case ScalarKind::Load: {
      const auto* load = node.as<ScalarLoad>();
      return leaves_.load(*load, done(load->position),
                          load->outside ? done_.at(load->outside) : nullptr);
    }
    case ScalarKind::Apply: {
      const auto* apply = node.as<ScalarApply>();
      return nodes_.unique(makeApply(arena, apply->function, node.dtype, done(apply->operands)));
    }
    case ScalarKind::Cast:
      return nodes_.unique(makeCast(arena, done_.at(node.as<ScalarCast>()->operand), node.dtype));
    case ScalarKind::Reduce:
      break;
    }
    const auto* reduce = node.as<ScalarReduce>();
    return arena.make<ScalarReduce>(node, reduce->combiner, loops_.at(reduce),
                                    done_.at(reduce->body));
  }

  UniqueNodes& nodes_;
  uint32_t& nextAxis_;
  Leaves leaves_;
  std::unordered_map<uint32_t, const ScalarNode*> indices_;
  std::unordered_map<const ScalarReduce*, std::span<const LoopAxis>> loops_;
  std::unordered_map<const ScalarNode*, const ScalarNode*> done_;
};

} // namespace

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
    Rebuilder rebuilder = fresh();
    ScalarNodes shape = rebuilder.rebuiltAll(info.shape);
    Stage made = stage;
    if (stage.kind != StageKind::Map) {
      made.source = whole_.tensorOf(tensors_[stage.source], shapeOf(rebuilder, stage.source));
    } else {
      made.axes = rebuilder.freshAxes(stage.axes);
      made.body = rebuilder.rebuilt(stage.body);
    }
    tensors_.push_back({whole_.addStage(made, {info.dtype, std::move(shape)})});
  }

  ScalarNodes shapeOf(Rebuilder& rebuilder, uint32_t tensor) {
    return rebuilder.rebuiltAll(function_.tensors[tensor].shape);
  }

  Rebuilder fresh() {
    return {whole_.nodes_,
            whole_.nextAxis_,
            {[this](const ScalarExtent& extent) { return extentOf(extent); },
             [this](const ScalarLoad& load, const ScalarNodes& position,
                    const ScalarNode* outside) { return loaded(load, position, outside); }}};
  }

  const ScalarNode* extentOf(const ScalarExtent& extent) {
    if (extent.isOfResult)
      return resultShapes_[extent.tensor][extent.dim];
    return whole_.function_.tensors[tensors_[extent.tensor].tensor].shape[extent.dim];
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
    Rebuilder at(
        whole_.nodes_, whole_.nextAxis_,
        {[this](const ScalarExtent& extent) {
           return whole_.nodes_.unique(arena().make<ScalarExtent>(extent));
         },
         [this](const ScalarLoad& load, const ScalarNodes& where, const ScalarNode* outside) {
           return whole_.nodes_.unique(arena().make<ScalarLoad>(
               static_cast<const ScalarNode&>(load), load.tensor, arena().copy(where), outside));
         }});
    for (size_t i = 0; i < position.size(); ++i)
      at.setIndex(stage.axes[i].number, position[i]);
    return at.rebuilt(stage.body);
  }

  const ScalarNode* applied(ScalarFunction function, runtime::DType dtype, ScalarNodes operands) {
    return whole_.nodes_.unique(makeApply(arena(), function, dtype, operands));
  }

  /// `inside` at positions in the tensor, else `outside`.
  const ScalarNode* chosen(uint32_t tensor, const ScalarNodes& position, const ScalarNode* inside,
                           const ScalarNode* outside) {
    Rebuilder rebuilder = fresh();
    ScalarNodes shape = shapeOf(rebuilder, tensor);
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
    Rebuilder rebuilder = fresh();
    made_.tensors.push_back(
        {from_.tensors[tensor].dtype, rebuilder.rebuiltAll(from_.tensors[tensor].shape)});
  }

  void copyStage(Stage stage) {
    Rebuilder rebuilder = fresh();
    if (stage.kind == StageKind::Map) {
      stage.axes = rebuilder.freshAxes(stage.axes);
      stage.body = rebuilder.rebuilt(stage.body);
    } else {
      stage.source = numbers_.at(stage.source);
    }
    made_.stages.push_back(stage);
  }

  Rebuilder fresh() {
    Arena& arena = *made_.arena;
    return {nodes_,
            nextAxis_,
            {[&](const ScalarExtent& extent) {
               return nodes_.unique(arena.make<ScalarExtent>(extent));
             },
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

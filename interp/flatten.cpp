// Three walks over the graph of a stage: operands before users, to count uses and to find the loops
// that each node depends on; users before operands, to find how loops nest; and one for each block.
// All of them keep stacks of their own, since expressions may be deep.
#include "interp/flatten.h"

#include "runtime/scalar.h"

#include <algorithm>
#include <fmt/format.h>
#include <tuple>
#include <unordered_map>

namespace interp {

using namespace tensor;

namespace {

constexpr uint32_t noAxis = UINT32_MAX;

/// What is known of a node.
struct NodeFacts {
  uint32_t out = 0;
  uint32_t uses = 0;
  /// The axes of loops around it that it depends on.
  std::vector<uint32_t> axes = {};
  /// The innermost of them, or noAxis.
  uint32_t home = noAxis;
  /// Its own block, or noBlock when it stands in that of its user.
  uint32_t block = noBlock;
  bool isListed = false;
};

bool isLeaf(const ScalarNode* node) {
  return node->kind == tensor::ScalarKind::Number || node->kind == tensor::ScalarKind::Index;
}

/// Operands that are computed whenever the node is.
template <typename Visit>
void forEachEager(const ScalarNode* node, Visit&& visit) {
  if (const auto* load = node->as<tensor::ScalarLoad>())
    for (const ScalarNode* position : load->position)
      visit(position);
  if (const auto* apply = node->as<tensor::ScalarApply>()) {
    bool isSelect = apply->function == ScalarFunction::Select;
    for (const ScalarNode* operand : apply->operands.first(isSelect ? 1 : apply->operands.size()))
      visit(operand);
  }
  if (const auto* cast = node->as<tensor::ScalarCast>())
    visit(cast->operand);
  if (const auto* reduce = node->as<tensor::ScalarReduce>())
    for (const tensor::LoopAxis& axis : reduce->axes)
      visit(axis.extent);
}

/// The others.
template <typename Visit>
void forEachLazy(const ScalarNode* node, Visit&& visit) {
  if (const auto* load = node->as<tensor::ScalarLoad>(); load && load->outside)
    visit(load->outside);
  if (const auto* apply = node->as<tensor::ScalarApply>();
      apply && apply->function == ScalarFunction::Select) {
    visit(apply->operands[1]);
    visit(apply->operands[2]);
  }
  if (const auto* reduce = node->as<tensor::ScalarReduce>())
    visit(reduce->body);
}

class Flattener {
public:
  Flattener(const tensor::Stage& stage, const TensorInfo& result)
      : stage_(stage), result_(result) {}

  FlatStage run() {
    bool isMap = stage_.kind == tensor::StageKind::Map;
    std::vector<const ScalarNode*> extents = result_.shape, roots = extents;
    if (isMap) {
      for (const tensor::LoopAxis& axis : stage_.axes)
        roots.push_back(axis.extent);
      roots.push_back(stage_.body);
    }
    collect(roots);
    findHomes();
    makeOwnBlocks();
    for (const ScalarNode* node : order_)
      if (const auto* number = node->as<tensor::ScalarNumber>())
        flat_.numbers.push_back({facts_[node].out, number});
    for (const ScalarNode* extent : extents)
      flat_.extents.push_back(facts_[extent].out);
    flat_.prologue = addBlock(std::move(extents), {.action = Action::Return});
    if (isMap)
      addMap();
    for (uint32_t i = 0; i < work_.size(); ++i)
      emit(i);
    return std::move(flat_);
  }

private:
  /// A block still to be written: the nodes it is for, and how it ends.
  struct Work {
    std::vector<const ScalarNode*> nodes;
    Instruction end;
  };

  void addMap() {
    if (stage_.axes.size() != result_.shape.size() || stage_.body->dtype != result_.dtype)
      fail("a stage does not fit its tensor");
    for (const tensor::LoopAxis& axis : stage_.axes)
      flat_.loops.push_back(loopOf(axis));
    flat_.body = addBlock({stage_.body}, {.action = Action::Return});
    flat_.value = facts_[stage_.body].out;
  }

  uint32_t addBlock(std::vector<const ScalarNode*> nodes, Instruction end) {
    work_.push_back({std::move(nodes), end});
    flat_.blocks.push_back(0);
    return uint32_t(work_.size() - 1);
  }

  uint32_t axisRegister(uint32_t axis) {
    auto [found, isNew] = axes_.try_emplace(axis, flat_.registers);
    if (isNew)
      ++flat_.registers;
    return found->second;
  }

  /// Lists the nodes, operands before users, counts their users, and gives them registers.
  void collect(const std::vector<const ScalarNode*>& roots) {
    std::vector<std::pair<const ScalarNode*, bool>> stack;
    auto use = [&](const ScalarNode* operand) {
      ++facts_[operand].uses;
      stack.emplace_back(operand, false);
    };
    std::ranges::for_each(roots, use);
    while (!stack.empty()) {
      auto [node, isDone] = stack.back();
      stack.pop_back();
      if (isDone) {
        order_.push_back(node);
        continue;
      }
      NodeFacts& facts = facts_[node];
      if (std::exchange(facts.isListed, true))
        continue;
      const auto* index = node->as<tensor::ScalarIndex>();
      facts.out = index ? axisRegister(index->axis) : flat_.registers++;
      stack.emplace_back(node, true);
      forEachEager(node, use);
      forEachLazy(node, use);
    }
  }

  /// The loops that each node depends on, and the innermost of them. A reduction's axes lie inside
  /// of all axes that it depends on itself; its users come before it in the walk down.
  void findHomes() {
    for (const ScalarNode* node : order_)
      facts_[node].axes = axesOf(node);
    std::unordered_map<uint32_t, uint32_t> depths;
    if (stage_.kind == tensor::StageKind::Map)
      for (const tensor::LoopAxis& axis : stage_.axes)
        depths.emplace(axis.number, uint32_t(depths.size()) + 1);
    for (size_t i = order_.size(); i-- > 0;) {
      NodeFacts& facts = facts_[order_[i]];
      uint32_t depth = 0;
      for (uint32_t axis : facts.axes)
        if (auto found = depths.find(axis); found != depths.end() && found->second > depth) {
          depth = found->second;
          facts.home = axis;
        }
      if (const auto* reduce = order_[i]->as<tensor::ScalarReduce>())
        for (const tensor::LoopAxis& axis : reduce->axes)
          depths[axis.number] = ++depth;
    }
  }

  std::vector<uint32_t> axesOf(const ScalarNode* node) {
    if (const auto* index = node->as<tensor::ScalarIndex>())
      return {index->axis};
    std::vector<uint32_t> axes, joined;
    auto add = [&](const ScalarNode* operand) {
      const std::vector<uint32_t>& more = facts_[operand].axes;
      joined.clear();
      std::ranges::set_union(axes, more, std::back_inserter(joined));
      std::swap(axes, joined);
    };
    forEachLazy(node, add);
    if (const auto* reduce = node->as<tensor::ScalarReduce>())
      for (const tensor::LoopAxis& axis : reduce->axes)
        std::erase(axes, axis.number);
    forEachEager(node, add);
    return axes;
  }

  /// Gives blocks of their own to the nodes that need one, those of one loop in a row.
  void makeOwnBlocks() {
    std::vector<const ScalarNode*> own;
    auto consider = [&](const ScalarNode* node, uint32_t context) {
      NodeFacts& facts = facts_[node];
      if (!isLeaf(node) && facts.block == noBlock && (facts.uses > 1 || facts.home != context)) {
        facts.block = 0;
        own.push_back(node);
      }
    };
    for (const ScalarNode* node : order_) {
      uint32_t home = facts_[node].home, inner = home;
      if (const auto* reduce = node->as<tensor::ScalarReduce>(); reduce && !reduce->axes.empty())
        inner = reduce->axes.back().number;
      forEachEager(node, [&](const ScalarNode* operand) { consider(operand, home); });
      forEachLazy(node, [&](const ScalarNode* operand) { consider(operand, inner); });
    }
    if (stage_.kind == tensor::StageKind::Map)
      consider(stage_.body, stage_.axes.empty() ? noAxis : stage_.axes.back().number);
    std::ranges::stable_sort(own, {}, [&](const ScalarNode* node) { return facts_[node].home; });
    for (const ScalarNode* node : own) {
      NodeFacts& facts = facts_[node];
      facts.block = addBlock({node}, {.action = Action::Done});
      auto [range, isNew] = ranges_.try_emplace(facts.home, facts.block, facts.block);
      range->second.second = facts.block + 1;
    }
    flat_.ownBlocks = uint32_t(own.size());
  }

  FlatLoop loopOf(const tensor::LoopAxis& axis) {
    FlatLoop loop{axisRegister(axis.number), facts_[axis.extent].out};
    if (auto range = ranges_.find(axis.number); range != ranges_.end())
      std::tie(loop.firstBlock, loop.endBlock) = range->second;
    return loop;
  }

  /// Writes a block: the nodes that stand in it, operands before users.
  void emit(uint32_t block) {
    flat_.blocks[block] = uint32_t(flat_.code.size());
    Instruction end = work_[block].end;
    end.detail = end.action == Action::Done ? block : end.detail;
    std::vector<std::pair<const ScalarNode*, bool>> stack;
    for (const ScalarNode* node : work_[block].nodes)
      stack.emplace_back(node, false);
    while (!stack.empty()) {
      auto [node, isReady] = stack.back();
      stack.pop_back();
      const NodeFacts& facts = facts_[node];
      if (isReady) {
        emitNode(node);
      } else if (facts.block != noBlock && facts.block != block) {
        flat_.code.push_back({.action = Action::Need, .detail = facts.block});
      } else if (!isLeaf(node)) {
        stack.emplace_back(node, true);
        forEachEager(node, [&](const ScalarNode* operand) { stack.emplace_back(operand, false); });
      }
    }
    flat_.code.push_back(end);
  }

  void emitNode(const ScalarNode* node) {
    Instruction next{.type = node->dtype, .out = facts_[node].out};
    if (!node->dtype.isComputable())
      return fail(fmt::format("cannot compute with `{}`", runtime::dtypeName(node->dtype)));
    if (const auto* apply = node->as<tensor::ScalarApply>())
      emitApply(*apply, next);
    else if (const auto* load = node->as<tensor::ScalarLoad>())
      emitLoad(*load, next);
    else if (const auto* reduce = node->as<tensor::ScalarReduce>())
      emitReduce(*reduce, next);
    else if (node->kind == tensor::ScalarKind::Size)
      fail("an extent is not bound");
    else {
      const ScalarNode* operand = node->as<tensor::ScalarCast>()->operand;
      next.action = Action::Cast;
      next.from = operand->dtype;
      next.operands[0] = facts_[operand].out;
      flat_.code.push_back(next);
    }
  }

  void emitApply(const tensor::ScalarApply& apply, Instruction next) {
    next.function = apply.function;
    next.from = apply.operands[0]->dtype;
    for (size_t i = 0; i < 3; ++i)
      next.operands[i] = facts_[apply.operands[std::min(i, apply.operands.size() - 1)]].out;
    if (isOfBits(apply.function) && next.from.isFloat())
      fail(fmt::format("`{}` is not defined on `{}`", tensor::scalarFunctionName(apply.function),
                       runtime::dtypeName(next.from)));
    if (apply.function == ScalarFunction::Select) {
      Instruction branch = next;
      branch.action = Action::Branch;
      branch.detail = addBlock({apply.operands[1]}, {.action = Action::Return});
      addBlock({apply.operands[2]}, {.action = Action::Return});
      flat_.code.push_back(branch);
    }
    next.action = apply.function == ScalarFunction::Select        ? Action::Choose
                  : apply.function == ScalarFunction::Reinterpret ? Action::Reinterpret
                                                                  : Action::Apply;
    flat_.code.push_back(next);
  }

  void emitLoad(const tensor::ScalarLoad& load, Instruction next) {
    FlatLoad plan{load.tensor};
    for (const ScalarNode* position : load.position)
      plan.position.push_back(facts_[position].out);
    if (load.outside)
      plan.outside = addBlock({load.outside}, {.action = Action::Return});
    next.action = Action::Load;
    next.detail = uint32_t(flat_.loads.size());
    flat_.code.push_back(next);
    if (load.outside) {
      next.action = Action::Copy;
      next.operands[0] = facts_[load.outside].out;
      flat_.code.push_back(next);
    }
    flat_.loads.push_back(std::move(plan));
  }

  void emitReduce(const tensor::ScalarReduce& reduce, Instruction next) {
    next.action = Action::Reduce;
    next.detail = uint32_t(flat_.reduces.size());
    flat_.code.push_back(next);
    FlatReduce plan{reduce.combiner, reduce.body->dtype, reduce.dtype};
    for (const tensor::LoopAxis& axis : reduce.axes)
      plan.loops.push_back(loopOf(axis));
    plan.block = addBlock({reduce.body}, {.action = Action::Next, .detail = next.detail});
    plan.value = facts_[reduce.body].out;
    plan.out = next.out;
    flat_.reduces.push_back(std::move(plan));
  }

  void fail(std::string problem) {
    if (flat_.problem.empty())
      flat_.problem = std::move(problem);
  }

  /// Per loop, or noAxis for the stage: its blocks of their own.
  std::unordered_map<uint32_t, std::pair<uint32_t, uint32_t>> ranges_;
  const tensor::Stage& stage_;
  const TensorInfo& result_;
  FlatStage flat_;
  std::unordered_map<const ScalarNode*, NodeFacts> facts_;
  std::unordered_map<uint32_t, uint32_t> axes_;
  std::vector<const ScalarNode*> order_;
  std::vector<Work> work_;
};

} // namespace

FlatStage flatten(const tensor::Stage& stage, const TensorInfo& result) {
  return Flattener(stage, result).run();
}

} // namespace interp

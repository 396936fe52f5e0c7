// Needs go from users to operands: a reduction is needed where one of its users is and chooses it.
// A need is an expression of the element's position that fails nowhere; null where it always holds.
#include "lower/tensor/guard.h"

#include "lower/tensor/fold.h"
#include "lower/tensor/walk.h"

#include <unordered_map>

namespace tensor {

namespace {

using Nodes = std::vector<const ScalarNode*>;

class Guard {
public:
  explicit Guard(TensorFunction& function) : function_(function) {}

  const ScalarNode* guarded(const ScalarNode* root) {
    Nodes order = usersLast(root);
    needs_.clear();
    needs_[root] = nullptr;
    for (size_t i = order.size(); i-- > 0;)
      addNeeds(*order[i]);
    const ScalarNode* made = rebuilt(root);
    return isCyclic_ ? root : made;
  }

private:
  Arena& arena() { return *function_.arena; }

  /// All nodes below one, operands before users.
  static Nodes usersLast(const ScalarNode* root) {
    Nodes order, stack{root};
    std::unordered_map<const ScalarNode*, bool> isListed;
    while (!stack.empty()) {
      const ScalarNode* node = stack.back();
      auto [state, isNew] = isListed.try_emplace(node, false);
      if (isNew) {
        forEachOperand(*node, [&](const ScalarNode* operand) {
          if (!isListed.contains(operand))
            stack.push_back(operand);
        });
        continue;
      }
      stack.pop_back();
      if (!std::exchange(state->second, true))
        order.push_back(node);
    }
    return order;
  }

  const ScalarNode* apply(ScalarFunction function, Nodes operands) {
    return makeApply(arena(), function, runtime::Bool, operands);
  }

  /// One need, and then another one that may fail where the first does not hold.
  const ScalarNode* both(const ScalarNode* need, const ScalarNode* condition) {
    if (!need)
      return condition;
    return apply(ScalarFunction::Select, {need, condition, makeNumber(arena(), runtime::Bool, 0)});
  }

  /// Whether one need is another one with conditions besides.
  static bool isWithin(const ScalarNode* need, const ScalarNode* other) {
    while (need && need != other) {
      const auto* both = need->as<ScalarApply>();
      need = both && both->function == ScalarFunction::Select ? both->operands[0] : nullptr;
    }
    return need == other;
  }

  void addNeed(const ScalarNode* operand, const ScalarNode* need) {
    auto [known, isNew] = needs_.try_emplace(operand, need);
    if (isNew || isWithin(need, known->second))
      return;
    known->second = isWithin(known->second, need)
                        ? need
                        : apply(ScalarFunction::LogicalOr, {known->second, need});
  }

  /// What a node needs of its operands.
  void addNeeds(const ScalarNode& node) {
    const ScalarNode* need = needs_.at(&node);
    const auto* load = node.as<ScalarLoad>();
    const auto* chosen = node.as<ScalarApply>();
    if (chosen && chosen->function == ScalarFunction::Select) {
      const ScalarNode* condition = chosen->operands[0];
      addNeed(condition, need);
      addNeed(chosen->operands[1], both(need, condition));
      addNeed(chosen->operands[2], both(need, apply(ScalarFunction::LogicalNot, {condition})));
      return;
    }
    if (load && load->outside) {
      for (const ScalarNode* position : load->position)
        addNeed(position, need);
      addNeed(load->outside, both(need, isOutside(*load)));
      return;
    }
    forEachOperand(node, [&](const ScalarNode* operand) { addNeed(operand, need); });
  }

  const ScalarNode* isOutside(const ScalarLoad& load) {
    const ScalarNode* is = makeNumber(arena(), runtime::Bool, 0);
    for (size_t i = 0; i < load.position.size(); ++i) {
      const ScalarNode* extent = function_.tensors[load.tensor].shape[i];
      is = apply(ScalarFunction::LogicalOr,
                 {is, apply(ScalarFunction::Less, {load.position[i], makeInteger(arena(), 0)})});
      is = apply(ScalarFunction::LogicalOr,
                 {is, apply(ScalarFunction::GreaterEqual, {load.position[i], extent})});
    }
    return is;
  }

  // Nodes are made again, operands first.

  const ScalarNode* rebuilt(const ScalarNode* root) {
    Nodes stack{root};
    while (!stack.empty()) {
      const ScalarNode* node = stack.back();
      size_t before = stack.size();
      auto [done, isNew] = done_.try_emplace(node, nullptr);
      if (isNew) {
        forEachOperand(*node, [&](const ScalarNode* operand) { want(operand, stack); });
        if (const ScalarNode* need = needOf(node))
          want(need, stack);
      }
      if (stack.size() > before)
        continue;
      stack.pop_back();
      if (!done->second)
        done_[node] = remade(*node);
    }
    return done_.at(root);
  }

  /// A need may hang on what is needed; then there is no order to make them in.
  void want(const ScalarNode* node, Nodes& stack) {
    auto known = done_.find(node);
    if (known == done_.end())
      stack.push_back(node);
    else if (!known->second)
      isCyclic_ = true;
  }

  /// Of a reduction, where it is needed, unless that is everywhere.
  const ScalarNode* needOf(const ScalarNode* node) const {
    auto need = node->as<ScalarReduce>() ? needs_.find(node) : needs_.end();
    return need == needs_.end() ? nullptr : need->second;
  }

  Nodes remade(std::span<const ScalarNode* const> nodes) const {
    Nodes made;
    for (const ScalarNode* node : nodes)
      made.push_back(done_.at(node));
    return made;
  }

  const ScalarNode* remade(const ScalarNode& node) {
    if (const auto* load = node.as<ScalarLoad>())
      return arena().make<ScalarLoad>(node, load->tensor, arena().copy(remade(load->position)),
                                      load->outside ? done_.at(load->outside) : nullptr);
    if (const auto* apply = node.as<ScalarApply>())
      return arena().make<ScalarApply>(node, apply->function,
                                       arena().copy(remade(apply->operands)));
    if (const auto* cast = node.as<ScalarCast>())
      return arena().make<ScalarCast>(node, done_.at(cast->operand));
    if (const auto* reduce = node.as<ScalarReduce>()) {
      const ScalarNode* body = done_.at(reduce->body);
      if (const ScalarNode* need = needOf(&node))
        body = makeApply(arena(), ScalarFunction::Select, body->dtype,
                         Nodes{done_.at(need), body, makeNumber(arena(), body->dtype, 0)});
      return arena().make<ScalarReduce>(node, reduce->combiner, reduce->axes, body);
    }
    return &node;
  }

  TensorFunction& function_;
  std::unordered_map<const ScalarNode*, const ScalarNode*> needs_, done_;
  bool isCyclic_ = false;
};

} // namespace

TensorFunction withGuardedSums(const TensorFunction& function) {
  TensorFunction made = function;
  made.arena = std::make_shared<Arena>();
  for (Stage& stage : made.stages)
    if (stage.kind == StageKind::Map)
      stage.body = Guard(made).guarded(stage.body);
  return made;
}

} // namespace tensor

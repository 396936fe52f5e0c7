// One walk in the order of evaluation. A use inside of a branch or a nested function counts for the
// binding of the variable's own block that holds it, so only the last one is kept. But for
// arguments of calls: these may take long, or write into what nobody else holds.
#include "lang/ir/liveness.h"

#include "lang/ir/later_uses.h"
#include "lang/ir/walk.h"

#include <algorithm>

namespace lang {

class LivenessBuilder {
public:
  explicit LivenessBuilder(const Module& module) : places_(module.varCount) {
    for (const Global* global : module.globals)
      if (global->function)
        addFunction(*global->function);
  }

  Liveness take() { return std::move(liveness_); }

private:
  static constexpr size_t inResult = SIZE_MAX;

  /// A block in progress: its binding `next - 1` is being walked.
  struct Open {
    const Block* block;
    size_t next = 0;
    bool isOfFunction = false;
    std::vector<const Var*> bound = {};
    /// Variables of blocks around that a binding uses last, with its number.
    std::vector<std::pair<size_t, const Var*>> arguments = {};
  };
  struct Place {
    size_t depth = 0;
    size_t lastUse = 0;
  };

  void open(const Block& block, bool isOfFunction = false) {
    stack_.push_back({&block, 0, isOfFunction});
  }

  /// Makes a variable one of the block at `depth`; unused, it dies with binding `at`.
  void bind(const Var& var, size_t depth, size_t at) {
    places_[var.number] = {depth, at};
    stack_[depth].bound.push_back(&var);
  }

  void use(const Operand& operand, bool isResult) {
    const auto* var = operand.value->as<Var>();
    if (!var)
      return;
    Place& place = places_[var->number];
    bool isOwnResult = isResult && place.depth + 1 == stack_.size();
    place.lastUse = isOwnResult ? inResult : stack_[place.depth].next - 1;
  }

  /// Whether nothing needs an argument of the call at hand behind it, which is a variable of a
  /// block around. Blocks that wait for their turn do not count.
  bool diesInBranch(const Var& var) const {
    for (size_t i = stack_.size(); i-- > places_[var.number].depth;) {
      if (stack_[i].next == 0)
        continue;
      bool isOther = stack_[i].isOfFunction && i > places_[var.number].depth;
      if (isOther || later_.isUsedBehind(var, stack_[i].block->bindings[stack_[i].next - 1]))
        return false;
    }
    return true;
  }

  void noteArguments(const Binding& binding) {
    const auto* call = binding.value->as<Call>();
    for (size_t i = 0; call && i < call->arguments.size(); ++i) {
      const auto* var = call->arguments[i].value->as<Var>();
      if (var && places_[var->number].depth + 1 < stack_.size() && diesInBranch(*var))
        stack_.back().arguments.emplace_back(stack_.back().next - 1, var);
    }
  }

  void addFunction(const Function& function) {
    later_ = {};
    later_.see(*function.body);
    open(*function.body, true);
    for (const Var* parameter : function.parameters)
      bind(*parameter, 0, 0);
    while (!stack_.empty())
      step();
  }

  void step() {
    size_t depth = stack_.size() - 1;
    if (stack_[depth].next == stack_[depth].block->bindings.size()) {
      use(stack_[depth].block->result, true);
      close();
      return;
    }
    const Binding& binding = stack_[depth].block->bindings[stack_[depth].next++];
    bind(*binding.var, depth, stack_[depth].next - 1);
    if (binding.value->isAtom())
      use({binding.value, binding.value->range}, false);
    forEachOperand(*binding.value, [&](const Operand& operand) { use(operand, false); });
    noteArguments(binding);
    openNested(*binding.value);
  }

  /// Opens the blocks inside of a value one above the other; which of them runs first makes no
  /// difference, since their uses count for the same binding.
  void openNested(const Expr& value) {
    bool isFunction = value.kind == ExprKind::Function;
    forEachBlock(value, [&](const Block& block) { open(block, isFunction); });
    if (const auto* function = value.as<Function>())
      for (const Var* parameter : function->parameters)
        bind(*parameter, stack_.size() - 1, 0);
    if (const auto* match = value.as<Match>())
      for (size_t i = 0; i < match->arms.size(); ++i)
        forEachPatternVar(*match->arms[i].pattern, [&](const Var& var) {
          bind(var, stack_.size() - match->arms.size() + i, 0);
        });
  }

  void close() {
    Open done = std::move(stack_.back());
    stack_.pop_back();
    if (done.block->bindings.empty())
      return;
    std::vector<std::pair<size_t, const Var*>>& dying = done.arguments;
    for (const Var* var : done.bound)
      if (places_[var->number].lastUse != inResult)
        dying.emplace_back(places_[var->number].lastUse, var);
    std::ranges::stable_sort(dying, {}, &std::pair<size_t, const Var*>::first);
    Deaths& deaths = liveness_[done.block];
    for (const auto& [at, var] : dying)
      deaths.vars_.push_back(var);
    for (size_t i = 0, at = 0; i < done.block->bindings.size(); ++i) {
      while (at < dying.size() && dying[at].first <= i)
        ++at;
      deaths.ends_.push_back(at);
    }
  }

  Liveness liveness_;
  LaterUses later_;
  std::vector<Place> places_;
  std::vector<Open> stack_;
};

Liveness findLiveness(const Module& module) {
  return LivenessBuilder(module).take();
}

} // namespace lang

// One walk in the order of evaluation. A use inside of a branch or a nested function counts for the
// binding of the variable's own block that holds it, so only the last one is kept.
#include "lang/liveness.h"

#include "lang/walk.h"

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
    std::vector<const Var*> bound = {};
  };
  struct Place {
    size_t depth = 0;
    size_t lastUse = 0;
  };

  void open(const Block& block) { stack_.push_back({&block}); }

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

  void addFunction(const Function& function) {
    open(*function.body);
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
    openNested(*binding.value);
  }

  /// Opens the blocks inside of a value one above the other; which of them runs first makes no
  /// difference, since their uses count for the same binding.
  void openNested(const Expr& value) {
    forEachBlock(value, [&](const Block& block) { open(block); });
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
    std::erase_if(done.bound,
                  [&](const Var* var) { return places_[var->number].lastUse == inResult; });
    std::ranges::stable_sort(done.bound, {},
                             [&](const Var* var) { return places_[var->number].lastUse; });
    Deaths& deaths = liveness_[done.block];
    for (size_t i = 0, at = 0; i < done.block->bindings.size(); ++i) {
      while (at < done.bound.size() && places_[done.bound[at]->number].lastUse <= i)
        ++at;
      deaths.ends_.push_back(at);
    }
    deaths.vars_ = std::move(done.bound);
  }

  Liveness liveness_;
  std::vector<Place> places_;
  std::vector<Open> stack_;
};

Liveness findLiveness(const Module& module) {
  return LivenessBuilder(module).take();
}

} // namespace lang

// The order of checking: strongly connected groups of globals, callees first.
#include "typecheck/check.h"

#include "lang/walk.h"
#include "typecheck/infer.h"

namespace typecheck {

using lang::Global;

namespace {

/// Tarjan's algorithm with an explicit stack; groups come out callees first.
class Groups {
public:
  explicit Groups(const lang::Module& module) : module_(module), states_(module.globals.size()) {
    for (size_t i = 0; i < module.globals.size(); ++i)
      states_[module.globals[i]->number].global = module.globals[i];
  }

  std::vector<std::vector<const Global*>> find() {
    for (const Global* global : module_.globals)
      if (states_[global->number].index == 0)
        visit(global->number);
    return std::move(groups_);
  }

private:
  struct State {
    const Global* global = nullptr;
    std::vector<uint32_t> callees;
    size_t next = 0;
    uint32_t index = 0;
    uint32_t low = 0;
    bool onStack = false;
  };

  void enter(uint32_t number) {
    State& state = states_[number];
    state.index = state.low = ++counter_;
    state.onStack = true;
    component_.push_back(number);
    path_.push_back(number);
    lang::walk(
        *state.global->function->body, [](const lang::Binding&) {},
        [&](const lang::Operand& operand) {
          if (const auto* callee = operand.value->as<Global>())
            state.callees.push_back(callee->number);
        });
  }

  void visit(uint32_t start) {
    enter(start);
    while (!path_.empty()) {
      State& state = states_[path_.back()];
      if (state.next < state.callees.size()) {
        State& callee = states_[state.callees[state.next++]];
        if (callee.index == 0)
          enter(callee.global->number);
        else if (callee.onStack)
          state.low = std::min(state.low, callee.index);
        continue;
      }
      leave();
    }
  }

  void leave() {
    uint32_t number = path_.back();
    path_.pop_back();
    State& state = states_[number];
    if (!path_.empty())
      states_[path_.back()].low = std::min(states_[path_.back()].low, state.low);
    if (state.low != state.index)
      return;
    std::vector<const Global*> group;
    uint32_t member = 0;
    do {
      member = component_.back();
      component_.pop_back();
      states_[member].onStack = false;
      group.push_back(states_[member].global);
    } while (member != number);
    groups_.push_back(std::move(group));
  }

  const lang::Module& module_;
  std::vector<State> states_;
  std::vector<uint32_t> component_;
  std::vector<uint32_t> path_;
  std::vector<std::vector<const Global*>> groups_;
  uint32_t counter_ = 0;
};

} // namespace

lang::Typing checkModule(const lang::Module& module, const lang::OperatorTable& operators,
                         lang::Diagnostics& diagnostics) {
  Inference inference(module, operators, diagnostics);
  for (const auto& group : Groups(module).find())
    inference.inferGroup(group);
  return std::move(inference.typing);
}

} // namespace typecheck

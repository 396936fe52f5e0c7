// Slots are numbered in the order in which variables are bound.
#include "lang/ir/frames.h"

#include "lang/ir/walk.h"

namespace lang {

Frames::Frames(const Module& module)
    : layouts_(module.functionCount), owners_(module.varCount), slots_(module.varCount) {
  for (const Global* global : module.globals)
    if (global->function)
      addFunction(*global->function);
  std::vector<std::vector<const Var*>> free = freeVariables(module).of;
  for (size_t i = 0; i < free.size(); ++i) {
    for (uint32_t j = 0; j < free[i].size(); ++j)
      captured_.emplace(placeOf(i, *free[i][j]), uint32_t(layouts_[i].own.size()) + j);
    layouts_[i].captures = std::move(free[i]);
  }
}

void Frames::own(const Function& function, const Var& var) {
  owners_[var.number] = function.number;
  std::vector<const Var*>& own = layouts_[function.number].own;
  slots_[var.number] = uint32_t(own.size());
  own.push_back(&var);
}

/// Numbers what a function binds outside of nested functions, and then those, from a list.
void Frames::addFunction(const Function& root) {
  std::vector<const Function*> functions{&root};
  while (!functions.empty()) {
    const Function& function = *functions.back();
    functions.pop_back();
    for (const Var* parameter : function.parameters)
      own(function, *parameter);
    std::vector<const Block*> blocks{function.body};
    while (!blocks.empty()) {
      const Block& block = *blocks.back();
      blocks.pop_back();
      for (const Binding& binding : block.bindings) {
        own(function, *binding.var);
        if (const auto* nested = binding.value->as<Function>()) {
          functions.push_back(nested);
          continue;
        }
        if (const auto* match = binding.value->as<Match>())
          for (const Arm& arm : match->arms)
            forEachPatternVar(*arm.pattern, [&](const Var& var) { own(function, var); });
        forEachBlock(*binding.value, [&](const Block& inner) { blocks.push_back(&inner); });
      }
    }
  }
}

} // namespace lang

// Slots are numbered in the order in which variables are bound.
#include "interp/frames.h"

#include "lang/walk.h"

#include <algorithm>

namespace interp {

Frames::Frames(const lang::Module& module)
    : layouts_(module.functionCount), owners_(module.varCount), slots_(module.varCount) {
  for (const lang::Global* global : module.globals)
    if (global->function)
      addFunction(*global->function);
  std::vector<std::vector<const lang::Var*>> free = lang::freeVariables(module).of;
  for (size_t i = 0; i < free.size(); ++i)
    layouts_[i].captures = std::move(free[i]);
}

void Frames::own(const lang::Function& function, const lang::Var& var) {
  owners_[var.number] = function.number;
  slots_[var.number] = layouts_[function.number].ownSlots++;
}

/// Numbers what a function binds outside of nested functions, and then those, from a list.
void Frames::addFunction(const lang::Function& root) {
  std::vector<const lang::Function*> functions{&root};
  while (!functions.empty()) {
    const lang::Function& function = *functions.back();
    functions.pop_back();
    for (const lang::Var* parameter : function.parameters)
      own(function, *parameter);
    std::vector<const lang::Block*> blocks{function.body};
    while (!blocks.empty()) {
      const lang::Block& block = *blocks.back();
      blocks.pop_back();
      for (const lang::Binding& binding : block.bindings) {
        own(function, *binding.var);
        if (const auto* nested = binding.value->as<lang::Function>()) {
          functions.push_back(nested);
          continue;
        }
        if (const auto* match = binding.value->as<lang::Match>())
          for (const lang::Arm& arm : match->arms)
            lang::forEachPatternVar(*arm.pattern,
                                    [&](const lang::Var& var) { own(function, var); });
        lang::forEachBlock(*binding.value,
                           [&](const lang::Block& inner) { blocks.push_back(&inner); });
      }
    }
  }
}

size_t Frames::slot(const lang::Function& function, const lang::Var& var) const {
  if (owners_[var.number] == function.number)
    return slots_[var.number];
  const FrameLayout& own = layouts_[function.number];
  auto found = std::ranges::find(own.captures, &var);
  return own.ownSlots + size_t(found - own.captures.begin());
}

} // namespace interp

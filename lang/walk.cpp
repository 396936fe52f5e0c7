// Free variables. A variable has one binder, so it is enough to know which variables are bound
// anywhere inside: those used and not bound are free.
#include "lang/walk.h"

#include <unordered_set>

namespace lang {

std::vector<const Var*> freeVariables(const Function& function) {
  std::unordered_set<const Var*> known;
  std::vector<const Var*> used;
  auto bindAll = [&](const Function& inner) {
    for (const Var* parameter : inner.parameters)
      known.insert(parameter);
  };
  auto onBinding = [&](const Binding& binding) {
    known.insert(binding.var);
    if (const auto* inner = binding.value->as<Function>())
      bindAll(*inner);
    if (const auto* match = binding.value->as<Match>())
      for (const Arm& arm : match->arms)
        forEachPatternVar(*arm.pattern, [&](const Var& var) { known.insert(&var); });
  };
  auto onOperand = [&](const Operand& operand) {
    if (const auto* var = operand.value->as<Var>())
      used.push_back(var);
  };
  bindAll(function);
  walk(*function.body, onBinding, onOperand);
  std::vector<const Var*> result;
  for (const Var* var : used)
    if (known.insert(var).second)
      result.push_back(var);
  return result;
}

} // namespace lang

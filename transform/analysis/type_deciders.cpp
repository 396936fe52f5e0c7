// Operators may be called through variables, whose types then name them.
#include "transform/analysis/type_deciders.h"

#include "lang/ir/walk.h"
#include "lang/op/op.h"

namespace transform {

using namespace lang;

std::vector<bool> typeDeciders(const Module& module, const Typing& typing) {
  std::vector<bool> decides(module.varCount);
  auto look = [&](const Binding& binding) {
    const auto* call = binding.value->as<Call>();
    if (!call)
      return;
    const auto* op = call->callee.value->as<OperatorRef>();
    const Type* type = typing.of(*call->callee.value);
    const OperatorRow* row = op ? op->row : type ? type->op : nullptr;
    if (!row || row->shapeNeeds != ShapeNeeds::Constants)
      return;
    for (const Operand& argument : call->arguments)
      if (const auto* var = argument.value->as<Var>())
        decides[var->number] = true;
  };
  walk(module, look, [](const Operand&) {});
  return decides;
}

} // namespace transform

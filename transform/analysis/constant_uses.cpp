// Blocks are gone through from the outside, so what a value is made of is known before it.
#include "transform/analysis/constant_uses.h"

#include "lang/ir/walk.h"
#include "lang/op/op.h"
#include "transform/analysis/use_counts.h"

namespace transform {

using namespace lang;

void forEachBlockOf(const Module& module, runtime::FunctionRef<void(const Block&)> visit) {
  std::vector<const Block*> blocks;
  for (const Global* global : module.globals)
    if (global->function)
      blocks.push_back(global->function->body);
  while (!blocks.empty()) {
    const Block& block = *blocks.back();
    blocks.pop_back();
    visit(block);
    for (const Binding& binding : block.bindings)
      forEachBlock(*binding.value, [&](const Block& inner) { blocks.push_back(&inner); });
  }
}

ConstantUses::ConstantUses(const Module& module)
    : mentions_(countUses(module).mentions), bindings_(module.varCount), users_(module.varCount),
      isConstant_(module.varCount) {
  auto addAll = [&](const Block& block) {
    for (const Binding& binding : block.bindings)
      add(binding);
  };
  forEachBlockOf(module, addAll);
}

bool ConstantUses::isConstant(const Expr& atom) const {
  const auto* var = atom.as<Var>();
  return var ? isConstant_[var->number] : atom.kind == ExprKind::Constant;
}

void ConstantUses::add(const Binding& binding) {
  const Expr& value = *binding.value;
  bindings_[binding.var->number] = &binding;
  bool areConstant = true;
  forEachOperand(value, [&](const Operand& operand) {
    if (const auto* var = operand.value->as<Var>())
      users_[var->number] = &binding;
    areConstant &= operand.value->kind == ExprKind::Operator || isConstant(*operand.value);
  });
  const auto* call = value.as<Call>();
  const auto* op = call ? call->callee.value->as<OperatorRef>() : nullptr;
  bool isMade = value.kind == ExprKind::Tuple || value.kind == ExprKind::Project ||
                (op && op->row->action == Action::Compute);
  isConstant_[binding.var->number] = value.isAtom() ? isConstant(value) : areConstant && isMade;
}

void ConstantUses::forget(const Expr& used) {
  std::vector<const Expr*> stack{&used};
  while (!stack.empty()) {
    const auto* var = stack.back()->as<Var>();
    stack.pop_back();
    if (!var || !isConstant_[var->number] || --mentions_[var->number] > 0)
      continue;
    const Expr& value = *bindings_[var->number]->value;
    if (value.isAtom())
      stack.push_back(&value);
    forEachOperand(value, [&](const Operand& operand) { stack.push_back(operand.value); });
  }
}

} // namespace transform

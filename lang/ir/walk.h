// Walking the core IR: the parts of one expression, and everything below a block, function or
// module in the order of evaluation.
//
// Nothing here recurses, so neither long programs nor deep ones matter. Expressions inside
// attributes are no operands and are not visited.
#pragma once

#include "lang/ir/module.h"

#include <algorithm>
#include <functional>

namespace lang {

/// Calls `visit(const Operand&)` for the operands of one expression in the order of the text; an
/// atom has none. Nested blocks are not entered.
template <typename Visit>
void forEachOperand(const Expr& expr, Visit&& visit) {
  match(
      expr, [](const Expr&) {},
      [&](const TupleExpr& tuple) {
        for (const Operand& field : tuple.fields)
          visit(field);
      },
      [&](const Project& project) { visit(project.tuple); },
      [&](const Call& call) {
        visit(call.callee);
        for (const Operand& argument : call.arguments)
          visit(argument);
      },
      [&](const If& branch) { visit(branch.condition); },
      [&](const Match& match) { visit(match.scrutinee); },
      [&](const RefNew& ref) { visit(ref.content); },
      [&](const RefRead& ref) { visit(ref.reference); },
      [&](const RefWrite& ref) {
        visit(ref.reference);
        visit(ref.value);
      });
}

/// Calls `visit` for the atoms that the attributes of an expression hold; they are no operands.
void forEachAttributeAtom(const Expr& expr, const std::function<void(const Expr&)>& visit);

/// Calls `visit(const Block&)` for the blocks right inside an expression, in the order of the text.
template <typename Visit>
void forEachBlock(const Expr& expr, Visit&& visit) {
  match(
      expr, [](const Expr&) {},
      [&](const If& branch) {
        visit(*branch.thenBlock);
        visit(*branch.elseBlock);
      },
      [&](const Match& match) {
        for (const Arm& arm : match.arms)
          visit(*arm.body);
      },
      [&](const Function& function) { visit(*function.body); },
      [&](const BlockExpr& block) { visit(*block.block); });
}

/// Calls `visit(const Var&)` for the variables that a pattern binds, left to right.
template <typename Visit>
void forEachPatternVar(const Pattern& pattern, Visit&& visit) {
  std::vector<const Pattern*> stack{&pattern};
  while (!stack.empty()) {
    const Pattern* top = stack.back();
    stack.pop_back();
    if (top->var)
      visit(*top->var);
    stack.insert(stack.end(), top->parts.rbegin(), top->parts.rend());
  }
}

/// Visits every binding below a block, `onBinding(const Binding&)` before its parts, and every
/// operand, `onOperand(const Operand&)`, block results and atoms as values included.
template <typename OnBinding, typename OnOperand>
void walk(const Block& root, OnBinding&& onBinding, OnOperand&& onOperand) {
  struct Frame {
    const Block* block;
    size_t next = 0;
  };
  std::vector<Frame> stack{{&root}};
  while (!stack.empty()) {
    Frame& frame = stack.back();
    if (frame.next == frame.block->bindings.size()) {
      onOperand(frame.block->result);
      stack.pop_back();
      continue;
    }
    const Binding& binding = frame.block->bindings[frame.next++];
    onBinding(binding);
    if (binding.value->isAtom())
      onOperand(Operand{binding.value, binding.value->range});
    forEachOperand(*binding.value, onOperand);
    size_t nested = stack.size();
    forEachBlock(*binding.value, [&](const Block& block) { stack.push_back({&block}); });
    std::reverse(stack.begin() + ptrdiff_t(nested), stack.end());
  }
}

/// The same for all functions of a module.
template <typename OnBinding, typename OnOperand>
void walk(const Module& module, OnBinding&& onBinding, OnOperand&& onOperand) {
  for (const Global* global : module.globals)
    if (global->function)
      walk(*global->function->body, onBinding, onOperand);
}

/// For each function of a module the variables that it uses and does not bind, in the order of
/// their first use. `steps` counts what was looked at to find them; it is bounded by the bindings
/// and uses of the module and the variables found.
struct FreeVariables {
  /// By Function::number.
  std::vector<std::vector<const Var*>> of;
  uint64_t steps = 0;
};
FreeVariables freeVariables(const Module& module);

} // namespace lang

// Recursion follows the nesting of blocks, which the reader bounds.
#include "vm/bytecode/branch_compiler.h"
#include "vm/bytecode/block_compiler.h"

#include <algorithm>

namespace bytecode {

using namespace lang;

void BranchCompiler::branch(Scope& scope, const Binding& binding, const If& value, bool isLast) {
  Label otherwise = state_.code.newLabel(), end = state_.code.newLabel();
  // Where a recursion goes on is the likelier way, and staying on it is cheaper than a jump.
  bool isThenFirst = state_.usage.calls(*value.thenBlock) || !state_.usage.calls(*value.elseBlock);
  const Block *first = value.thenBlock, *second = value.elseBlock;
  if (!jumpUnless(scope, value, isThenFirst, otherwise))
    std::swap(first, second);
  uint16_t target = targetFor(scope, isLast);
  const auto before = snapshot();
  inner(scope, binding, *first, isLast, target);
  if (!(isLast && scope.isTail))
    state_.code.jump(end);
  restore(before);
  state_.code.place(otherwise);
  inner(scope, binding, *second, isLast, target);
  state_.code.place(end);
  finish(scope, binding, isLast, target);
}

/// Goes to `otherwise` unless the condition is as it should be; gives what that is, which is True
/// where a comparison cannot be turned round.
bool BranchCompiler::jumpUnless(Scope& scope, const If& value, bool holds, Label otherwise) {
  const auto* var = value.condition.value->as<Var>();
  if (var && !holding_.find(*var)) {
    const Binding& compared = scope.block.bindings[scope.at - 1];
    Comparison comparison = *scalars_.comparison(compared);
    auto opposite = holds ? std::nullopt : oppositeOf(comparison);
    if (opposite)
      comparison.function = *opposite;
    std::span<const Operand> operands = compared.value->as<Call>()->arguments;
    state_.origin(compared.value->range);
    ScalarOperand left = scalars_.operandOf(operands[comparison.left]),
                  right = scalars_.operandOf(operands[comparison.right]);
    if (!jumpUnlessHolds(state_.code, comparison, left, right, otherwise))
      jumpUnlessHolds(state_.code, comparison, scalars_.inRegister(left),
                      scalars_.inRegister(right), otherwise);
    holding_.freeTemporaries();
    return !opposite;
  }
  uint16_t reg = holding_.look(value.condition);
  if (state_.made.layouts.boxesScalars) {
    vm::HostSite site{.kind = SiteKind::Unbox, .range = value.condition.range};
    uint16_t operand = reg;
    reg = state_.hostCall(std::move(site), {&operand, 1}, {reference},
                          Rep{Hold::Scalar, runtime::Bool});
    holding_.addTemporary(reg);
  }
  state_.code.jumpUnless(reg, holds, otherwise);
  holding_.freeTemporaries();
  return holds;
}

void BranchCompiler::restore(const Snapshot& snapshot) {
  holding_.restore(snapshot.holding);
  memory_.restore(snapshot.memory);
}

/// The register for the result of branches; none in a tail.
uint16_t BranchCompiler::targetFor(Scope& scope, bool isLast) {
  if (isLast && scope.isTail)
    return vm::none;
  return isLast ? scope.target : state_.registers.take();
}

void BranchCompiler::finish(Scope& scope, const Binding& binding, bool isLast, uint16_t target) {
  if (!(isLast && scope.isTail)) {
    state_.registers.take(target);
    holding_.define(scope, binding, state_.rep(state_.typeOf(*binding.var)), target);
  }
}

void BranchCompiler::inner(Scope& scope, const Binding& binding, const Block& inside, bool isLast,
                           uint16_t target) {
  Scope own{.block = inside,
            .level = scope.level + 1,
            .isTail = isLast && scope.isTail,
            .target = target,
            .wanted = state_.typeOf(*binding.var)};
  enter(scope, own);
  blocks_.block(own);
}

/// What is not needed after the branches is the branch's to give up: at once, unless it uses it.
void BranchCompiler::enter(Scope& outer, Scope& own) {
  std::vector<const Var*> dying = holding_.dyingWithBranches(outer);
  for (const Var* var : dying)
    if (state_.usage.last(own.block, *var))
      holding_.held(*var).level = own.level;
  for (const Var* var : dying)
    if (!state_.usage.last(own.block, *var))
      holding_.giveUp(*var, memory_.tokenFor(own, *var));
  memory_.enterBranch(outer, own);
}

} // namespace bytecode

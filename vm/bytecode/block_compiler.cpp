// Bindings that another one does the work of are passed over.
#include "vm/bytecode/block_compiler.h"

namespace bytecode {

using namespace lang;

void BlockCompiler::block(Scope& scope) {
  std::span<const Binding> bindings = scope.block.bindings;
  for (scope.at = 0; scope.at < bindings.size(); ++scope.at) {
    const Binding& binding = bindings[scope.at];
    bool isLast = scope.at + 1 == bindings.size() && scope.block.result.value == binding.var &&
                  !state_.made.boundaries->typeOf(*binding.var);
    if (isFused(scope, binding) || tuples_.isTaken(binding))
      continue;
    if (wrapped_.call(scope))
      return;
    state_.origin(binding.value->range);
    if (const auto* tuple = binding.value->as<TupleExpr>();
        tuple && isLast && scope.isTail && state_.isFlat())
      return calls_.returnTuple(scope, *tuple);
    memory_.reserve(scope);
    values_.value(scope, binding, isLast);
    if (isLast && scope.isTail && !holding_.find(*binding.var))
      return;
    tuples_.takeApart(scope, *binding.var);
  }
  finishBlock(scope);
}

void BlockCompiler::finishBlock(Scope& scope) {
  const Operand& result = scope.block.result;
  if (scope.isTail)
    return calls_.returnValue(scope, result);
  uint16_t reg = holding_.take(scope, result, scope.wanted, state_.environment, false);
  if (reg != scope.target)
    state_.code.emit(Op::Move, scope.target, reg);
  const auto* var = result.value->as<Var>();
  if (var && holding_.diesAt(scope, *var))
    holding_.giveUp(*var);
  holding_.freeTemporaries();
}

/// Whether the binding is a comparison of scalars that only the branch right behind it uses: then
/// that compares.
bool BlockCompiler::isFused(const Scope& scope, const Binding& binding) {
  std::span<const Binding> bindings = scope.block.bindings;
  if (scope.at + 1 >= bindings.size() || state_.usage.count(*binding.var) != 1 ||
      state_.made.boundaries->typeOf(*binding.var))
    return false;
  const auto* branch = bindings[scope.at + 1].value->as<If>();
  return branch && branch->condition.value == binding.var && scalars_.comparison(binding);
}

} // namespace bytecode

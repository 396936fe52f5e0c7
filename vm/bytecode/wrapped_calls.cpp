// The objects are made from the outermost one inwards, then the call follows.
#include "vm/bytecode/wrapped_calls.h"
#include "lang/ir/walk.h"

#include <algorithm>

namespace bytecode {

using namespace lang;

namespace {

const Constructor* constructorOf(const Expr& value) {
  const auto* call = value.as<Call>();
  return call ? call->callee.value->as<Constructor>() : nullptr;
}

} // namespace

/// Whether nothing has to be done between the call and the objects around its result.
bool WrappedCalls::mayWrap(const Scope& scope) {
  if (!scope.isTail || (state_.checks && state_.checks->result) ||
      !isWrappedCall(scope.block, scope.at, state_.itself()))
    return false;
  const Binding& binding = scope.block.bindings[scope.at];
  return calls_.mayBeTail(binding, *binding.value->as<Call>()) &&
         std::ranges::none_of(scope.block.bindings.subspan(scope.at), [&](const Binding& each) {
           const Constructor* constructor = constructorOf(*each.value);
           return state_.made.boundaries->typeOf(*each.var) ||
                  (constructor && state_.made.boundaries->isChecked(*constructor));
         });
}

/// Makes the object of a binding around the result of this call. `usesLeft` are those of this
/// binding and of what comes after it.
void WrappedCalls::wrap(Scope& scope, size_t at, UseCounts& usesLeft) {
  const Binding& binding = scope.block.bindings[at];
  const Type* type = state_.typeOf(*binding.var);
  const auto* tuple = binding.value->as<TupleExpr>();
  const Constructor* constructor = constructorOf(*binding.value);
  std::span<const Operand> fields = tuple ? tuple->fields : binding.value->as<Call>()->arguments;
  Types types = tuple ? Types(type->parts) : Types(constructor->fields);
  Environment environment =
      tuple ? state_.environment : state_.made.layouts.argumentsOf(type, state_.environment);
  state_.origin(binding.value->range);
  std::vector<uint16_t> taken;
  std::vector<Operand> gone;
  for (size_t i = 0; i < fields.size(); ++i) {
    const Expr* value = fields[i].value;
    bool isUsedAgain = --usesLeft[value] > 0;
    bool isMissing = value == scope.block.bindings[at - 1].var;
    taken.push_back(
        isMissing ? vm::none : holding_.take(scope, fields[i], types[i], environment, isUsedAgain));
    if (!isMissing && !isUsedAgain)
      gone.push_back(fields[i]);
  }
  holding_.freeDying(scope, gone);
  holding_.giveUpDying(scope, gone);
  auto memory = memory_.takeFor(scope, at, fields.size());
  if (memory)
    state_.registers.free(*memory);
  state_.code.emitFields(Op::Wrap, 0, state_.layoutMade(binding), memory.value_or(vm::none), taken);
}

/// Compiles the rest of the block if it is such a call; false if it is not.
bool WrappedCalls::call(Scope& scope) {
  if (!mayWrap(scope))
    return false;
  size_t at = scope.at;
  std::span<const Binding> bindings = scope.block.bindings;
  const Call& call = *bindings[at].value->as<Call>();
  UseCounts usesLeft;
  for (const Binding& each : bindings.subspan(at))
    forEachOperand(*each.value, [&](const Operand& operand) { ++usesLeft[operand.value]; });
  // Nothing is needed behind the call.
  scope.at = bindings.size();
  for (size_t i = bindings.size(); --i > at;)
    wrap(scope, i, usesLeft);
  calls_.call(scope, bindings[at], call.callee, call.arguments, true);
  if (holding_.find(*bindings[at].var))
    calls_.returnValue(scope, {bindings[at].var, bindings[at].value->range});
  return true;
}

} // namespace bytecode

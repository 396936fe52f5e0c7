// Calls of a function by itself whose result only goes into a new object, with which the call ends:
// `Cons(f(x), map(f, t))`. The object is made first, with that field open, and the call takes the
// place of this one (`wrap`): so such a recursion takes no room, as in Leijen and Lorenzen, Tail
// Recursion Modulo Context.
//
// The object is made before the call instead of behind it, which nobody can tell: nothing looks at
// it before it is complete.
#include "vm/bytecode/function_compiler.h"

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
bool FunctionCompiler::mayWrap(const Scope& scope) {
  if (!scope.isTail || (checks_ && checks_->result) ||
      !isWrappedCall(scope.block, scope.at, itself()))
    return false;
  const Binding& binding = scope.block.bindings[scope.at];
  return mayBeTail(binding, *binding.value->as<Call>()) &&
         std::ranges::none_of(scope.block.bindings.subspan(scope.at), [&](const Binding& each) {
           const Constructor* constructor = constructorOf(*each.value);
           return made_.boundaries->typeOf(*each.var) ||
                  (constructor && made_.boundaries->isChecked(*constructor));
         });
}

/// Makes the object of a binding around the result of this call. `usesLeft` are those of this
/// binding and of what comes after it.
void FunctionCompiler::wrap(Scope& scope, size_t at, UseCounts& usesLeft) {
  const Binding& binding = scope.block.bindings[at];
  const Type* type = typeOf(*binding.var);
  const auto* tuple = binding.value->as<TupleExpr>();
  const Constructor* constructor = constructorOf(*binding.value);
  std::span<const Operand> fields = tuple ? tuple->fields : binding.value->as<Call>()->arguments;
  Types types = tuple ? Types(type->parts) : Types(constructor->fields);
  Environment environment = tuple ? environment_ : made_.layouts.argumentsOf(type, environment_);
  origin(binding.value->range);
  std::vector<uint16_t> taken;
  std::vector<Operand> gone;
  for (size_t i = 0; i < fields.size(); ++i) {
    const Expr* value = fields[i].value;
    bool isUsedAgain = --usesLeft[value] > 0;
    bool isMissing = value == scope.block.bindings[at - 1].var;
    taken.push_back(isMissing ? vm::none
                              : take(scope, fields[i], types[i], environment, isUsedAgain));
    if (!isMissing && !isUsedAgain)
      gone.push_back(fields[i]);
  }
  freeDying(scope, gone);
  giveUpDying(scope, gone);
  auto memory = memoryFor(scope, at, fields.size());
  if (memory)
    registers_.free(*memory);
  code_.emitFields(Op::Wrap, 0, layoutMade(binding), memory.value_or(vm::none), taken);
}

/// Compiles the rest of the block if it is such a call; false if it is not.
bool FunctionCompiler::callWrapped(Scope& scope) {
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
  callFunction(scope, bindings[at], call.callee, call.arguments, true);
  if (find(*bindings[at].var))
    returnValue(scope, {bindings[at].var, bindings[at].value->range});
  return true;
}

} // namespace bytecode

// Functions that give the fields of a tuple in registers (flat_results.h) end with those.
#include "vm/bytecode/call_compiler.h"
#include "vm/bytecode/type_arguments.h"

#include <algorithm>

namespace bytecode {

using namespace lang;

void CallCompiler::returnValue(Scope& scope, const Operand& result) {
  const Type* type = state_.instances.typing.result(state_.function);
  uint16_t reg = holding_.take(scope, result, type, state_.environment, false);
  if (state_.checks && state_.checks->result) {
    state_.origin(result.range);
    vm::HostSite site{.kind = SiteKind::Result,
                      .range = result.range,
                      .check = state_.made.checks->function(state_.function)};
    std::vector<uint16_t> operands{reg, *state_.sizes};
    state_.hostCall(std::move(site), operands, {state_.rep(type), reference}, std::nullopt);
  }
  const auto* var = result.value->as<Var>();
  if (var && holding_.diesAt(scope, *var))
    holding_.giveUp(*var);
  if (state_.sizes)
    state_.code.emit(Op::Release, *state_.sizes);
  state_.code.emitReturn(reg);
  holding_.freeTemporaries();
}

Callee CallCompiler::calleeOf(const Operand& operand, std::span<const Operand> arguments,
                              const Binding& binding) {
  std::vector<const Type*> given;
  for (const Operand& argument : arguments)
    given.push_back(state_.givenType(*argument.value));
  const auto* global = operand.value->as<Global>();
  const Type* type =
      global ? state_.instances.declaredType(*global->function) : state_.typeOf(*operand.value);
  TypeArguments found = typeArguments(state_.instances.module.types, type, given,
                                      state_.typeOf(*binding.var), state_.environment);
  Environment generics =
      ordered(type->generics, state_.instances.representations(found, state_.environment));
  Callee callee;
  for (const Type* part : type->parts)
    callee.types.push_back(substitute(state_.instances.module.types, part, found));
  seeFunctions(given, callee.types);
  if (!global) {
    callee.owned.assign(arguments.size(), true);
    callee.signature = state_.instances.signature(type, state_.environment, generics);
    return callee;
  }
  callee.function = state_.instances.ofGlobal(*global, generics);
  callee.owned = state_.instances.ownedParameters(*global);
  if (state_.instances.isFlat(*global))
    for (const Type* part : state_.instances.typing.result(*global->function)->parts)
      callee.flat.push_back(state_.instances.rep(part, generics));
  return callee;
}

/// Says of which types the functions are that are given where these types are wanted.
void CallCompiler::seeFunctions(Types given, Types wanted) {
  for (size_t i = 0; i < given.size() && i < wanted.size(); ++i)
    if (given[i] && state_.made.layouts.holdsFunctions(given[i]))
      state_.instances.see(wanted[i], state_.environment);
}

/// Whether nothing that a call borrows is given up with this one.
bool CallCompiler::mayBeTail(const Binding& binding, const Call& call) {
  Callee callee = calleeOf(call.callee, call.arguments, binding);
  for (size_t i = 0; i < call.arguments.size(); ++i)
    if (!callee.owns(i) && !passer_.isLentByCaller(call.arguments[i]))
      return false;
  return true;
}

void CallCompiler::call(Scope& scope, const Binding& binding, const Operand& called,
                        std::span<const Operand> arguments, bool isLast) {
  state_.origin(binding.value->range, nullptr, binding.value->as<Call>());
  Callee callee = calleeOf(called, arguments, binding);
  std::vector<Operand> operands(arguments.begin(), arguments.end());
  if (!callee.function)
    operands.push_back(called);
  state_.registers.reserve(operands.size());
  bool endsHere = isLast && scope.isTail;
  bool isTail = endsHere && !(state_.checks && state_.checks->result) &&
                state_.isFlat() == !callee.flat.empty() &&
                !(state_.instance.global && state_.instances.isOutermost(*state_.instance.global));
  for (size_t i = 0; i < operands.size(); ++i)
    isTail &= callee.owns(i) || passer_.isLentByCaller(operands[i]);
  std::vector<Passing> passings = passer_.passAll(scope, operands, callee);
  uint16_t base = isTail ? uint16_t(0) : passer_.windowFor(passings);
  if (isTail && state_.sizes)
    state_.code.emit(Op::Release, *state_.sizes);
  if (isTail)
    passer_.fillFirst(passings, operands, callee);
  else
    passer_.fillWindow(base, passings, operands, callee);
  passer_.freePassed(passings, operands);
  const auto* global = called.value->as<Global>();
  if (global && state_.made.boundaries->of(*global->function))
    state_.code.emit(Op::Note);
  if (callee.function)
    state_.code.emitCall(isTail ? Op::TailCall : Op::Call, base, *callee.function);
  else
    state_.code.emit(isTail ? Op::TailCallClosure : Op::CallClosure, base,
                     uint16_t(arguments.size()), callee.signature);
  if (isTail)
    return;
  for (size_t i = 0; i < std::max<size_t>(callee.flat.size(), 1); ++i)
    state_.registers.take(uint16_t(base + i));
  holding_.giveUpDying(scope, operands);
  if (callee.flat.empty())
    receive(scope, binding, base);
  else if (endsHere && state_.isFlat())
    returnFields(flatPassings(base, callee.flat), std::vector<Operand>(callee.flat.size()), callee);
  else
    tuples_.receive(scope, binding, base, callee.flat);
}

/// The result of a call is in `reg`.
void CallCompiler::receive(Scope& scope, const Binding& binding, uint16_t reg) {
  Rep rep = state_.rep(state_.typeOf(*binding.var));
  if (holding_.isResult(scope, binding) && scope.target != vm::none) {
    state_.code.emit(Op::Move, scope.target, reg);
    state_.registers.free(reg);
    reg = scope.target;
  }
  holding_.define(scope, binding, rep, reg);
}

/// Fields that are in a row of registers, on their way elsewhere.
std::vector<Passing> CallCompiler::flatPassings(uint16_t base, std::span<const Rep> fields) const {
  std::vector<Passing> passings;
  for (size_t i = 0; i < fields.size(); ++i)
    passings.push_back({Passing::Move, uint16_t(base + i), true, !fields[i].isScalar()});
  return passings;
}

/// Ends the call with fields, each of which is passed or is an operand.
void CallCompiler::returnFields(std::vector<Passing> passings, std::span<const Operand> operands,
                                const Callee& callee) {
  if (state_.sizes)
    state_.code.emit(Op::Release, *state_.sizes);
  passer_.fillFirst(std::move(passings), operands, callee);
  state_.code.emit(Op::ReturnFlat);
}

/// Ends the call with a tuple that the last binding makes.
void CallCompiler::returnTuple(Scope& scope, const TupleExpr& tuple) {
  Types types = state_.instances.typing.result(state_.function)->parts;
  Callee callee{.owned = std::vector<bool>(types.size(), true),
                .types = {types.begin(), types.end()}};
  if (auto memory = memory_.takeFor(scope, scope.at, types.size())) {
    state_.code.emit(Op::FreeToken, *memory);
    state_.registers.free(*memory);
  }
  std::vector<Passing> passings = passer_.passAll(scope, tuple.fields, callee);
  returnFields(passings, tuple.fields, callee);
  passer_.freePassed(passings, tuple.fields);
}

} // namespace bytecode

// Each takes its operands, gives up what it uses last, and defines the variable of its binding.
#include "vm/bytecode/object_compiler.h"
#include "vm/bytecode/atoms.h"

namespace bytecode {

using namespace lang;

void ObjectCompiler::construct(Scope& scope, const Binding& binding, uint16_t layout,
                               std::span<const Operand> fields, Types types,
                               const Environment& environment) {
  std::vector<uint16_t> taken = holding_.takeAll(scope, fields, types, environment);
  const auto* call = binding.value->as<Call>();
  const auto* constructor = call ? call->callee.value->as<Constructor>() : nullptr;
  if (constructor && state_.made.boundaries->comparesFields(*call))
    state_.hostCall({.kind = SiteKind::Fields,
                     .range = call->range,
                     .check = state_.made.checks->fields(*constructor),
                     .caller = state_.caller(*call)},
                    taken, state_.made.program.layouts[layout].fields, std::nullopt);
  holding_.freeDying(scope, fields);
  holding_.giveUpDying(scope, fields);
  if (fields.empty()) {
    uint16_t reg = holding_.registerFor(scope, binding);
    state_.code.emitWide(Op::LoadStatic, reg, state_.made.layouts.emptyObject(layout));
    return holding_.define(scope, binding, {Hold::Borrowed}, reg);
  }
  auto memory = memory_.takeFor(scope, scope.at, fields.size());
  if (memory)
    state_.registers.free(*memory);
  uint16_t reg = holding_.registerFor(scope, binding);
  state_.code.emitFields(Op::Make, reg, layout, memory.value_or(vm::none), taken);
  holding_.define(scope, binding, reference, reg);
}

void ObjectCompiler::closure(Scope& scope, const Binding& binding, const Function& function) {
  std::vector<Operand> captured;
  std::vector<const Type*> types;
  std::vector<Rep> reps;
  for (const Var* var : state_.instances.freeVariables[function.number])
    if (var != binding.var) {
      captured.push_back({var, function.range});
      types.push_back(state_.typeOf(*var));
      reps.push_back(state_.rep(types.back()));
    }
  std::vector<uint16_t> taken = holding_.takeAll(scope, captured, types, state_.environment);
  const FunctionChecks* checks = state_.made.boundaries->of(function);
  if (checks && !checks->outer.empty()) {
    vm::HostSite site{.kind = SiteKind::OuterSizes,
                      .range = function.range,
                      .check = state_.made.checks->function(function)};
    std::vector<uint16_t> operands;
    if (state_.sizes)
      operands.push_back(*state_.sizes);
    taken.push_back(
        state_.hostCall(std::move(site), operands, std::vector<Rep>(operands.size()), reference));
    holding_.addTemporary(taken.back());
    reps.push_back(reference);
  }
  holding_.freeDying(scope, captured);
  holding_.giveUpDying(scope, captured);
  uint16_t layout = state_.instances.closureLayout(function, nullptr, binding.var, std::move(reps),
                                                   state_.environment);
  uint16_t reg = holding_.registerFor(scope, binding);
  if (taken.empty()) {
    state_.code.emitWide(Op::LoadStatic, reg, state_.made.layouts.emptyObject(layout));
    return holding_.define(scope, binding, {Hold::Borrowed}, reg);
  }
  state_.code.emitFields(Op::Make, reg, layout, vm::none, taken);
  holding_.define(scope, binding, reference, reg);
}

/// A value under a second name. One that nothing else needs only changes its name.
void ObjectCompiler::atom(Scope& scope, const Binding& binding, const Expr& atom) {
  const Type* type = state_.typeOf(*binding.var);
  const auto* var = atom.as<Var>();
  if (!var) {
    uint16_t reg = holding_.registerFor(scope, binding);
    loadAtomTo(state_, reg, atom, type, state_.environment);
    Rep rep = state_.rep(type);
    return holding_.define(scope, binding, rep.isScalar() ? rep : Rep{Hold::Borrowed}, reg);
  }
  Operand operand{&atom, binding.value->range};
  if (holding_.held(*var).rep.isScalar()) {
    uint16_t from = holding_.held(*var).reg;
    Rep rep = holding_.held(*var).rep;
    holding_.freeDying(scope, {&operand, 1});
    uint16_t reg = holding_.registerFor(scope, binding);
    if (reg != from)
      state_.code.emit(Op::Move, reg, from);
    return holding_.define(scope, binding, rep, reg);
  }
  uint16_t from = holding_.take(scope, operand, type, state_.environment, false);
  if (holding_.find(*var))
    holding_.giveUpDying(scope, {&operand, 1});
  holding_.freeTemporaries();
  uint16_t reg = holding_.registerFor(scope, binding);
  if (reg != from)
    state_.code.emit(Op::Move, reg, from);
  holding_.define(scope, binding, reference, reg);
}

void ObjectCompiler::readCell(Scope& scope, const Binding& binding, const RefRead& value) {
  uint16_t cell = holding_.look(value.reference);
  Rep content = state_.rep(state_.typeOf(*value.reference.value)->parts[0]);
  uint16_t layout = state_.made.layouts.cell(content);
  uint16_t reg = state_.registers.take();
  state_.code.emit(content.isScalar() ? Op::ReadScalar : Op::ReadOwned, reg, cell, layout);
  holding_.giveUpDying(scope, {&value.reference, 1});
  holding_.freeTemporaries();
  holding_.define(scope, binding, content, reg);
}

void ObjectCompiler::writeCell(Scope& scope, const Binding& binding, const RefWrite& value) {
  const Type* type = state_.typeOf(*value.reference.value)->parts[0];
  Rep content = state_.rep(type);
  bool isBoth = value.value.value == value.reference.value;
  uint16_t written = holding_.take(scope, value.value, type, state_.environment, isBoth);
  uint16_t cell = holding_.look(value.reference);
  state_.code.emit(content.isScalar() ? Op::WriteScalar : Op::WriteOwned, cell, written,
                   state_.made.layouts.cell(content));
  std::vector<Operand> operands{value.reference, value.value};
  holding_.freeDying(scope, operands);
  holding_.giveUpDying(scope, operands);
  unit(scope, binding);
}

/// `()`, if somebody wants it.
void ObjectCompiler::unit(Scope& scope, const Binding& binding) {
  uint16_t reg = holding_.registerFor(scope, binding);
  state_.code.emitWide(Op::LoadStatic, reg,
                       state_.made.layouts.emptyObject(state_.made.layouts.tuple({})));
  holding_.define(scope, binding, {Hold::Borrowed}, reg);
}

} // namespace bytecode

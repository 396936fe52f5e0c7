// Where a tuple is only taken apart, variables for its fields take its place.
#include "vm/bytecode/tuple_fields.h"

#include <algorithm>

namespace bytecode {

using namespace lang;

/// Takes all fields that are wanted out of a tuple as soon as it is there, if this block wants
/// nothing else of it: then what one of them holds is not shared with the tuple.
void TupleFields::takeApart(Scope& scope, const Var& tuple) {
  const Held* source = holding_.find(tuple);
  if (state_.usage.projections(tuple).size() < 2 || !source || source->rep.hold != Hold::Owned ||
      !source->fields.empty())
    return;
  const Type* type = state_.typeOf(tuple);
  auto bindings = fieldsTaken(scope, tuple, type->parts.size());
  if (!bindings)
    return;
  std::vector<Rep> reps;
  for (const Type* part : type->parts)
    reps.push_back(state_.rep(part));
  uint16_t layout = holding_.held(tuple).layout = state_.made.layouts.tuple(reps);
  std::vector<uint16_t> loaded(reps.size(), vm::none);
  for (size_t i = reps.size(); i-- > 0;)
    if (const Binding* taken = (*bindings)[i]) {
      takenApart_.insert(taken);
      loaded[i] = state_.registers.take();
      holding_.holdField(*taken->var, reps[i], loaded[i], tuple, i, scope.level);
    }
  state_.code.emitFields(Op::Fields, holding_.held(tuple).reg, layout, 0, loaded);
  holding_.giveUp(tuple);
}

void TupleFields::project(Scope& scope, const Binding& binding, const Project& value) {
  const Var& object = holding_.scrutinee(scope, value.tuple);
  const Type* type = state_.typeOf(*value.tuple.value);
  std::vector<Rep> reps;
  for (const Type* part : type->parts)
    reps.push_back(state_.rep(part));
  Rep field = reps.at(value.index);
  uint16_t layout = state_.made.layouts.tuple(std::move(reps));
  if (holding_.held(object).layout != layout)
    holding_.keepFields(object);
  holding_.held(object).layout = layout;
  std::vector<uint16_t> loaded(type->parts.size(), vm::none);
  uint16_t reg = loaded[value.index] = state_.registers.take();
  state_.code.emitFields(Op::Fields, holding_.held(object).reg, layout, 0, loaded);
  holding_.holdField(*binding.var, field, reg, object, value.index, scope.level);
  holding_.checkVar(*binding.var, binding.place.isValid() ? binding.place : binding.value->range);
  if (holding_.diesAt(scope, object))
    holding_.giveUp(object);
  if (!state_.usage.last(scope.block, *binding.var))
    holding_.giveUp(*binding.var);
}

/// The bindings that take the fields out of a tuple, in the order of the fields, null for those
/// that nobody wants; nothing where the tuple itself is wanted, or a field more than once.
std::optional<std::vector<const Binding*>>
TupleFields::fieldsTaken(const Scope& scope, const Var& tuple, size_t fields) const {
  std::span<const Usage::Projection> projections = state_.usage.projections(tuple);
  std::vector<const Binding*> taken(fields);
  if (projections.empty() || projections.size() != state_.usage.count(tuple))
    return std::nullopt;
  for (const Usage::Projection& each : projections) {
    const Binding& field = scope.block.bindings[each.binding];
    if (each.block != &scope.block || state_.made.boundaries->typeOf(*field.var) ||
        !state_.usage.last(scope.block, *field.var) ||
        std::exchange(taken[field.value->as<Project>()->index], &field))
      return std::nullopt;
  }
  return taken;
}

/// The fields of a call's result are in a row of registers.
void TupleFields::receive(Scope& scope, const Binding& binding, uint16_t base,
                          std::span<const Rep> fields) {
  bool isCompared = state_.made.boundaries->typeOf(*binding.var) != nullptr;
  auto taken = isCompared ? std::nullopt : fieldsTaken(scope, *binding.var, fields.size());
  std::vector<uint16_t> registers;
  for (size_t i = 0; i < fields.size(); ++i) {
    auto reg = uint16_t(base + i);
    registers.push_back(reg);
    if (taken && (*taken)[i]) {
      takenApart_.insert((*taken)[i]);
      holding_.hold(*(*taken)[i]->var, fields[i], reg, scope.level);
      continue;
    }
    if (taken && !fields[i].isScalar())
      state_.code.emit(Op::Release, reg);
    state_.registers.free(reg);
  }
  if (taken)
    return;
  uint16_t layout = state_.made.layouts.tuple({fields.begin(), fields.end()});
  uint16_t reg = holding_.registerFor(scope, binding);
  state_.code.emitFields(Op::Make, reg, layout, vm::none, registers);
  holding_.define(scope, binding, reference, reg);
}

} // namespace bytecode

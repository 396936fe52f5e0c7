// Taking apart: matches and fields of tuples.
//
// Arms are tried in their order; a constructor that is the only one left is not tested. Fields are
// loaded as the pattern is followed, borrowed from the object, so an arm that does not fit leaves
// nothing behind.
#include "vm/bytecode/function_compiler.h"

#include "lang/ir/walk.h"

#include <algorithm>
#include <utility>

namespace bytecode {

using namespace lang;

/// The object that is taken apart, as a variable.
const Var& FunctionCompiler::scrutinee(Scope& scope, const Operand& operand) {
  if (const auto* var = operand.value->as<Var>())
    return *var;
  const Type* type = typeOf(*operand.value);
  const Var& hidden = hiddenVar(type);
  uint16_t reg = loadAtom(*operand.value, type, environment_);
  Rep rep = this->rep(type);
  if (!rep.isScalar())
    rep.hold = Hold::Borrowed;
  hold(hidden, rep, reg, scope.level);
  hiddenHeld_.push_back(&hidden);
  return hidden;
}

/// Whether each arm is for a constructor of its own and looks no further.
bool FunctionCompiler::isDisjoint(const Match& value) {
  std::vector<const Constructor*> seen;
  for (const Arm& arm : value.arms) {
    const Pattern& pattern = *arm.pattern;
    if (pattern.kind != PatternKind::Constructor ||
        std::ranges::find(seen, pattern.constructor) != seen.end() ||
        !std::ranges::all_of(pattern.parts, [](const Pattern* part) {
          return part->parts.empty() && part->kind != PatternKind::Constructor;
        }))
      return false;
    seen.push_back(pattern.constructor);
  }
  return true;
}

uint16_t FunctionCompiler::layoutOf(const Constructor& constructor, const Type* type) {
  return made_.layouts.data(constructor, made_.layouts.argumentsOf(type, environment_));
}

/// Whether the constructor is looked up rather than compared.
bool FunctionCompiler::isSwitch(const Match& value) {
  constexpr size_t fewest = 3;
  return value.arms.size() >= fewest && isDisjoint(value);
}

/// The arms in the order in which they are tried. Where it does not matter those that call come
/// first: a recursion goes on more often than it ends. In an arm of a match of the same object none
/// for another constructor counts.
std::vector<const Arm*> FunctionCompiler::inOrder(const Match& value, const Type* type,
                                                  uint16_t layout) {
  std::vector<const Arm*> arms;
  for (const Arm& arm : value.arms)
    if (layout == vm::none || arm.pattern->kind != PatternKind::Constructor ||
        layoutOf(*arm.pattern->constructor, type) == layout)
      arms.push_back(&arm);
  if (!isSwitch(value) && isDisjoint(value))
    std::ranges::stable_partition(arms, [&](const Arm* arm) { return usage_.calls(*arm->body); });
  return arms;
}

/// The arms' labels by constructor.
std::vector<Label> FunctionCompiler::switchOn(const Match& value, uint16_t object,
                                              Label unmatched) {
  const TypeDefinition& definition = *value.arms[0].pattern->constructor->definition;
  std::vector<Label> arms(definition.constructors.size(), unmatched), inOrder;
  for (const Arm& arm : value.arms)
    inOrder.push_back(arms[arm.pattern->constructor->index] = code_.newLabel());
  code_.switchTag(object, arms);
  return inOrder;
}

void FunctionCompiler::match(Scope& scope, const Binding& binding, const Match& value,
                             bool isLast) {
  const Var& object = scrutinee(scope, value.scrutinee);
  const Type* type = typeOf(*value.scrutinee.value);
  bool isKnown = held(object).layout != vm::none;
  std::vector<const Arm*> arms = inOrder(value, type, held(object).layout);
  uint16_t target = targetFor(scope, isLast);
  Label end = code_.newLabel(), unmatched = code_.newLabel();
  bool switches = !isKnown && isSwitch(value), mayFail = true;
  std::vector<Label> labels;
  if (switches)
    labels = switchOn(value, held(object).reg, unmatched);
  const auto before = snapshot();
  std::vector<const Constructor*> gone;
  for (size_t i = 0; i < arms.size() && (switches || mayFail); ++i) {
    const Arm& arm = *arms[i];
    restore(before);
    Label next = switches ? unmatched : code_.newLabel();
    if (switches)
      code_.place(labels[i]);
    mayFail = matchArm(*arm.pattern, type, object, scope.level + 1,
                       isKnown || switches || isOnlyOneLeft(*arm.pattern, gone), next);
    checkParts();
    inner(scope, binding, *arm.body, isLast, target);
    if (!(isLast && scope.isTail))
      code_.jump(end);
    if (!switches)
      code_.place(next);
    if (arm.pattern->kind == PatternKind::Constructor && isFlat(*arm.pattern))
      gone.push_back(arm.pattern->constructor);
  }
  const auto after = snapshot();
  restore(before);
  code_.place(unmatched);
  fail(value, object);
  restore(after);
  if (find(object))
    held(object).layout = before.held.find(object)->layout;
  code_.place(end);
  afterBranches(scope, binding, isLast, target);
}

bool FunctionCompiler::isFlat(const Pattern& pattern) {
  return std::ranges::all_of(pattern.parts, [](const Pattern* part) {
    return part->kind == PatternKind::Wildcard || part->kind == PatternKind::Var;
  });
}

bool FunctionCompiler::isOnlyOneLeft(const Pattern& pattern,
                                     const std::vector<const Constructor*>& gone) {
  if (pattern.kind != PatternKind::Constructor)
    return false;
  return std::ranges::all_of(
      pattern.constructor->definition->constructors, [&](const Constructor* other) {
        return other == pattern.constructor || std::ranges::find(gone, other) != gone.end();
      });
}

void FunctionCompiler::fail(const Match& value, const Var& object) {
  origin(value.range);
  uint16_t reg = held(object).reg;
  hostCall({.kind = SiteKind::Unmatched, .range = value.range}, {&reg, 1}, {held(object).rep},
           std::nullopt);
}

/// Goes to `next` unless the value fits the pattern; else the pattern's variables hold its parts.
/// False when it always fits.
bool FunctionCompiler::matchArm(const Pattern& pattern, const Type* type, const Var& value,
                                uint32_t level, bool isTagKnown, Label next) {
  if (pattern.kind == PatternKind::Wildcard)
    return false;
  if (pattern.kind == PatternKind::Var) {
    copyTo(*pattern.var, value, level);
    return false;
  }
  bool mayFail = false;
  uint16_t layout = 0;
  std::vector<const Type*> types;
  if (pattern.kind == PatternKind::Constructor) {
    const Constructor& constructor = *pattern.constructor;
    mayFail = !isTagKnown && constructor.definition->constructors.size() > 1;
    layout = layoutOf(constructor, type);
    if (mayFail)
      code_.compareAndJump(Op::JumpUnlessOf, held(value).reg, layout, next);
    for (const Type* field : constructor.fields)
      types.push_back(fieldType(instances_.module.types, field, type));
  } else {
    std::vector<Rep> reps;
    types.assign(type->parts.begin(), type->parts.end());
    for (const Type* part : types)
      reps.push_back(rep(part));
    layout = made_.layouts.tuple(std::move(reps));
  }
  std::vector<const Var*> parts = loadParts(pattern, types, layout, value, level);
  for (size_t i = 0; i < parts.size(); ++i)
    if (parts[i] && pattern.parts[i]->kind != PatternKind::Var) {
      mayFail |= matchArm(*pattern.parts[i], types[i], *parts[i], level, false, next);
      held(*parts[i]).isOver = true;
    }
  for (const Var* part : parts)
    if (part && held(*part).isOver && held(*part).fields.empty())
      forget(*part);
  return mayFail;
}

/// The order in which the fields of a pattern get their registers: arguments of calls are likeliest
/// to stay where they are if they lie above all else, those of the first call on top.
std::vector<size_t> FunctionCompiler::inOrder(const Pattern& pattern) const {
  std::vector<size_t> order;
  for (size_t i = pattern.parts.size(); i-- > 0;)
    order.push_back(i);
  std::ranges::stable_partition(order, [&](size_t i) {
    const Pattern& part = *pattern.parts[i];
    return part.kind != PatternKind::Var || !usage_.argument(*part.var);
  });
  return order;
}

/// Loads the fields that the pattern names or looks into, as variables.
std::vector<const Var*> FunctionCompiler::loadParts(const Pattern& pattern, Types types,
                                                    uint16_t layout, const Var& value,
                                                    uint32_t level) {
  if (held(value).layout != layout)
    keepFields(value);
  held(value).layout = layout;
  const std::vector<Rep> reps = made_.program.layouts[layout].fields;
  std::vector<uint16_t> loaded(reps.size(), vm::none);
  std::vector<const Var*> vars(reps.size());
  for (size_t i : inOrder(pattern)) {
    const Pattern& part = *pattern.parts[i];
    bool isNamed = part.kind == PatternKind::Var &&
                   (usage_.count(*part.var) > 0 || made_.boundaries->typeOf(*part.var));
    if (!isNamed && (part.kind == PatternKind::Wildcard || part.kind == PatternKind::Var))
      continue;
    vars[i] = isNamed ? part.var : &hiddenVar(types[i]);
    loaded[i] = registers_.take();
    holdField(*vars[i], reps[i], loaded[i], value, i, level);
  }
  if (std::ranges::any_of(loaded, [](uint16_t reg) { return reg != vm::none; }))
    code_.emitFields(Op::Fields, held(value).reg, layout, 0, loaded);
  for (size_t i = 0; i < vars.size(); ++i)
    if (vars[i] && pattern.parts[i]->kind == PatternKind::Var) {
      if (made_.boundaries->typeOf(*vars[i]))
        unchecked_.push_back(vars[i]);
      else if (usage_.count(*vars[i]) == 0)
        giveUp(*vars[i]), vars[i] = nullptr;
    }
  return vars;
}

/// Compares the parts that a pattern names with their types, once all of it fits.
void FunctionCompiler::checkParts() {
  for (const Var* var : std::exchange(unchecked_, {})) {
    checkVar(*var, {});
    if (usage_.count(*var) == 0)
      giveUp(*var);
  }
}

/// A variable for what a field holds, which is borrowed from the object.
void FunctionCompiler::holdField(const Var& var, Rep rep, uint16_t reg, const Var& object,
                                 size_t field, uint32_t level) {
  if (!rep.isScalar())
    rep.hold = Hold::Borrowed;
  Held& made = hold(var, rep, reg, level);
  if (rep.isScalar())
    return;
  made.parent = &object;
  made.field = uint16_t(field);
  held(object).fields.push_back(&var);
}

/// A second name for a value.
void FunctionCompiler::copyTo(const Var& var, const Var& value, uint32_t level) {
  const Held source = held(value);
  uint16_t reg = registers_.take();
  code_.emit(source.rep.isScalar() ? Op::Move : Op::Retain, reg, source.reg);
  hold(var, source.rep.isScalar() ? source.rep : reference, reg, level);
  checkVar(var, {});
  if (usage_.count(var) == 0)
    giveUp(var);
}

/// Takes all fields that are wanted out of a tuple as soon as it is there, if this block wants
/// nothing else of it: then what one of them holds is not shared with the tuple.
void FunctionCompiler::takeApart(Scope& scope, const Var& tuple) {
  const Held* source = find(tuple);
  if (usage_.projections(tuple).size() < 2 || !source || source->rep.hold != Hold::Owned ||
      !source->fields.empty())
    return;
  const Type* type = typeOf(tuple);
  auto bindings = fieldsTaken(scope, tuple, type->parts.size());
  if (!bindings)
    return;
  std::vector<Rep> reps;
  for (const Type* part : type->parts)
    reps.push_back(rep(part));
  uint16_t layout = held(tuple).layout = made_.layouts.tuple(reps);
  std::vector<uint16_t> loaded(reps.size(), vm::none);
  for (size_t i = reps.size(); i-- > 0;)
    if (const Binding* taken = (*bindings)[i]) {
      takenApart_.insert(taken);
      loaded[i] = registers_.take();
      holdField(*taken->var, reps[i], loaded[i], tuple, i, scope.level);
    }
  code_.emitFields(Op::Fields, held(tuple).reg, layout, 0, loaded);
  giveUp(tuple);
}

void FunctionCompiler::project(Scope& scope, const Binding& binding, const Project& value) {
  const Var& object = scrutinee(scope, value.tuple);
  const Type* type = typeOf(*value.tuple.value);
  std::vector<Rep> reps;
  for (const Type* part : type->parts)
    reps.push_back(rep(part));
  Rep field = reps.at(value.index);
  uint16_t layout = made_.layouts.tuple(std::move(reps));
  if (held(object).layout != layout)
    keepFields(object);
  held(object).layout = layout;
  std::vector<uint16_t> loaded(type->parts.size(), vm::none);
  uint16_t reg = loaded[value.index] = registers_.take();
  code_.emitFields(Op::Fields, held(object).reg, layout, 0, loaded);
  holdField(*binding.var, field, reg, object, value.index, scope.level);
  checkVar(*binding.var, binding.place.isValid() ? binding.place : binding.value->range);
  if (diesAt(scope, object))
    giveUp(object);
  if (!usage_.last(scope.block, *binding.var))
    giveUp(*binding.var);
}

} // namespace bytecode

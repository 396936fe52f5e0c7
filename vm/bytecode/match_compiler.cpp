// Labels, tests and loads of the arms.
#include "vm/bytecode/match_compiler.h"
#include "lang/ir/walk.h"

#include <algorithm>
#include <utility>

namespace bytecode {

using namespace lang;

namespace {

/// Whether each arm is for a constructor of its own and looks no further.
bool isDisjoint(const Match& value) {
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

/// Whether the constructor is looked up rather than compared.
bool isSwitch(const Match& value) {
  constexpr size_t fewest = 3;
  return value.arms.size() >= fewest && isDisjoint(value);
}

bool isFlat(const Pattern& pattern) {
  return std::ranges::all_of(pattern.parts, [](const Pattern* part) {
    return part->kind == PatternKind::Wildcard || part->kind == PatternKind::Var;
  });
}

bool isOnlyOneLeft(const Pattern& pattern, const std::vector<const Constructor*>& gone) {
  if (pattern.kind != PatternKind::Constructor)
    return false;
  return std::ranges::all_of(
      pattern.constructor->definition->constructors, [&](const Constructor* other) {
        return other == pattern.constructor || std::ranges::find(gone, other) != gone.end();
      });
}

} // namespace

uint16_t MatchCompiler::layoutOf(const Constructor& constructor, const Type* type) {
  return state_.made.layouts.data(constructor,
                                  state_.made.layouts.argumentsOf(type, state_.environment));
}

/// The arms in the order in which they are tried. Where it does not matter those that call come
/// first: a recursion goes on more often than it ends. In an arm of a match of the same object none
/// for another constructor counts.
std::vector<const Arm*> MatchCompiler::inOrder(const Match& value, const Type* type,
                                               uint16_t layout) {
  std::vector<const Arm*> arms;
  for (const Arm& arm : value.arms)
    if (layout == vm::none || arm.pattern->kind != PatternKind::Constructor ||
        layoutOf(*arm.pattern->constructor, type) == layout)
      arms.push_back(&arm);
  if (!isSwitch(value) && isDisjoint(value))
    std::ranges::stable_partition(arms,
                                  [&](const Arm* arm) { return state_.usage.calls(*arm->body); });
  return arms;
}

/// The arms' labels by constructor.
std::vector<Label> MatchCompiler::switchOn(const Match& value, uint16_t object, Label unmatched) {
  const TypeDefinition& definition = *value.arms[0].pattern->constructor->definition;
  std::vector<Label> arms(definition.constructors.size(), unmatched), inOrder;
  for (const Arm& arm : value.arms)
    inOrder.push_back(arms[arm.pattern->constructor->index] = state_.code.newLabel());
  state_.code.switchTag(object, arms);
  return inOrder;
}

void MatchCompiler::match(Scope& scope, const Binding& binding, const Match& value, bool isLast) {
  const Var& object = holding_.scrutinee(scope, value.scrutinee);
  const Type* type = state_.typeOf(*value.scrutinee.value);
  bool isKnown = holding_.held(object).layout != vm::none;
  std::vector<const Arm*> arms = inOrder(value, type, holding_.held(object).layout);
  uint16_t target = branches_.targetFor(scope, isLast);
  Label end = state_.code.newLabel(), unmatched = state_.code.newLabel();
  bool switches = !isKnown && isSwitch(value), mayFail = true;
  std::vector<Label> labels;
  if (switches)
    labels = switchOn(value, holding_.held(object).reg, unmatched);
  const auto before = branches_.snapshot();
  std::vector<const Constructor*> gone;
  for (size_t i = 0; i < arms.size() && (switches || mayFail); ++i) {
    const Arm& arm = *arms[i];
    branches_.restore(before);
    Label next = switches ? unmatched : state_.code.newLabel();
    if (switches)
      state_.code.place(labels[i]);
    mayFail = matchArm(*arm.pattern, type, object, scope.level + 1,
                       isKnown || switches || isOnlyOneLeft(*arm.pattern, gone), next);
    checkParts();
    branches_.inner(scope, binding, *arm.body, isLast, target);
    if (!(isLast && scope.isTail))
      state_.code.jump(end);
    if (!switches)
      state_.code.place(next);
    if (arm.pattern->kind == PatternKind::Constructor && isFlat(*arm.pattern))
      gone.push_back(arm.pattern->constructor);
  }
  const auto after = branches_.snapshot();
  branches_.restore(before);
  state_.code.place(unmatched);
  fail(value, object);
  branches_.restore(after);
  if (holding_.find(object))
    holding_.held(object).layout = before.holding.held.find(object)->layout;
  state_.code.place(end);
  branches_.finish(scope, binding, isLast, target);
}

void MatchCompiler::fail(const Match& value, const Var& object) {
  state_.origin(value.range);
  uint16_t reg = holding_.held(object).reg;
  state_.hostCall({.kind = SiteKind::Unmatched, .range = value.range}, {&reg, 1},
                  {holding_.held(object).rep}, std::nullopt);
}

/// Goes to `next` unless the value fits the pattern; else the pattern's variables hold its parts.
/// False when it always fits.
bool MatchCompiler::matchArm(const Pattern& pattern, const Type* type, const Var& value,
                             uint32_t level, bool isTagKnown, Label next) {
  if (pattern.kind == PatternKind::Wildcard)
    return false;
  if (pattern.kind == PatternKind::Var) {
    holding_.copyTo(*pattern.var, value, level);
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
      state_.code.compareAndJump(Op::JumpUnlessOf, holding_.held(value).reg, layout, next);
    for (const Type* field : constructor.fields)
      types.push_back(fieldType(state_.instances.module.types, field, type));
  } else {
    std::vector<Rep> reps;
    types.assign(type->parts.begin(), type->parts.end());
    for (const Type* part : types)
      reps.push_back(state_.rep(part));
    layout = state_.made.layouts.tuple(std::move(reps));
  }
  std::vector<const Var*> parts = loadParts(pattern, types, layout, value, level);
  for (size_t i = 0; i < parts.size(); ++i)
    if (parts[i] && pattern.parts[i]->kind != PatternKind::Var) {
      mayFail |= matchArm(*pattern.parts[i], types[i], *parts[i], level, false, next);
      holding_.held(*parts[i]).isOver = true;
    }
  for (const Var* part : parts)
    if (part && holding_.held(*part).isOver && holding_.held(*part).fields.empty())
      holding_.forget(*part);
  return mayFail;
}

/// The order in which the fields of a pattern get their registers: arguments of calls are likeliest
/// to stay where they are if they lie above all else, those of the first call on top.
std::vector<size_t> MatchCompiler::partsInOrder(const Pattern& pattern) const {
  std::vector<size_t> order;
  for (size_t i = pattern.parts.size(); i-- > 0;)
    order.push_back(i);
  std::ranges::stable_partition(order, [&](size_t i) {
    const Pattern& part = *pattern.parts[i];
    return part.kind != PatternKind::Var || !state_.usage.argument(*part.var);
  });
  return order;
}

/// Loads the fields that the pattern names or looks into, as variables.
std::vector<const Var*> MatchCompiler::loadParts(const Pattern& pattern, Types types,
                                                 uint16_t layout, const Var& value,
                                                 uint32_t level) {
  if (holding_.held(value).layout != layout)
    holding_.keepFields(value);
  holding_.held(value).layout = layout;
  const std::vector<Rep> reps = state_.made.program.layouts[layout].fields;
  std::vector<uint16_t> loaded(reps.size(), vm::none);
  std::vector<const Var*> vars(reps.size());
  for (size_t i : partsInOrder(pattern)) {
    const Pattern& part = *pattern.parts[i];
    bool isNamed = part.kind == PatternKind::Var &&
                   (state_.usage.count(*part.var) > 0 || state_.made.boundaries->typeOf(*part.var));
    if (!isNamed && (part.kind == PatternKind::Wildcard || part.kind == PatternKind::Var))
      continue;
    vars[i] = isNamed ? part.var : &state_.hiddenVar(types[i]);
    loaded[i] = state_.registers.take();
    holding_.holdField(*vars[i], reps[i], loaded[i], value, i, level);
  }
  if (std::ranges::any_of(loaded, [](uint16_t reg) { return reg != vm::none; }))
    state_.code.emitFields(Op::Fields, holding_.held(value).reg, layout, 0, loaded);
  for (size_t i = 0; i < vars.size(); ++i)
    if (vars[i] && pattern.parts[i]->kind == PatternKind::Var) {
      if (state_.made.boundaries->typeOf(*vars[i]))
        unchecked_.push_back(vars[i]);
      else if (state_.usage.count(*vars[i]) == 0)
        holding_.giveUp(*vars[i]), vars[i] = nullptr;
    }
  return vars;
}

/// Compares the parts that a pattern names with their types, once all of it fits.
void MatchCompiler::checkParts() {
  for (const Var* var : std::exchange(unchecked_, {})) {
    holding_.checkVar(*var, {});
    if (state_.usage.count(*var) == 0)
      holding_.giveUp(*var);
  }
}

} // namespace bytecode

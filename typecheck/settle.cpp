#include "typecheck/settle.h"

#include "typecheck/partial_types.h"
#include "typecheck/type_parameters.h"

#include <algorithm>
#include <fmt/format.h>

namespace typecheck {

using lang::Message;

namespace {

using TypeMemo = std::unordered_map<const Type*, const Type*>;

void checkPartialResults(Group& group) {
  for (const lang::Global* global : group.definitions) {
    const lang::Function& function = *global->function;
    if (!function.partialResult)
      continue;
    const Type* result =
        group.unifier.resolve(group.checking.functions.resultTypes[function.number]);
    if (!fits(*function.partialResult, *result, {}, group.unifier))
      group.diagnostics.report(Message::ResultMismatch, function.body->result.range,
                               partialText(*function.partialResult), shortType(result));
  }
}

/// Leaves nothing open that could be reported.
void poisonAll(Group& group) {
  std::vector<const Type*> types;
  for (const lang::Var* var : group.seen.vars)
    types.push_back(group.checking.vars.types[var->number]);
  for (const lang::Function* function : group.seen.functions)
    types.push_back(group.checking.functions.resultTypes[function->number]);
  group.unifier.poisonAll(types);
  group.relations.solve();
}

/// After a mistake in the group, what stays open of lets and results follows from it.
bool isConsequence(const Group& group, lang::VarOrigin origin) {
  bool isDerived = origin == lang::VarOrigin::Let || origin == lang::VarOrigin::Temporary;
  return isDerived && group.hasMistakes();
}

void reportOpen(Group& group, std::initializer_list<lang::VarOrigin> origins) {
  for (const lang::Var* var : group.seen.vars) {
    const Type* type = group.checking.vars.types[var->number];
    if (std::ranges::count(origins, var->origin) == 0 || !group.unifier.shallow(type)->isUnknown())
      continue;
    group.unifier.poison(type);
    if (isConsequence(group, var->origin))
      continue;
    const OperatorValues* ofOperators = group.checking.functions.ofOperators.get();
    if (const lang::Function* value = ofOperators ? ofOperators->withParameter(*var) : nullptr) {
      reportOpenValue(group.diagnostics, *value);
      for (const lang::Var* parameter : value->parameters)
        group.unifier.poison(group.checking.vars.types[parameter->number]);
      continue;
    }
    const lang::Words name = lang::localName(var->name);
    auto& report =
        group.diagnostics.report(Message::CannotInfer, var->range,
                                 var->name.empty() ? "this expression" : lang::words("`{}`", name));
    if (var->origin == lang::VarOrigin::Parameter || var->origin == lang::VarOrigin::Free)
      report.note(lang::words("a parameter says its type behind a colon: `{}: ...`", name));
  }
  group.relations.solve();
}

/// What fits is what has the very type; where nothing is known of the hole, everything might.
void reportHoles(Group& group) {
  for (const auto& [hole, type] : group.seen.holes) {
    const Type* wanted = group.unifier.resolve(type);
    std::vector<lang::Words> fitting;
    for (const lang::Var* var : hole->scope)
      if (group.checking.vars.types[var->number] &&
          group.unifier.resolve(group.checking.vars.types[var->number]) == wanted)
        fitting.push_back(lang::words("`{}`", lang::localName(var->name)));
    auto& report = group.diagnostics.report(Message::ExpressionHole, hole->range, wanted);
    report.note(fitting.empty() ? "no local in scope has this type"
                                : lang::words("in scope and fitting: {}",
                                              runtime::joined(std::move(fitting), ", ")));
    group.unifier.poison(type);
  }
}

void reportOpenResults(Group& group) {
  for (const lang::Function* function : group.seen.functions) {
    const Type* type = group.checking.functions.resultTypes[function->number];
    if (!group.unifier.shallow(type)->isUnknown())
      continue;
    group.unifier.poison(type);
    if (!isConsequence(group, lang::VarOrigin::Let))
      group.diagnostics.report(Message::CannotInfer, function->body->result.range,
                               "the result of this function");
  }
}

/// An instance shares what was still open in its function with all others. Where that came to
/// mention a type parameter it must mean the same one in the instance.
void checkOpenInstances(Group& group) {
  if (group.hasMistakes())
    return;
  for (const Seen::OpenInstance& open : group.seen.openInstances) {
    const Type* again = group.unifier.instantiate(group.unifier.resolve(open.callee));
    if (again->isError())
      continue;
    for (size_t i = 0; i < again->parts.size(); ++i)
      group.unifier.unify(again->parts[i], open.instance->parts[i], true);
    if (group.unifier.unify(again->result, open.instance->result, true) == UnifyResult::Same)
      continue;
    group.diagnostics
        .report(Message::OpenInstance, open.call->range, calleeText(open.call->callee),
                group.text(again->result), group.text(open.instance->result))
        .note("declare the type of its result, and of its parameters");
  }
}

/// The final form of a type.
const Type* settled(Group& group, const Type* type, lang::SourceRange range, TypeMemo& known) {
  const Type* resolved = group.unifier.resolve(type);
  if (resolved->isError() && !group.unifier.shallow(type)->isError())
    return group.tooLarge(range);
  if (!resolved->hasUnknown)
    return resolved;
  auto settle = [&](const lang::Dim* dim) {
    return dim->hasUnknown ? group.unifier.types().any() : dim;
  };
  return group.unifier.mapDims(resolved, settle, known);
}

} // namespace

void settle(Group& group, GroupSizes& sizes) {
  for (const Type* type : group.seen.mistaken)
    group.unifier.poison(type);
  if (group.seen.isTooLarge)
    poisonAll(group);
  reportHoles(group);
  checkTypeParameters(group);
  checkOpenInstances(group);
  generalise(group);
  reportOpen(group, {lang::VarOrigin::Parameter, lang::VarOrigin::Free});
  reportOpen(group, {lang::VarOrigin::Pattern});
  group.relations.solve();
  group.relations.reportUnsolved();
  reportOpenResults(group);
  reportOpen(group, {lang::VarOrigin::Let, lang::VarOrigin::Temporary});
  sizes.closeRecursion();
  sizes.nameOpen();
  checkPartialResults(group);
  group.relations.clear();
  sizes.checkEquations();
  sizes.checkBounds();
}

bool writeTypes(Group& group) {
  Checking& checking = group.checking;
  lang::Typing& typing = checking.typing;
  TypeMemo known;
  bool isNew = false;
  for (const lang::Function* function : group.seen.functions) {
    lang::SourceRange range = function->body->result.range;
    const Type* type =
        settled(group, checking.functions.resultTypes[function->number], range, known);
    isNew |= typing.result(*function) != type && checking.facts.isShown(type);
    typing.setResult(*function, type);
  }
  for (const lang::Var* var : group.seen.vars) {
    const Type* type = settled(group, checking.vars.types[var->number], var->range, known);
    isNew |= typing.of(*var) != type && checking.facts.isShown(type);
    typing.setType(*var, type);
  }
  return isNew;
}

} // namespace typecheck

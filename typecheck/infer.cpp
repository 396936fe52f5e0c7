#include "typecheck/infer.h"

#include "typecheck/settle.h"
#include "typecheck/use_report.h"

#include <algorithm>

namespace typecheck {

Inference::Inference(Checking& checking, lang::Diagnostics& diagnostics)
    : group_(checking, diagnostics), sizes_(group_), mentions_(group_, sizes_),
      walk_(group_, sizes_, mentions_) {
  group_.relations.questions.fieldType = [this](const lang::Constructor& constructor, size_t field,
                                                const Type* data) {
    return mentions_.fieldType(constructor, field, data);
  };
  group_.relations.questions.instanceType = [this](const lang::Global& instance) {
    return mentions_.typeOf(instance);
  };
}

void Inference::start(std::vector<const lang::Global*> group) {
  group_.start(std::move(group));
  rounds_ = 0;
  isWalked_ = false;
}

void Inference::walk() {
  before_ = {group_.diagnostics.errorCount(), group_.diagnostics.all().size(),
             group_.unifier.weakenedCount()};
  ++rounds_;
  group_.checking.cover();
  group_.startWalk();
  walk_.definitions();
  isWalked_ = true;
}

/// Where `?` took the place of a size, what had taken the size before keeps it. So the group is
/// inferred again from the types that were found, as if they were declared, until they stay:
/// printed with its types and read again, a program has the same ones.
bool Inference::advance() {
  // Real programs need two or three; those that need more were written for that.
  constexpr int mostRounds = 16;
  group_.relations.listen();
  do {
    if (!isWalked_)
      walk();
    if (!solveAll())
      return false;
    isWalked_ = false;
    if (isLeftOpen()) {
      group_.checking.open.add(group_.definitions, group_.relations.waits().forNumbers);
      group_.relations.clear();
      return true;
    }
  } while (finishRound() && rounds_ < mostRounds);
  return true;
}

/// Mistakes in the instances of single uses are mistakes of these.
void Inference::tellJoined() {
  std::vector<ReportedUse> uses;
  for (const Seen::Joined& joined : group_.seen.joined)
    uses.push_back({*joined.open, joined.range, joined.operands});
  tellUses(group_.diagnostics.all().subspan(before_.findings), uses, group_.unifier);
}

/// Says whether another round is needed.
bool Inference::finishRound() {
  settle(group_, sizes_);
  tellJoined();
  if (rounds_ > 1)
    group_.diagnostics.dropWarnings(before_.findings);
  bool isNew = writeTypes(group_);
  return isNew && group_.diagnostics.errorCount() <= before_.errors &&
         group_.unifier.weakenedCount() != before_.weakened;
}

/// Solves what can be solved; false while instances are needed for more.
bool Inference::solveAll() {
  do {
    group_.relations.solve();
    while (PendingRelation* next = group_.relations.nextToJoin()) {
      walk_.goOn(*next);
      group_.relations.solve();
    }
    if (!group_.relations.neededInstances().empty())
      return false;
  } while (!isLeftOpen() && group_.relations.settleNext());
  return true;
}

/// Whether the parameter of a function literal is something that parameters of the group do not
/// tell, as in a function that gives one.
bool Inference::hasOpenLiteral() {
  if (group_.seen.functions.size() == group_.definitions.size())
    return false;
  std::vector<const Type*> ofGroup;
  for (const lang::Global* global : group_.definitions)
    for (const lang::Var* parameter : global->function->parameters)
      ofGroup.push_back(group_.checking.vars.types[parameter->number]);
  std::vector<const Type*> told;
  for (const lang::Var* var : group_.seen.vars) {
    const Type* type = group_.checking.vars.types[var->number];
    if (var->origin != lang::VarOrigin::Parameter || !group_.unifier.shallow(type)->isUnknown() ||
        group_.unifier.numbers().of(type))
      continue;
    if (told.empty())
      told = group_.unifier.openUnknownsOf(ofGroup);
    if (std::ranges::count(told, group_.unifier.shallow(type)) == 0)
      return true;
  }
  return false;
}

/// Whether the uses of the group are to decide what its parameters are: relations wait for them.
/// Those who run `@main` need to know it.
bool Inference::isLeftOpen() {
  auto mayBeOpen = [](const lang::Global* global) { return global->function->mayBeOpen; };
  auto readsResult = [&](const lang::Global* global) {
    return !group_.checking.open.sizesOfResult(*global).empty();
  };
  if (!group_.checking.open.mayGrow() || group_.hasMistakes() || group_.holdsMain() ||
      !std::ranges::all_of(group_.definitions, mayBeOpen))
    return false;
  if (std::ranges::any_of(group_.definitions, readsResult) || hasOpenLiteral())
    return true;
  if (group_.relations.waits().forNumbers)
    return true;
  auto isPartial = [](const lang::Var* parameter) { return parameter->partial != nullptr; };
  for (const lang::Global* global : group_.definitions)
    if (std::ranges::any_of(global->function->parameters, isPartial))
      return true;
  std::vector<const Type*> awaited = group_.relations.awaited();
  for (const lang::Global* global : group_.definitions)
    for (const lang::Var* parameter : global->function->parameters)
      for (const Type* unknown :
           group_.unifier.openUnknowns(group_.checking.vars.types[parameter->number]))
        if (group_.unifier.numbers().of(unknown) || std::ranges::count(awaited, unknown) > 0)
          return true;
  // Of `p: Dense` uses tell the sizes.
  auto leavesSizes = [&](const lang::Var* parameter) {
    return group_.unifier.resolve(group_.checking.vars.types[parameter->number])->hasUnknown;
  };
  return group_.relations.waits().forSizes &&
         std::ranges::any_of(group_.definitions, [&](const lang::Global* global) {
           return std::ranges::any_of(global->function->parameters, leavesSizes);
         });
}

} // namespace typecheck

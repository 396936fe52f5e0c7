#include "typecheck/group.h"

#include <algorithm>

namespace typecheck {

using lang::Message;
using lang::TypeKind;

Group::Group(Checking& shared, lang::Diagnostics& findings)
    : checking(shared), diagnostics(findings), unifier(shared.unifier),
      relations(unifier, shared.open, shared.sizes.get(), shared.arena, findings,
                shared.vars.values) {}

void Group::start(std::vector<const lang::Global*> others) {
  definitions = std::move(others);
  relations.clear();
  relations.bounds.clear();
  walks_ = 0;
}

/// The lists keep their memory for the next walk.
void Group::startWalk() {
  ++walks_;
  errorsBefore_ = diagnostics.errorCount();
  seen.vars.clear();
  seen.functions.clear();
  seen.varScopes.clear();
  seen.functionScopes.clear();
  seen.genericScopes.resize(1);
  seen.genericScope = 0;
  seen.mistaken.clear();
  seen.equations.clear();
  seen.openInstances.clear();
  seen.holes.clear();
  seen.joined.clear();
  seen.isTooLarge = false;
}

bool Group::holdsMain() const {
  return std::ranges::count(definitions, "main", &lang::Global::name) > 0;
}

void Group::setType(const lang::Var& var, const Type* type) {
  checking.vars.types[var.number] = type;
  seen.vars.push_back(&var);
  seen.varScopes.push_back(seen.genericScope);
}

void Group::addNumber(const Type* unknown, lang::Dims shape, OpenClass its) {
  unifier.numbers().add(unknown, shape, its);
  relations.addNumber(unknown);
}

const Type* Group::foundType(const lang::Var& var) {
  const Type* found =
      walks_ > 1 && var.origin != lang::VarOrigin::Temporary ? checking.typing.of(var) : nullptr;
  return checking.facts.isShown(found) ? found : nullptr;
}

const Type* Group::foundResult(const lang::Function& function) {
  const Type* found = walks_ > 1 ? checking.typing.result(function) : nullptr;
  return checking.facts.isShown(found) ? found : nullptr;
}

const Type* Group::monomorphic(const Type* type) {
  const Type* known = unifier.shallow(type);
  bool isPolymorphic = known->kind == TypeKind::Function && !known->generics.empty();
  return isPolymorphic ? unifier.instantiate(known) : type;
}

bool Group::unify(const Type* left, const Type* right, lang::SourceRange range, bool keepRight) {
  UnifyResult result = unifier.unify(left, right, keepRight);
  for (const DimEquation& equation : unifier.dims().takeEquations())
    seen.equations.emplace_back(equation, range);
  if (result == UnifyResult::Same)
    return true;
  seen.mistaken.push_back(left);
  seen.mistaken.push_back(right);
  if (result == UnifyResult::Infinite)
    diagnostics.report(Message::InfiniteType, range, text(left), text(right));
  else if (result == UnifyResult::TooLarge)
    tooLarge(range);
  return result != UnifyResult::Different;
}

bool Group::require(const Type* wanted, const Type* given, lang::SourceRange range,
                    MismatchReporter report, bool keepGiven) {
  const Type* known = unifier.shallow(given);
  if (!unify(wanted, given, range, keepGiven)) {
    report(wanted, given);
    return false;
  }
  if (known->isUnknown())
    relations.expect(known, std::move(report));
  return true;
}

const Type* Group::tooLarge(lang::SourceRange range) {
  if (!checking.reportedTooLarge)
    diagnostics.report(Message::TypeTooLarge, range, Unifier::maximumSize, Unifier::maximumDepth);
  checking.reportedTooLarge = seen.isTooLarge = true;
  return unifier.types().error();
}

lang::Words Group::text(const Type* type) {
  return shortType(shownType(unifier, type));
}

lang::Words calleeText(const lang::Operand& callee) {
  if (const auto* global = callee.value->as<lang::Global>())
    return lang::words("`{}`", lang::globalName(global->name));
  if (const auto* constructor = callee.value->as<lang::Constructor>())
    return lang::words("constructor `{}`", lang::plainName(constructor->name));
  if (const auto* var = callee.value->as<lang::Var>(); var && !var->name.empty())
    return lang::words("`{}`", lang::localName(var->name));
  return "this function";
}

} // namespace typecheck

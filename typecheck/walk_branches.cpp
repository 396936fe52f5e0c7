// Branches: what all of them can be, what patterns bind, and whether they cover everything.
#include "lang/op/other_names.h"
#include "typecheck/call_edits.h"
#include "typecheck/exhaustive.h"
#include "typecheck/walk.h"

#include <fmt/format.h>

namespace typecheck {

using lang::Message;

namespace {

/// Whether an `if` stands for `&&` or `||`: one branch is settled, at the place of the whole.
bool isLogic(const lang::If& branch) {
  auto isSettled = [&](const lang::Block* block) {
    return block->bindings.empty() && block->result.value->as<lang::Constant>() &&
           block->result.range == branch.range;
  };
  return isSettled(branch.thenBlock) != isSettled(branch.elseBlock);
}

void reportNoTruth(lang::Diagnostics& diagnostics, lang::SourceRange range,
                   const lang::Words& given) {
  diagnostics.report(Message::TypeMismatch, range, "bool", given)
      .note("`&&` and `||` take single truth values; `logical_and` and `logical_or` go by element");
}

} // namespace

const Type* Walk::inferIf(const lang::If& branch) {
  const Type* condition = inferOperand(branch.condition);
  auto notBool = [this, &branch](const Type*, const Type* given) {
    if (isLogic(branch))
      return reportNoTruth(diagnostics_, branch.condition.range, group_.text(given));
    auto& report =
        diagnostics_.report(Message::ConditionNotBool, branch.condition.range, group_.text(given));
    const lang::OperatorRow* byElement = lang::calledElsewhere(checking_.operators, "?:");
    const Type* known = unifier_.shallow(given);
    if (byElement && known->isTensor() && !known->shape.empty())
      report.note(fmt::format("`{}` chooses by element", byElement->name));
  };
  group_.require(unifier_.types().scalar(runtime::Bool), condition, branch.condition.range,
                 notBool);
  const lang::Operand &first = branch.thenBlock->result, &second = branch.elseBlock->result;
  const auto told = std::make_shared<lang::SourceRange>();
  const Type* then = unifier_.slot(group_.monomorphic(inferBlock(*branch.thenBlock)));
  tell(told, then, first);
  const Type* otherwise = inferBlock(*branch.elseBlock);
  tell(told, otherwise, second);
  then = joinable(then, otherwise);
  if (unifier_.shallow(then)->isUnknown())
    relations_.expect(unifier_.shallow(then), branchReporter(told, first));
  // One of both sides of `&&` and `||` is a truth value for certain.
  auto noTruth = [this, &branch, &first, &second](const Type* left, const Type* right) {
    bool isFirst = second.range == branch.range;
    reportNoTruth(diagnostics_, isFirst ? first.range : second.range,
                  group_.text(isFirst ? left : right));
  };
  bool agree =
      group_.require(then, otherwise, second.range,
                     isLogic(branch) ? MismatchReporter(noTruth) : branchReporter(told, second));
  return agree ? then : unifier_.types().error();
}

/// What the branches so far and the next one can both be. A function that is polymorphic in all of
/// those, not in this one, is one of its instances in all.
const Type* Walk::joinable(const Type* branches, const Type* next) {
  if (unifier_.isTooLarge(branches))
    return branches;
  const Type* instance = unifier_.instantiateLike(branches, next);
  if (instance == branches)
    return branches;
  instance = unifier_.slot(instance);
  unifier_.unify(instance, branches);
  return instance;
}

/// A branch says what all are if its type is known by itself, before it is that of the others. What
/// `?` weakens is weak before others take it, and a polymorphic function must not be taken for the
/// instance that an operator gives.
void Walk::tell(const Told& told, const Type* type, const lang::Operand& branch) {
  relations_.solve();
  if (!told->isValid() && !unifier_.shallow(type)->isUnknown())
    *told = branch.range;
}

/// Says that a branch has another type than one before, or behind it.
MismatchReporter Walk::branchReporter(Told told, const lang::Operand& branch) {
  return [this, told, &branch](const Type* wanted, const Type* given) {
    auto& report = group_.reportTypes(Message::BranchMismatch, branch.range, wanted, given);
    if (told->isValid() && *told != branch.range)
      report.label(*told, differenceOf(unifier_.resolve(wanted), unifier_.resolve(given)).left);
    suggestNumber(report, branch, unifier_.resolve(wanted));
    suggestFunctionOf(report, branch.range, *unifier_.resolve(wanted), *unifier_.resolve(given));
  };
}

namespace {

/// The cases that are missing, and the verb for them.
lang::Words missingText(const MatchCoverage& found) {
  std::vector<lang::Words> parts;
  for (size_t i = 0; i < found.missing.size(); ++i) {
    bool isLast = i + 1 == found.missing.size() && !found.hasMoreMissing;
    parts.push_back(lang::words("{}`{}`", i == 0 ? "" : isLast ? " and " : ", ", found.missing[i]));
  }
  parts.push_back(found.hasMoreMissing        ? " and others are"
                  : found.missing.size() == 1 ? " is"
                                              : " are");
  return runtime::joined(std::move(parts), "");
}

void checkCoverage(const lang::Match& match, lang::Diagnostics& diagnostics) {
  MatchCoverage found = coverage(match);
  if (found.tooComplex) {
    diagnostics.report(Message::MatchTooComplex, match.range)
        .note("matches on one value after the other are easier to tell");
    return;
  }
  for (size_t arm : found.useless)
    diagnostics.report(Message::UselessArm, match.arms[arm].pattern->range);
  if (found.missing.empty() || match.isPartial)
    return;
  auto& report = diagnostics.report(Message::MissingCase, match.range, missingText(found));
  // The partial match is Relay's alone.
  report.note(runtime::either("a match has an arm for every case; `match?` may leave some out",
                              "a match has an arm for every case"));
  if (std::ranges::any_of(match.arms, [](const auto& arm) { return arm.pattern->isGuarded; }))
    report.note("an arm with a number or a guard may leave out what its pattern is for");
}

} // namespace

const Type* Walk::inferMatch(const lang::Match& match) {
  const Type* scrutinee = inferOperand(match.scrutinee);
  size_t mistakes = diagnostics_.errorCount();
  bool fits = true;
  for (const lang::Arm& arm : match.arms) {
    inferPattern(*arm.pattern, fits ? scrutinee : unifier_.types().error());
    fits = diagnostics_.errorCount() == mistakes;
  }
  const Type* result = unifier_.fresh();
  const auto told = std::make_shared<lang::SourceRange>();
  bool agree = true;
  for (const lang::Arm& arm : match.arms) {
    const Type* body = group_.monomorphic(inferBlock(*arm.body));
    const lang::Operand& branch = arm.body->result;
    tell(told, body, branch);
    result = joinable(result, body);
    agree &= group_.require(result, body, branch.range, branchReporter(told, branch));
  }
  if (fits)
    checkCoverage(match, diagnostics_);
  return agree ? result : unifier_.types().error();
}

void Walk::inferPattern(const lang::Pattern& pattern, const Type* type) {
  TypeContext& types = unifier_.types();
  switch (pattern.kind) {
  case lang::PatternKind::Wildcard:
    return;
  case lang::PatternKind::Var:
    group_.setType(*pattern.var,
                   sizes_.declared(pattern.var->annotation, group_.foundType(*pattern.var)));
    if (!group_.unify(varTypes_[pattern.var->number], type, pattern.range))
      group_.reportTypes(Message::PatternMismatch, pattern.range, varTypes_[pattern.var->number],
                         type);
    return;
  case lang::PatternKind::Constructor:
    inferConstructorPattern(pattern, type);
    return;
  case lang::PatternKind::Tuple: {
    std::vector<const Type*> parts;
    for (size_t i = 0; i < pattern.parts.size(); ++i)
      parts.push_back(unifier_.fresh());
    const Type* tuple = types.tuple(parts);
    if (!group_.unify(tuple, type, pattern.range)) {
      group_.reportTypes(Message::PatternMismatch, pattern.range, tuple, type);
      parts.assign(parts.size(), types.error());
    }
    for (size_t i = 0; i < parts.size(); ++i)
      inferPattern(*pattern.parts[i], parts[i]);
    return;
  }
  }
}

namespace {

/// Wildcards for the fields that a pattern leaves out.
void suggestWildcards(lang::Diagnostic& report, const lang::Pattern& pattern, size_t wanted) {
  size_t given = pattern.parts.size();
  std::string missing;
  for (size_t i = given; i < wanted && i < given + 16; ++i)
    missing += i == 0 ? "_" : ", _";
  uint32_t end = pattern.range.end - (given == 0 ? 0 : 1);
  if (!missing.empty())
    report.suggest({"a pattern has all fields: {}",
                    {{{end, end}, given == 0 ? fmt::format("({})", missing) : missing}},
                    pattern.range});
}

} // namespace

void Walk::inferConstructorPattern(const lang::Pattern& pattern, const Type* type) {
  TypeContext& types = unifier_.types();
  const lang::Constructor& constructor = *pattern.constructor;
  std::vector<const Type*> arguments;
  for (const lang::TypeParameter* generic : constructor.definition->generics)
    arguments.push_back(generic->kind == lang::ParameterKind::Dimension
                            ? types.dimension(unifier_.dims().fresh())
                            : unifier_.fresh());
  const Type* data = types.data(constructor.definition, arguments);
  bool fits = group_.unify(data, type, pattern.range);
  if (!fits)
    group_.reportTypes(Message::PatternMismatch, pattern.range, data, type);
  // What sizes a value was built with is not in its type, unless they are its arguments.
  auto forget = [&](const lang::Dim* dim) { return namesSize(dim) ? types.any() : dim; };
  size_t wanted = constructor.fields.size(), given = pattern.parts.size();
  if (wanted != given) {
    auto& report = diagnostics_.report(Message::PatternFieldCount, pattern.range, constructor.name,
                                       wanted, wanted == 1 ? "" : "s", given);
    suggestWildcards(report, pattern, wanted);
  }
  for (size_t i = 0; i < given; ++i) {
    bool known = fits && wanted == given;
    inferPattern(*pattern.parts[i],
                 known ? unifier_.substitute(unifier_.mapDims(constructor.fields[i], forget),
                                             constructor.definition->generics, arguments)
                       : types.error());
  }
}

} // namespace typecheck

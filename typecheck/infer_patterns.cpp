// Matches: what patterns bind, and whether they cover everything.
#include "typecheck/exhaustive.h"
#include "typecheck/infer.h"

#include <fmt/format.h>

namespace typecheck {

using lang::Message;
using lang::Type;
using lang::TypeContext;

const Type* Inference::inferMatch(const lang::Match& match) {
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
    const Type* body = monomorphic(inferBlock(*arm.body));
    const lang::Operand& branch = arm.body->result;
    tell(told, body, branch);
    result = joinable(result, body);
    agree &= require(result, body, branch.range, branchReporter(told, branch));
  }
  if (fits)
    checkCoverage(match);
  return agree ? result : unifier_.types().error();
}

namespace {

/// The cases that are missing, and the verb for them.
std::string missingText(const MatchCoverage& found) {
  std::string text;
  for (size_t i = 0; i < found.missing.size(); ++i) {
    bool isLast = i + 1 == found.missing.size() && !found.hasMoreMissing;
    text += fmt::format("{}`{}`", i == 0 ? "" : isLast ? " and " : ", ", found.missing[i]);
  }
  if (found.hasMoreMissing)
    return text + " and others are";
  return text + (found.missing.size() == 1 ? " is" : " are");
}

} // namespace

void Inference::checkCoverage(const lang::Match& match) {
  MatchCoverage found = coverage(match);
  if (found.tooComplex) {
    diagnostics_.report(Message::MatchTooComplex, match.range)
        .note("matches on one value after the other are easier to tell");
    return;
  }
  for (size_t arm : found.useless)
    diagnostics_.report(Message::UselessArm, match.arms[arm].pattern->range);
  if (found.missing.empty() || match.isPartial)
    return;
  auto& report = diagnostics_.report(Message::MissingCase, match.range, missingText(found));
  report.note("a match has an arm for every case; `match?` may leave some out");
  if (std::ranges::any_of(match.arms, [](const auto& arm) { return arm.pattern->isGuarded; }))
    report.note("an arm with a number or a guard may leave out what its pattern is for");
}

void Inference::inferPattern(const lang::Pattern& pattern, const Type* type) {
  TypeContext& types = unifier_.types();
  switch (pattern.kind) {
  case lang::PatternKind::Wildcard:
    return;
  case lang::PatternKind::Var:
    setType(*pattern.var, annotated(pattern.var->annotation, foundType(*pattern.var)));
    if (!unify(varTypes_[pattern.var->number], type, pattern.range))
      reportTypes(Message::PatternMismatch, pattern.range, varTypes_[pattern.var->number], type);
    return;
  case lang::PatternKind::Constructor:
    inferConstructorPattern(pattern, type);
    return;
  case lang::PatternKind::Tuple: {
    std::vector<const Type*> parts;
    for (size_t i = 0; i < pattern.parts.size(); ++i)
      parts.push_back(unifier_.fresh());
    const Type* tuple = types.tuple(parts);
    if (!unify(tuple, type, pattern.range)) {
      reportTypes(Message::PatternMismatch, pattern.range, tuple, type);
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

void Inference::inferConstructorPattern(const lang::Pattern& pattern, const Type* type) {
  TypeContext& types = unifier_.types();
  const lang::Constructor& constructor = *pattern.constructor;
  std::vector<const Type*> arguments;
  for (const lang::TypeParameter* generic : constructor.definition->generics)
    arguments.push_back(generic->kind == lang::ParameterKind::Dimension
                            ? types.dimension(unifier_.dims().fresh())
                            : unifier_.fresh());
  const Type* data = types.data(constructor.definition, arguments);
  bool fits = unify(data, type, pattern.range);
  if (!fits)
    reportTypes(Message::PatternMismatch, pattern.range, data, type);
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

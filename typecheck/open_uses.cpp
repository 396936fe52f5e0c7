// Uses of open definitions: they wait until the types of their operands are known, then for the
// instance of these types, whose type is then that of the use.
#include "typecheck/relations.h"
#include "typecheck/type_difference.h"

#include <algorithm>
#include <fmt/format.h>

namespace typecheck {

using lang::Message;

Relations::Wait Relations::askOpen(PendingRelation& relation, size_t number) {
  std::vector<const Type*> operands;
  for (size_t i = 0; i < relation.operands.size(); ++i) {
    const Type* operand = unifier_.resolve(relation.operands[i]);
    if (operand->isError()) {
      unifier_.unify(relation.result, unifier_.types().error());
      return {};
    }
    bool isKnown = !operand->hasUnknown || unifier_.numbers().of(operand);
    if (!isKnown && !open_.goesOn)
      return i;
    operands.push_back(isKnown ? operand : nullptr);
  }
  Instance* instance = definitions_.find(*relation.open, operands);
  if (!instance) {
    diagnostics_.report(Message::OpenUse, relation.range, relation.open->name,
                        "the program has too many instances already");
    unifier_.unify(relation.result, unifier_.types().error());
    return {};
  }
  if (!instance->isDone) {
    open_.needing.push_back(number);
    return relation.operands.size();
  }
  takeInstance(relation, *instance);
  return {};
}

void Relations::takeInstance(PendingRelation& relation, const Instance& instance) {
  if (instance.problem) {
    reportInstance(relation, *instance.problem);
    unifier_.unify(relation.result, unifier_.types().error());
    return;
  }
  definitions_.use(relation.mention, instance.global);
  const Type* function = questions.instanceType(*instance.global);
  for (size_t i = 0; i < relation.operands.size(); ++i)
    unifier_.unify(function->parts[i], relation.operands[i], true);
  unifyOrReport(relation, relation.result, function->result);
}

/// The mistake is one of the use: the definition is good for other types.
void Relations::reportInstance(const PendingRelation& relation, const lang::Diagnostic& problem) {
  auto& report =
      diagnostics_.report(Message::OpenUse, relation.range, relation.open->name, problem.text);
  report.label(problem.range, "here");
  for (const auto& label : problem.labels)
    report.label(label.range, label.text);
  report.shapes = problem.shapes;
  for (const std::string& note : problem.notes)
    report.note(note);
  const auto& parameters = relation.open->function->parameters;
  std::string types;
  for (size_t i = 0; i < relation.operands.size() && i < parameters.size(); ++i)
    types += fmt::format("{}`{}: {}`", i == 0 ? "" : ", ", parameters[i]->name,
                         shortTypeText(unifier_.resolve(relation.operands[i])));
  report.note("it is used with " + types);
}

} // namespace typecheck

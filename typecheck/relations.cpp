// Solving relations: rounds over the queue. In programs as they are written, operands come before
// their uses, so one round settles nearly everything; rounds go on while any relation is settled.
#include "typecheck/relations.h"

#include "lang/module.h"

#include <fmt/format.h>

namespace typecheck {

using lang::Message;
using lang::RelationResult;

void Relations::solve() {
  size_t before = 0;
  do {
    before = pending_.size();
    std::vector<PendingRelation> round = std::move(pending_);
    pending_.clear();
    for (PendingRelation& relation : round)
      if (ask(relation) == Progress::Waiting)
        pending_.push_back(std::move(relation));
  } while (!pending_.empty() && pending_.size() < before);
}

Relations::Progress Relations::ask(const PendingRelation& relation) {
  return relation.row ? askOperator(relation) : askProjection(relation);
}

Relations::Progress Relations::askProjection(const PendingRelation& relation) {
  const Type* tuple = unifier_.shallow(relation.operands[0]);
  if (tuple->isUnknown())
    return Progress::Waiting;
  if (tuple->isTuple() && relation.field < tuple->parts.size()) {
    unifyOrReport(relation, relation.result, tuple->parts[relation.field]);
    return Progress::Done;
  }
  if (tuple->isTuple())
    diagnostics_.report(Message::FieldOutOfRange, relation.range, relation.field,
                        tuple->parts.size(), lang::typeText(unifier_.resolve(tuple)));
  else if (!tuple->isError())
    diagnostics_.report(Message::NotATuple, relation.range, relation.field,
                        lang::typeText(unifier_.resolve(tuple)));
  unifier_.unify(relation.result, unifier_.types().error());
  return Progress::Done;
}

Relations::Progress Relations::askOperator(const PendingRelation& relation) {
  std::vector<const Type*> operands;
  for (const Type* operand : relation.operands) {
    operands.push_back(unifier_.resolve(operand));
    if (operands.back()->isError()) {
      unifier_.unify(relation.result, unifier_.types().error());
      return Progress::Done;
    }
  }
  std::vector<runtime::Tensor> constants;
  std::vector<const runtime::Tensor*> values(operands.size());
  if (relation.row->shapeNeeds == lang::ShapeNeeds::Values) {
    constants.reserve(operands.size());
    for (size_t i = 0; i < operands.size(); ++i)
      if (const auto* constant = relation.places[i]->value->as<lang::Constant>()) {
        constants.push_back(lang::constantTensor(*constant));
        values[i] = &constants.back();
      }
  }
  lang::RelationCall call{unifier_.types(), operands, *relation.attributes, values};
  RelationResult result = lang::applyRelation(*relation.row, call);
  switch (result.outcome) {
  case RelationResult::Outcome::Waiting:
    return Progress::Waiting;
  case RelationResult::Outcome::Failed:
    reportFailure(relation, result, operands);
    unifier_.unify(relation.result, unifier_.types().error());
    return Progress::Done;
  case RelationResult::Outcome::Solved:
    break;
  }
  for (const auto& [index, type] : result.operands)
    if (unifier_.unify(relation.operands[index], type) != UnifyResult::Same) {
      diagnostics_.report(
          Message::OperatorMismatch, relation.places[index]->range,
          fmt::format("`{}` of `{}` must be `{}` here, but it is `{}`",
                      relation.row->operands[index].name, relation.row->name,
                      lang::typeText(type), lang::typeText(operands[index])));
      unifier_.unify(relation.result, unifier_.types().error());
      return Progress::Done;
    }
  unifyOrReport(relation, relation.result, result.output);
  return Progress::Done;
}

void Relations::unifyOrReport(const PendingRelation& relation, const Type* left,
                              const Type* right) {
  if (unifier_.unify(left, right) != UnifyResult::Same)
    diagnostics_.report(Message::TypeMismatch, relation.range,
                        lang::typeText(unifier_.resolve(left)),
                        lang::typeText(unifier_.resolve(right)));
}

void Relations::reportFailure(const PendingRelation& relation, const RelationResult& result,
                              std::span<const Type* const> operands) {
  lang::SourceRange range = relation.range;
  if (result.operand && *result.operand < relation.places.size())
    range = relation.places[*result.operand]->range;
  auto& report = diagnostics_.report(Message::OperatorMismatch, range, result.problem);
  const auto& rows = relation.row->operands;
  for (size_t i = 0; i < operands.size() && i < rows.size() && operands.size() > 1; ++i)
    report.label(relation.places[i]->range,
                 fmt::format("`{}`: {}", rows[i].name, lang::typeText(operands[i])));
  if (operands.size() == 1)
    report.note(fmt::format("`{}` is `{}`", rows.empty() ? "the operand" : rows[0].name,
                            lang::typeText(operands[0])));
  if (!result.help.empty())
    report.suggest(result.help);
}

void Relations::reportUnsolved() {
  for (const PendingRelation& relation : pending_) {
    if (!relation.row) {
      diagnostics_.report(Message::CannotInfer, relation.range, "this field");
      continue;
    }
    std::string_view waitsFor = "an operand";
    for (size_t i = 0; i < relation.operands.size() && i < relation.row->operands.size(); ++i)
      if (unifier_.resolve(relation.operands[i])->hasUnknown)
        waitsFor = relation.row->operands[i].name;
    diagnostics_.report(Message::UnsolvedCall, relation.range, relation.row->name, waitsFor);
  }
  pending_.clear();
}

} // namespace typecheck

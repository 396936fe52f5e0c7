// Uses of open definitions: they wait until the types of their operands are known, then for the
// instance of these types, whose type is then that of the use.
#include "typecheck/partial_types.h"
#include "typecheck/relations.h"
#include "typecheck/type_difference.h"
#include "typecheck/type_parameters.h"
#include "typecheck/use_report.h"

#include <algorithm>
#include <fmt/format.h>

namespace typecheck {

using lang::Message;

namespace {

/// The first of some sizes of a declared type that is no number in a type; null when all are.
/// Recursion follows types, which are bounded.
const Dim* openSize(const Type& declared, const Type& type, std::span<const Dim* const> sizes) {
  if (type.isError() || declared.kind != type.kind || declared.parts.size() != type.parts.size() ||
      declared.shape.size() != type.shape.size())
    return nullptr;
  for (size_t i = 0; i < type.shape.size(); ++i)
    if (std::ranges::count(sizes, declared.shape[i]) > 0 && !type.shape[i]->isConstant())
      return declared.shape[i];
  for (size_t i = 0; i < type.parts.size(); ++i)
    if (const Dim* open = openSize(*declared.parts[i], *type.parts[i], sizes))
      return open;
  return nullptr;
}

/// Whether an instance lacks what its use may tell, as where it gives a function.
bool isOfWhatIsKnown(const lang::Diagnostic& problem) {
  return problem.message == Message::CannotInfer || problem.message == Message::UnsolvedCall;
}

/// Whether a type mentions type parameters, which are of the definition that the use is in and so
/// mean nothing in an instance that others share.
bool mentionsParameters(const Type* type) {
  bool isPlain = type->isTensor() && !type->hasSymbol;
  return !isPlain && !freeParameters(type).empty();
}

} // namespace

/// Nobody but who walks over definitions can go on with it.
Relations::Wait Relations::waitToJoin(const PendingRelation& relation, size_t number) {
  open_.joining.push_back(number);
  return relation.operands.size();
}

Relations::Wait Relations::askOpen(PendingRelation& relation, size_t number) {
  if (definitions_.ownOf(relation.mention))
    return waitToJoin(relation, number);
  std::vector<const Type*> operands;
  for (size_t i = 0; i < relation.operands.size(); ++i) {
    const Type* operand = unifier_.resolve(relation.operands[i]);
    if (operand->isError()) {
      unifier_.unify(relation.result, unifier_.types().error());
      return {};
    }
    if (!fitsPartial(relation, i)) {
      unifier_.unify(relation.result, unifier_.types().error());
      return {};
    }
    operand = unifier_.resolve(relation.operands[i]);
    bool isKnown = !operand->hasUnknown || unifier_.numbers().of(operand);
    if (!isKnown) {
      if (unifier_.openUnknowns(operand).empty())
        open_.shaped.push_back(number);
      return i;
    }
    operands.push_back(operand);
  }
  if (auto sizes = definitions_.sizesOfResult(*relation.open); !sizes.empty()) {
    const Type* result = unifier_.resolve(relation.result);
    const Dim* open = openSize(*relation.open->function->resultAnnotation, *result, sizes);
    if (open && !open_.goesOn) {
      open_.sized.push_back(number);
      return relation.operands.size();
    }
    if (open) {
      diagnostics_.report(Message::UnknownSize, relation.range, lang::dimText(open))
          .note(lang::words("`{}` reads it off the type that its result is to have here",
                            lang::plainName(relation.open->name)));
      unifier_.poison(relation.result);
      return {};
    }
    operands.push_back(result);
  }
  if (std::ranges::any_of(operands, mentionsParameters))
    return waitToJoin(relation, number);
  Instance* instance = definitions_.find(*relation.open, operands, numbersOfOperands(relation));
  if (!instance) {
    diagnostics_.report(Message::OpenUse, relation.range, lang::plainName(relation.open->name),
                        "the program has too many instances already");
    unifier_.unify(relation.result, unifier_.types().error());
    return {};
  }
  if (!instance->isDone) {
    open_.needing.push_back(number);
    open_.needed.push_back(instance);
    return relation.operands.size();
  }
  if (instance->problem && isOfWhatIsKnown(*instance->problem))
    return waitToJoin(relation, number);
  takeInstance(relation, *instance);
  return {};
}

/// Whether an operand is what its parameter says of it, as far as that is known; a number gets the
/// element type.
bool Relations::fitsPartial(const PendingRelation& relation, size_t i) {
  const lang::PartialTensor* partial = relation.open->function->parameters[i]->partial;
  if (!partial)
    return true;
  const OpenNumbers::Number* number = unifier_.numbers().of(relation.operands[i]);
  if (number && partial->dtype.bits > 0 &&
      holdsNumbers(partial->dtype, unifier_.numbers().classOf(*number)))
    unifier_.numbers().decide(OpenNumbers::Number(*number), partial->dtype);
  const Type* operand = unifier_.resolve(relation.operands[i]);
  if (const OpenNumbers::Number* open = unifier_.numbers().of(operand))
    operand = partial->dtype.bits > 0 ? unifier_.types().tensor(open->shape, partial->dtype)
                                      : shownType(unifier_, operand);
  if (operand->isUnknown() || fits(*partial, *operand, relation.names, unifier_))
    return true;
  lang::SourceRange range = i < relation.places.size() ? relation.places[i].range : relation.range;
  auto& report = diagnostics_.report(Message::ArgumentMismatch, range, i + 1,
                                     lang::words("`{}`", lang::globalName(relation.open->name)),
                                     partialText(*partial), shortType(operand));
  for (ToldSize size : clashes(*partial, *operand, relation.names, unifier_))
    tellSize(report, *relation.open->function, relation.places, i, size, unifier_);
  return false;
}

void Relations::takeInstance(PendingRelation& relation, const Instance& instance) {
  if (instance.problem) {
    reportInstance(relation, *instance.problem);
    unifier_.unify(relation.result, unifier_.types().error());
    return;
  }
  definitions_.use(relation.mention, instance.global);
  const Type* function = unifier_.instantiate(questions.instanceType(*instance.global));
  for (size_t i = 0; i < relation.operands.size(); ++i)
    unifier_.unify(function->parts[i], relation.operands[i], true);
  unifyOrReport(relation, relation.result, function->result);
}

void Relations::reportInstance(const PendingRelation& relation, const lang::Diagnostic& problem) {
  auto& report = diagnostics_.report(Message::OpenUse, relation.range,
                                     lang::plainName(relation.open->name), problem.text.settled());
  addProblem(report, problem, {*relation.open, relation.range, relation.operands}, unifier_);
}

} // namespace typecheck

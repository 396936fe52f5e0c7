// Solving relations: rounds over those that are ready, in the order of the program. Operands mostly
// come before their uses, so one round settles nearly everything.
#include "typecheck/relations.h"

#include "lang/ir/module.h"
#include "lang/ir/open_marks.h"
#include "lang/ir/open_number.h"
#include "lang/op/op.h"
#include "lang/op/operand_demand.h"
#include "lang/op/other_names.h"
#include "typecheck/call_edits.h"
#include "typecheck/doubtful_numbers.h"
#include "typecheck/masked_reads.h"
#include "typecheck/shape_report.h"
#include "typecheck/type_difference.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace typecheck {

using lang::Message;
using lang::RelationResult;

namespace {

/// The type parameter that an operand is, or that a field of a tuple operand is; null when none is.
const lang::TypeParameter* parameterOf(const Type* operand) {
  if (operand->isTuple())
    for (const Type* field : operand->parts)
      if (field->kind == lang::TypeKind::Variable)
        return field->parameter;
  return operand->parameter;
}

/// Whether an operator takes a value whose type is a parameter: one that takes any value does.
bool takesParameters(const lang::OperatorRow& row, size_t operand) {
  return row.operand(operand).kind == lang::OperandKind::Any;
}

/// Whether a known operand is what a relation asks for but for extents that one of them leaves
/// open. Nothing follows from such a demand: to unify would weaken the operand, and more or less so
/// by the order of what else is known of it.
bool fitsAsFarAsKnown(const Type* operand, const Type* wanted) {
  return operand->isTensor() && wanted->isTensor() && !operand->hasUnknown &&
         operand->dtype == wanted->dtype &&
         std::ranges::equal(operand->shape, wanted->shape,
                            [](const lang::Dim* left, const lang::Dim* right) {
                              return left == right || left->isAny() || right->isAny();
                            });
}

} // namespace

Relations::Relations(Unifier& unifier, OpenDefinitions& definitions, KnownSizes* sizes,
                     runtime::Arena& attributes, lang::Diagnostics& diagnostics,
                     const std::vector<const lang::Expr*>& values)
    : unifier_(unifier), definitions_(definitions), sized_(unifier, sizes, attributes),
      numbers_(unifier,
               [this](const PendingRelation& relation, std::span<const Type* const> operands) {
                 return answer(relation, operands);
               }),
      diagnostics_(diagnostics), values_(values) {}

void Relations::listen() {
  unifier_.onBound = [this](uint32_t unknown) {
    auto found = queue_.waiting.find(unknown);
    if (found == queue_.waiting.end())
      return;
    queue_.ready.insert(found->second.begin(), found->second.end());
    queue_.waiting.erase(found);
  };
}

/// Whether only who walks over definitions can go on with it.
static bool needsWalk(const PendingRelation& relation) {
  return relation.open || relation.call || relation.asValue;
}

void Relations::add(const PendingRelation& relation, lang::Types operands) {
  if (needsWalk(relation))
    open_.walked.push_back(relations_.size());
  relations_.push_back(arena_.make<PendingRelation>(relation));
  relations_.back()->operands = arena_.copy(operands);
}

/// The number of the next relation to ask, of those from a number on before the others.
std::optional<size_t> Relations::next(size_t from) {
  auto again = queue_.ready.lower_bound(from);
  bool isFresh = queue_.firstFresh < relations_.size();
  if (isFresh && (again == queue_.ready.end() || queue_.firstFresh < *again))
    return queue_.firstFresh++;
  if (queue_.ready.empty())
    return std::nullopt;
  if (again == queue_.ready.end())
    again = queue_.ready.begin();
  size_t number = *again;
  queue_.ready.erase(again);
  return number;
}

/// Nobody tells those that wait for sizes when these are solved, so they are asked for again.
void Relations::solve() {
  queue_.ready.insert(open_.needing.begin(), open_.needing.end());
  open_.needing.clear();
  open_.needed.clear();
  uint64_t solved = 0;
  do {
    for (std::vector<size_t>* waiting : {&open_.sized, &open_.shaped}) {
      queue_.ready.insert(waiting->begin(), waiting->end());
      waiting->clear();
    }
    solved = unifier_.dims().solvedCount();
    solveReady();
  } while (unifier_.dims().solvedCount() != solved &&
           !(open_.sized.empty() && open_.shaped.empty()));
}

void Relations::solveReady() {
  for (size_t from = 0; auto found = next(from);) {
    size_t number = *found;
    from = number + 1;
    PendingRelation& relation = *relations_[number];
    if (relation.isDone)
      continue;
    if (Wait operand = ask(relation, number))
      waitFor(number, *operand);
    else
      relation.isDone = true;
  }
}

std::vector<const Type*> Relations::awaited() {
  std::vector<const Type*> found;
  for (const PendingRelation* relation : relations_)
    if (!relation->isDone)
      for (const Type* operand : relation->operands)
        for (const Type* unknown : unifier_.openUnknowns(operand))
          if (!isSolvedByParameter(*relation, unknown))
            found.push_back(unknown);
  return found;
}

/// Whether a relation has an answer if an unknown operand is a type parameter.
bool Relations::isSolvedByParameter(const PendingRelation& relation, const Type* unknown) {
  if (!relation.row)
    return false;
  lang::TypeContext& types = unifier_.types();
  const Type* parameter = types.variable(types.parameter("A", this));
  std::vector<const Type*> operands;
  for (size_t i = 0; i < relation.operands.size(); ++i) {
    bool isUnknown = unifier_.shallow(relation.operands[i]) == unknown;
    if (isUnknown && !takesParameters(*relation.row, i))
      return false;
    operands.push_back(isUnknown ? parameter : unifier_.resolve(relation.operands[i]));
  }
  return answer(relation, operands).outcome == RelationResult::Outcome::Solved;
}

/// An operand behind the last one is an instance, which the next round asks for again.
void Relations::waitFor(size_t relation, size_t operand) {
  lang::Types operands = relations_[relation]->operands;
  if (operand >= operands.size())
    return;
  for (const Type* unknown : unifier_.openUnknowns(operands[operand]))
    queue_.waiting[unknown->number].push_back(relation);
}

Relations::Wait Relations::ask(PendingRelation& relation, size_t number) {
  if (relation.open)
    return askOpen(relation, number);
  if (relation.call || relation.asValue)
    return askWalk(relation, number);
  if (relation.change)
    return askChange(relation);
  if (relation.counts)
    return askCount(relation);
  if (relation.attributed && !settleAttributes(relation, number))
    return relation.isDone ? Wait{} : relation.operands.size();
  return relation.row ? askOperator(relation) : askProjection(relation);
}

void Relations::reportField(const PendingRelation& relation, const Type& tuple) {
  auto& report = diagnostics_.report(Message::FieldOutOfRange, relation.range, relation.field,
                                     tuple.parts.size(), shortType(unifier_.resolve(&tuple)));
  uint32_t end = relation.range.end, length = uint32_t(std::to_string(relation.field).size());
  if (relation.field > 0 && relation.field == tuple.parts.size())
    report.suggest({"fields count from 0: {}",
                    {{{end - length, end}, std::to_string(relation.field - 1)}},
                    relation.range});
}

void Relations::reportNoTuple(const PendingRelation& relation, const Type& type) {
  auto& report = diagnostics_.report(Message::NotATuple, relation.range, relation.field,
                                     shortType(unifier_.resolve(&type)));
  if (type.kind != lang::TypeKind::Data || type.definition->constructors.empty())
    return;
  const lang::Constructor& first = *type.definition->constructors[0];
  report.note(fmt::format("the fields of a data type get names by `match`: `{}{} => ...`",
                          first.name, first.fields.empty() ? "" : "(...)"));
}

Relations::Wait Relations::askProjection(const PendingRelation& relation) {
  const Type* tuple = unifier_.shallow(relation.operands[0]);
  if (tuple->isUnknown())
    return 0;
  if (!relation.fieldName.empty()) {
    askField(relation, tuple);
    return {};
  }
  bool isWhole = tuple->isTuple() && relation.fieldCount == tuple->parts.size();
  if (relation.fieldCount > 0 && !isWhole && !tuple->isError()) {
    std::vector<std::string_view> parts(relation.fieldCount, "_");
    diagnostics_.report(Message::PatternMismatch, relation.range,
                        fmt::format("({})", fmt::join(parts, ", ")),
                        shortType(unifier_.resolve(tuple)));
    unifier_.unify(relation.result, unifier_.types().error());
    return {};
  }
  if (tuple->isTuple() && relation.field < tuple->parts.size()) {
    unifyOrReport(relation, relation.result, tuple->parts[relation.field]);
    return {};
  }
  if (tuple->isTuple())
    reportField(relation, *tuple);
  else if (!tuple->isError())
    reportNoTuple(relation, *tuple);
  unifier_.unify(relation.result, unifier_.types().error());
  return {};
}

/// What is called, or what function a place wants of an operator, has to be known; then only who
/// walks over definitions can go on with it.
Relations::Wait Relations::askWalk(const PendingRelation& relation, size_t number) {
  const Type* function = unifier_.shallow(relation.operands[0]);
  if (function->isUnknown() && !unifier_.numbers().of(function))
    return 0;
  return waitToJoin(relation, number);
}

/// Takes what a relation that waits knows of its result. The operands may be known from that.
Relations::Wait Relations::waitOrGoOn(PendingRelation& relation, const RelationResult& result,
                                      std::span<const Type* const> operands) {
  if (result.output) {
    if (!unifyOrReport(relation, relation.result, result.output))
      return {};
    for (size_t i = 0; i < operands.size(); ++i)
      if (unifier_.resolve(relation.operands[i]) != operands[i])
        return askOperator(relation);
  }
  return result.operand.value_or(0);
}

RelationResult Relations::answer(const PendingRelation& relation,
                                 std::span<const Type* const> operands) {
  static constexpr std::array<const runtime::Tensor*, 8> none{};
  bool needsValues = relation.isComputed;
  if (relation.row->shapeNeeds != lang::ShapeNeeds::Constants && !needsValues &&
      operands.size() <= none.size())
    return lang::applyRelation(*relation.row, {unifier_.types(), operands, *relation.attributes,
                                               std::span(none).first(operands.size())});
  std::vector<runtime::Tensor> constants;
  std::vector<const runtime::Tensor*> values(operands.size());
  if (relation.row->shapeNeeds == lang::ShapeNeeds::Constants) {
    constants.reserve(operands.size());
    for (size_t i = 0; i < operands.size(); ++i)
      if (const auto* constant = relation.places[i].value->as<lang::Constant>()) {
        auto tensor = constant->open == lang::OpenNumber::None
                          ? std::optional(lang::constantTensor(*constant))
                          : lang::tensorIn(*constant, operands[i]->dtype);
        if (tensor)
          values[i] = &constants.emplace_back(*std::move(tensor));
      }
  }
  std::vector<std::vector<const Dim*>> lists;
  std::vector<std::optional<lang::Dims>> sizes = sized_.sizesOf(relation, lists);
  RelationResult result = lang::applyRelation(*relation.row, {.types = unifier_.types(),
                                                              .operands = operands,
                                                              .attributes = *relation.attributes,
                                                              .values = values,
                                                              .sizes = sizes,
                                                              .calledAs = relation.calledAs()});
  if (relation.isComputed)
    sized_.forgetNumbers(result);
  return result;
}

/// Whether something was found out about the numbers, by which the relation can go on or is done.
bool Relations::decideNumbers(PendingRelation& relation, std::span<const Type* const> operands) {
  NumberRelations::Found found = numbers_.ask(relation, operands);
  if (found.result) {
    relation.isDone = true;
    addNumber(found.result);
    unifyOrReport(relation, relation.result, found.result);
  }
  return found.isDecided || found.result;
}

Relations::Wait Relations::askOperator(PendingRelation& relation) {
  auto known = [&](const Type* operand) { return unifier_.resolve(operand); };
  lang::Types operands = arena_.copy(relation.operands | std::views::transform(known));
  // What is wrong with a function was told where it is.
  auto isWrong = [](const Type* operand) {
    return operand->isError() ||
           (operand->kind == lang::TypeKind::Function && operand->result->isError());
  };
  if (std::ranges::any_of(operands, isWrong)) {
    unifier_.unify(relation.result, unifier_.types().error());
    return {};
  }
  auto isNumber = [&](const Type* operand) {
    return operand->hasUnknown && numbers_.holdsNumber(operand);
  };
  bool hasNumbers = std::ranges::any_of(operands, isNumber);
  // What is shown is given as it is, whatever it is; the numbers in it need not agree.
  const Type* any = unifier_.types().tuple({});
  if (hasNumbers && relation.row->role == lang::Role::Print &&
      answer(relation, {&any, 1}).outcome == RelationResult::Outcome::Solved) {
    unifyOrReport(relation, relation.result, relation.operands[0]);
    return {};
  }
  if (hasNumbers) {
    if (!decideNumbers(relation, operands))
      return numbers_.awaitedBeside(operands);
    return relation.isDone ? Wait{} : askOperator(relation);
  }
  for (size_t i = 0; i < operands.size(); ++i)
    if (parameterOf(operands[i]) && !takesParameters(*relation.row, i))
      return i;
  bool isMasked = relation.isInBrackets && operands[0]->isTensor() && isMask(operands[1]);
  RelationResult result =
      isMasked ? maskedRelation({unifier_.types(), operands, *relation.attributes}, unifier_)
               : answer(relation, operands);
  switch (result.outcome) {
  case RelationResult::Outcome::Waiting:
    return waitOrGoOn(relation, result, operands);
  case RelationResult::Outcome::Failed:
    reportFailure(relation, std::move(result), operands);
    for (const Type* operand : relation.operands)
      unifier_.poison(operand);
    unifier_.unify(relation.result, unifier_.types().error());
    return {};
  case RelationResult::Outcome::Solved:
    break;
  }
  for (const auto& [index, type] : result.operands)
    if (!fitsAsFarAsKnown(operands[index], type) &&
        unifier_.unify(relation.operands[index], type) != UnifyResult::Same) {
      diagnostics_.report(Message::OperatorMismatch, relation.places[index].range,
                          lang::demandProblem(relation.row->operand(index).name,
                                              relation.calledAs(), type, operands[index]));
      unifier_.unify(relation.result, unifier_.types().error());
      return {};
    }
  collectBounds(relation, result);
  if (!result.doubt.empty())
    diagnostics_.report(Message::DoubtfulCall, relation.range, relation.calledAs(), result.doubt);
  else if (definitions_.mayGrow())
    doubtNumbers(relation, operands, values_, diagnostics_);
  takeResult(relation, result.output);
  return {};
}

/// A result whose element type its use decides is an open number.
void Relations::takeResult(const PendingRelation& relation, const Type* output) {
  if (relation.opens != OpenClass::None && output->isTensor()) {
    const Type* number = unifier_.fresh();
    unifier_.numbers().add(number, output->shape, relation.opens);
    addNumber(number);
    output = number;
  }
  unifyOrReport(relation, relation.result, output);
}

/// Whether the attributes that arguments give are known. A call that waits is asked for again.
bool Relations::settleAttributes(PendingRelation& relation, size_t number) {
  const lang::Call& call = *relation.attributed;
  auto open = sized_.settleAttributes(relation);
  if (open && !open_.goesOn) {
    open_.sized.push_back(number);
  } else if (open) {
    relation.isDone = true;
    std::vector<std::string_view> names = lang::attributeMarksOf(call);
    const lang::Operand& given = call.arguments[call.arguments.size() - names.size() + *open];
    auto& report = diagnostics_.report(Message::AttributeMismatch, given.range, names[*open],
                                       relation.row->name, "a number", "only known when this runs");
    std::string pair = fmt::format("{}(a, b)", relation.row->name);
    for (std::string_view form : lang::formsElsewhere(pair))
      report.note(fmt::format("`{}` of two tensors is `{}`", pair, form));
    report.note("sizes of a type whose sizes are numbers are numbers");
    unifier_.unify(relation.result, unifier_.types().error());
  }
  return !open;
}

/// What a number that counts something is may be decided by other uses of it.
Relations::Wait Relations::askCount(const PendingRelation& relation) {
  const Type* count = unifier_.shallow(relation.operands[0]);
  const OpenNumbers::Number* number = unifier_.numbers().of(count);
  if (count->isUnknown() && !number)
    return 0;
  if (!count->isError() && !sized_.isCount(relation, count))
    diagnostics_.report(Message::NoCount, relation.range,
                        number && unifier_.numbers().classOf(*number) != OpenClass::Integer
                            ? "a number that is no integer"
                            : shortType(unifier_.resolve(count)));
  unifyOrReport(relation, relation.result, unifier_.types().scalar(runtime::Int64));
  return {};
}

void Relations::collectBounds(const PendingRelation& relation, const RelationResult& result) {
  auto require = [&](const lang::DimBound& bound) {
    bool isSure = bound.divisor == 1 && isAtLeast(bound.dim, bound.least);
    if (isSure || bound.dim->isConstant())
      return;
    lang::Requirement requirement{bound.dim, bound.least, relation.row, relation.range,
                                  bound.divisor};
    bounds.push_back({relation.definition, nullptr, requirement, bound.dim, relation.range});
  };
  for (const lang::DimBound& bound : result.bounds) {
    require(simplified({bound.dim, bound.least}));
    if (bound.divisor > 1)
      require({bound.dim, 0, bound.divisor});
  }
}

bool Relations::unifyOrReport(const PendingRelation& relation, const Type* left,
                              const Type* right) {
  if (unifier_.unify(left, right) == UnifyResult::Same)
    return true;
  if (auto expectation = queue_.expectations.find(relation.result);
      expectation != queue_.expectations.end()) {
    expectation->second(left, right);
  } else {
    const Type *expected = unifier_.resolve(left), *found = unifier_.resolve(right);
    TypeDifference difference = differenceOf(expected, found);
    auto& report = diagnostics_.report(Message::TypeMismatch, relation.range, difference.left,
                                       difference.right);
    showDifference(report, expected, found);
  }
  unifier_.poison(left);
  unifier_.poison(right);
  return false;
}

namespace {

/// How a part of a tuple or a list is read, which brackets do of tensors, and what a list is made a
/// tensor by.
void noteOtherForms(lang::Diagnostic& report, const lang::OperatorRow& row, const Type& operand) {
  bool reads = row.role == lang::Role::Take || row.role == lang::Role::TakePoints ||
               row.role == lang::Role::Slice;
  bool isList = operand.kind == lang::TypeKind::Data && operand.definition->name == "List";
  if (reads && operand.isTuple())
    report.note("brackets read of tensors; a field of a tuple is `t.0`");
  else if (reads && isList)
    report.note(
        "brackets read of tensors; element `i` of a list is `nth(xs, i)`, the first `hd(xs)`");
  else if (isList)
    for (std::string_view form : lang::formsElsewhere(fmt::format("{}(xs)", row.name)))
      report.note(fmt::format("of a list it is `{}`", form));
}

} // namespace

/// What is wrong is told of operands whose numbers are what they are by themselves, if that is as
/// wrong.
void Relations::reportFailure(const PendingRelation& relation, RelationResult result,
                              lang::Types operands) {
  auto byItself = [&](const Type* operand) { return shownType(unifier_, operand); };
  lang::Types closed = arena_.copy(operands | std::views::transform(byItself));
  if (RelationResult again = answer(relation, closed);
      again.outcome == RelationResult::Outcome::Failed) {
    result = std::move(again);
    operands = closed;
  }
  auto isOther = [&](const lang::DimMark& mark) { return mark.operand != result.operand; };
  // A clash between operands is a mistake of the call; nobody knows which of them is wrong.
  bool isOfOne = result.operand && *result.operand < relation.places.size() &&
                 std::ranges::none_of(result.marks, isOther);
  lang::SourceRange range = isOfOne ? relation.places[*result.operand].range : relation.range;
  auto& report = diagnostics_.report(Message::OperatorMismatch, range, result.problem);
  std::vector<const lang::Operand*> places;
  for (const lang::Operand& place : relation.places)
    places.push_back(&place);
  std::vector<const Type*> shown = sized_.withoutSizes(relation, operands);
  report.shapes = operandShapes(*relation.row, places, shown, result, values_);
  for (size_t i = 0; i < operands.size() && operands.size() > 1; ++i)
    if (isShown(result, i, operands.size()))
      report.label(relation.places[i].range, std::string(relation.row->operand(i).name));
  if (shown.size() == 1 && shown[0] == operands[0] && report.shapes.rows.empty())
    report.note(lang::words("`{}` is `{}`", relation.row->operand(0).name, shortType(operands[0])));
  CallPlaces at{relation.range, *relation.attributes, places, values_};
  for (const lang::CallFix& fix : result.fixes)
    addFix(report, fix, *relation.row, at);
  if (!operands.empty())
    noteOtherForms(report, *relation.row, *operands[0]);
  bool takesFunction = relation.row->derivative != lang::Derivative::None;
  if (takesFunction && operands[0]->kind != lang::TypeKind::Function)
    suggestFunctionItself(report, at);
  if (isOfOne && operands[*result.operand]->kind == lang::TypeKind::Reference)
    report.suggest({"what a reference holds is read by {}",
                    {{{range.begin, range.begin}, "ref_read("}, {{range.end, range.end}, ")"}}});
}

void Relations::reportUnsolved(const PendingRelation& relation) {
  bool isOpen = unifier_.shallow(relation.result)->isUnknown();
  unifier_.poison(relation.result);
  // What follows from the operands is no news either, once they were looked at.
  auto poisonOperands = [&] {
    for (const Type* operand : relation.operands)
      unifier_.poison(operand);
  };
  if (!relation.row) {
    if (isOpen)
      diagnostics_.report(Message::CannotInfer, relation.range,
                          relation.open ? "this use" : "this field");
    return;
  }
  for (size_t i = 0; i < relation.operands.size(); ++i) {
    const Type* type = unifier_.resolve(relation.operands[i]);
    const lang::TypeParameter* parameter =
        takesParameters(*relation.row, i) ? nullptr : parameterOf(type);
    if (!parameter && !type->hasUnknown)
      continue;
    std::string_view operand = relation.row->operand(i).name;
    auto& report =
        diagnostics_.report(Message::UnsolvedCall, relation.range, relation.calledAs(), operand);
    if (parameter)
      report.note(fmt::format("`{}` is the type parameter `{}`, which may stand for any type, not "
                              "only for tensors",
                              operand, parameter->name));
    poisonOperands();
    return;
  }
  if (isOpen) {
    diagnostics_.report(Message::CannotInfer, relation.range, "this expression");
    return;
  }
  // What it waited for may have become a type parameter in the meantime.
  std::vector<const Type*> operands;
  for (const Type* operand : relation.operands)
    operands.push_back(unifier_.resolve(operand));
  RelationResult result = answer(relation, operands);
  if (result.outcome == RelationResult::Outcome::Failed)
    reportFailure(relation, result, operands);
}

void Relations::reportUnsolved() {
  for (PendingRelation* relation : relations_)
    if (!relation->isDone) {
      relation->isDone = true;
      reportUnsolved(*relation);
      solve();
    }
}

namespace {

bool isCall(Unifier&, const PendingRelation& relation) {
  return relation.open && !relation.places.empty();
}

/// Whether a use is a call to which functions are passed that are not known, such as literals.
bool passesOpenFunctions(Unifier& unifier, const PendingRelation& use) {
  auto isOpen = [&](const Type* operand) {
    const Type* known = unifier.resolve(operand);
    return known->kind == lang::TypeKind::Function && known->hasUnknown &&
           std::ranges::any_of(unifier.openUnknowns(known),
                               [&](const Type* unknown) { return !unifier.numbers().of(unknown); });
  };
  return isCall(unifier, use) && std::ranges::any_of(use.operands, isOpen);
}

} // namespace

/// Uses, calls and operators as values from the first one on that is open.
std::span<const size_t> Relations::openWalks() {
  while (open_.firstWalked < open_.walked.size() &&
         relations_[open_.walked[open_.firstWalked]]->isDone)
    ++open_.firstWalked;
  return std::span(open_.walked).subspan(open_.firstWalked);
}

/// Lets the first use of those that are meant have an instance of its own, and the first call be
/// one of a function. What waits for sizes of its result has all types that it needs.
bool Relations::joinFirst(bool (*isMeant)(Unifier&, const PendingRelation&)) {
  for (size_t number : openWalks()) {
    const PendingRelation& relation = *relations_[number];
    if (!relation.isDone && isMeant(unifier_, relation) &&
        std::ranges::count(open_.sized, number) == 0) {
      open_.joining.push_back(number);
      return true;
    }
  }
  return false;
}

PendingRelation* Relations::nextToJoin() {
  while (!open_.joining.empty()) {
    PendingRelation* next = relations_[open_.joining.back()];
    open_.joining.pop_back();
    if (!next->isDone)
      return next;
  }
  return nullptr;
}

/// The numbers that stand beside operands of which nothing is known, while uses may tell what these
/// are: they are of the same type then.
std::unordered_set<uint32_t> Relations::numbersBesideUnknowns() {
  std::unordered_set<uint32_t> found;
  if (openWalks().empty())
    return found;
  for (const PendingRelation* relation : relations_) {
    if (relation->isDone || !relation->row)
      continue;
    std::vector<uint32_t> numbers;
    bool hasUnknown = false;
    for (const Type* unknown : unifier_.openUnknownsOf(relation->operands))
      if (const OpenNumbers::Number* number = unifier_.numbers().of(unknown))
        numbers.push_back(unifier_.numbers().elementOf(*number));
      else
        hasUnknown = true;
    if (hasUnknown)
      found.insert(numbers.begin(), numbers.end());
  }
  return found;
}

/// Gives the first number that is not of `others` the type that it has by itself.
bool Relations::settleNumber(const std::unordered_set<uint32_t>& others) {
  for (size_t i = open_.firstNumber; i < open_.numbers.size(); ++i) {
    const OpenNumbers::Number* number = unifier_.numbers().of(open_.numbers[i]);
    if (!number) {
      open_.firstNumber += i == open_.firstNumber ? 1 : 0;
    } else if (!others.contains(unifier_.numbers().elementOf(*number))) {
      unifier_.numbers().decideByDefault(OpenNumbers::Number(*number));
      return true;
    }
  }
  return false;
}

bool Relations::settleNext() {
  auto isUse = [](Unifier&, const PendingRelation& relation) { return relation.open != nullptr; };
  auto isAny = [](Unifier&, const PendingRelation&) { return true; };
  return joinFirst(passesOpenFunctions) || settleNumber(numbersBesideUnknowns()) ||
         joinFirst(isCall) || joinFirst(isUse) || joinFirst(isAny) || settleNumber({}) ||
         (!std::exchange(open_.goesOn, true) && !open_.sized.empty());
}

std::vector<const PendingRelation*> Relations::answeredOpen() {
  std::vector<const PendingRelation*> found;
  for (const PendingRelation* relation : relations_)
    if (relation->isDone && relation->row &&
        std::ranges::any_of(relation->operands, [&](const Type* operand) {
          return unifier_.resolve(operand)->hasUnknown;
        }))
      found.push_back(relation);
  return found;
}

bool Relations::isRefused(const PendingRelation& relation,
                          const std::function<const lang::Dim*(const lang::Dim*)>& size) {
  std::vector<const Type*> operands;
  for (const Type* operand : relation.operands) {
    operands.push_back(unifier_.mapDims(unifier_.resolve(operand), size));
    if (operands.back()->hasUnknown)
      return false;
  }
  return answer(relation, operands).outcome == RelationResult::Outcome::Failed;
}

void Relations::clear() {
  relations_.clear();
  arena_.clear();
  queue_ = {};
  open_ = {};
}

} // namespace typecheck

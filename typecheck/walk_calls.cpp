// Calls of operators, functions and records.
#include "lang/ir/open_marks.h"
#include "lang/op/op.h"
#include "typecheck/call_edits.h"
#include "typecheck/partial_types.h"
#include "typecheck/walk.h"

#include <algorithm>
#include <fmt/format.h>

namespace typecheck {

using lang::Message;
using lang::TypeKind;

std::vector<const Type*> Walk::inferOperands(std::span<const lang::Operand> operands) {
  std::vector<const Type*> types;
  for (const lang::Operand& operand : operands)
    types.push_back(inferOperand(operand));
  return types;
}

const Type* Walk::inferCall(const lang::Call& call) {
  if (const auto* op = call.callee.value->as<lang::OperatorRef>())
    return inferOperatorCall(call, *op->row);
  if (const auto* change = call.callee.value->as<lang::Constructor>();
      change && !change->definition)
    return inferChange(call, *change);
  if (const auto* size = call.callee.value->as<lang::Constant>(); size && size->size)
    return inferSize(call, *size);
  if (const lang::Global* open = mentions_.openDefinition(*call.callee.value))
    return inferOpenCall(call, *open);
  size_t bounds = relations_.bounds.size();
  const Type* callee = unifier_.shallow(inferOperand(call.callee, true));
  // What the callee needs is a mistake of the arguments, so of the call.
  for (; bounds < relations_.bounds.size(); ++bounds)
    relations_.bounds[bounds].range = call.range;
  if (callee->kind == TypeKind::Operator)
    return inferOperatorCall(call, *callee->op);
  if (callee->isUnknown() && checking_.records) {
    relations_.solve();
    callee = unifier_.shallow(callee);
  }
  if (callee->isUnknown() && checking_.records && checking_.records->isAny())
    return deferCall(call, callee);
  return inferCallOf(call, callee);
}

const Type* Walk::inferCallOf(const lang::Call& call, const Type* callee) {
  const lang::Global* function = checking_.records ? checking_.records->find(*callee) : nullptr;
  return function ? inferRecordCall(call, *function) : inferFunctionCall(call, callee);
}

/// Whether a value is a record or a function may be found out later.
const Type* Walk::deferCall(const lang::Call& call, const Type* callee) {
  PendingRelation relation;
  relation.call = &call;
  relation.definition = sizes_.definition();
  relation.scope = group_.seen.genericScope;
  relation.range = call.range;
  relation.result = unifier_.fresh();
  relations_.add(relation, {&callee, 1});
  return relation.result;
}

void Walk::goOn(PendingRelation& relation) {
  relation.isDone = true;
  const lang::Global* around = sizes_.definition();
  size_t outer = std::exchange(group_.seen.genericScope, relation.scope);
  sizes_.goBackTo(*relation.definition);
  if (relation.open) {
    join(relation);
  } else if (relation.asValue) {
    const Type* wanted = unifier_.shallow(relation.result);
    bool isFunction = wanted->kind == TypeKind::Function;
    const Type* type = operatorFunction(relation, isFunction ? wanted->parts.size()
                                                             : relation.asValue->operands.size());
    if (!group_.unify(wanted, type, relation.range))
      group_.reportTypes(Message::TypeMismatch, relation.range, wanted, type);
  } else {
    const Type* type = inferCallOf(*relation.call, unifier_.shallow(relation.operands[0]));
    if (!group_.unify(relation.result, type, relation.range))
      group_.reportTypes(Message::TypeMismatch, relation.range, relation.result, type);
  }
  group_.seen.genericScope = outer;
  sizes_.goBackTo(*around);
}

/// A record in front of the arguments of the function that it means.
const Type* Walk::inferRecordCall(const lang::Call& call, const lang::Global& named) {
  const lang::Global& function = checking_.open.memberOf(*sizes_.definition(), named);
  bool isChecked =
      checking_.open.isOpen(function) || checking_.functions.resultTypes[function.function->number];
  if (!isChecked) {
    diagnostics_.report(Message::NotCallable, call.callee.range,
                        group_.text(inferOperand(call.callee)));
    return unifier_.types().error();
  }
  if (!checking_.records->meantBy(call) && !placeMeant(call, named, function))
    return unifier_.types().error();
  const RecordCalls::Meant& meant = *checking_.records->meantBy(call);
  for (size_t i = 0; i < meant.defaults.size(); ++i) {
    if (!meant.defaults[i])
      continue;
    checking_.records->open.push_back(checking_.records->defaultOf(named, i));
    for (const lang::Binding& binding : meant.defaults[i]->bindings)
      inferBinding(binding);
    checking_.records->open.pop_back();
  }
  return inferCall(*meant.call);
}

/// Finds out the call of the function; false after a report.
bool Walk::placeMeant(const lang::Call& call, const lang::Global& named,
                      const lang::Global& function) {
  RecordCalls::Meant meant;
  auto operands = placeArguments(call, named, diagnostics_);
  if (!operands || !fillDefaults(*operands, named, call.range, meant.defaults))
    return false;
  meant.call = checking_.arena.make<lang::Call>(lang::Expr{lang::ExprKind::Call, call.range},
                                                lang::Operand{&function, call.callee.range},
                                                checking_.arena.copy(*operands));
  checking_.records->set(call, std::move(meant));
  return true;
}

/// Gives arguments that are left out what copies of their defaults give; false after a report.
bool Walk::fillDefaults(std::vector<lang::Operand>& operands, const lang::Global& function,
                        lang::SourceRange range, std::vector<const lang::Block*>& defaults) {
  defaults.resize(operands.size());
  for (size_t i = 0; i < operands.size(); ++i) {
    if (operands[i].value)
      continue;
    const lang::Global* value = checking_.records->defaultOf(function, i);
    if (!value) {
      diagnostics_.report(Message::MissingArgument, range, function.function->parameters[i]->name);
      return false;
    }
    if (std::ranges::count(checking_.records->open, value) > 0) {
      diagnostics_.report(Message::RecursiveConstant, range,
                          function.function->parameters[i]->name);
      return false;
    }
    defaults[i] = checking_.open.copyOf(*value->function).body;
    operands[i] = {defaults[i]->result.value, range};
  }
  checking_.cover();
  return true;
}

const Type* Walk::refuseOperatorCall(const lang::Call& call, const lang::OperatorRow& row) {
  size_t given = call.arguments.size();
  inferOperands(call.arguments);
  auto& report = diagnostics_.report(
      Message::ArgumentCount, call.range, fmt::format("`{}`", row.name), row.operandCount(),
      row.operands.size() == 1 ? "" : "s", given == 1 ? "1 is" : fmt::format("{} are", given));
  if (given > row.operands.size())
    suggestNames(report, row, call, checking_.vars.values);
  if (given > row.operands.size() && row.derivative != lang::Derivative::None)
    suggestSecondCall(report, call);
  return unifier_.types().error();
}

namespace {

const lang::Attributes* attributesOf(const lang::Call& call, const lang::OperatorRow& row,
                                     Group& group) {
  if (call.attributes)
    return call.attributes;
  for (const lang::AttributeRow& attribute : row.attributes)
    if (attribute.defaultText.empty())
      group.diagnostics.report(Message::MissingAttribute, call.range, row.name, attribute.name);
  return group.checking.arena.make<lang::Attributes>(row.attributes,
                                                     group.checking.operators.defaults(&row));
}

} // namespace

const Type* Walk::inferOperatorCall(const lang::Call& call, const lang::OperatorRow& row) {
  size_t computed = lang::attributeMarksOf(call).size();
  for (const lang::Operand& attribute : call.arguments.last(computed))
    inferOperand(attribute);
  auto arguments = call.arguments.first(call.arguments.size() - computed);
  if (!row.takes(arguments.size()))
    return refuseOperatorCall(call, row);
  PendingRelation relation;
  relation.row = &row;
  relation.definition = sizes_.definition();
  relation.attributes = attributesOf(call, row, group_);
  relation.places = arguments;
  relation.range = call.range;
  relation.attributed = computed > 0 ? &call : nullptr;
  if (lang::isNumberMark(call)) {
    relation.opens = row.role == lang::Role::Extent ? OpenClass::Integer : OpenClass::Either;
    relation.attributes =
        lang::withElement(checking_.arena, *relation.attributes, runtime::Float32);
  }
  relation.counts = lang::isCountMark(call);
  relation.isComputed = lang::isComputedMark(call);
  relation.isInBrackets = lang::isBracketsMark(call);
  bool takesInstances = row.derivative != lang::Derivative::None;
  auto typeOf = [&](const lang::Operand& argument) {
    const Type* type = inferOperand(argument);
    return takesInstances ? group_.monomorphic(type) : type;
  };
  lang::Types operands = relations_.arena().copy(arguments | std::views::transform(typeOf));
  relation.result = unifier_.fresh();
  relations_.add(relation, operands);
  return relation.result;
}

const Type* Walk::inferFunctionCall(const lang::Call& call, const Type* callee) {
  TypeContext& types = unifier_.types();
  std::vector<const Type*> arguments = inferOperands(call.arguments);
  if (checking_.records && !callee->isError())
    reportNames(call, diagnostics_);
  if (callee->isUnknown()) {
    // A function that an operator gives takes its arguments as any other does, once it is known.
    relations_.solve();
    callee = unifier_.shallow(callee);
  }
  if (callee->isError())
    return callee;
  if (const OpenNumbers::Number* number = unifier_.numbers().of(callee)) {
    unifier_.numbers().decideByDefault(OpenNumbers::Number(*number));
    callee = unifier_.shallow(callee);
  }
  if (callee->isUnknown()) {
    const Type* result = unifier_.fresh();
    group_.unify(callee, types.function(arguments, result), call.callee.range);
    return result;
  }
  if (callee->kind != TypeKind::Function) {
    diagnostics_.report(Message::NotCallable, call.callee.range, group_.text(callee));
    return types.error();
  }
  const Type* function = unifier_.instantiate(callee);
  if (function->isError())
    return function;
  if (callee->hasUnknown && !callee->generics.empty() && unifier_.resolve(callee)->hasUnknown)
    group_.seen.openInstances.push_back({&call, callee, function});
  if (function->parts.size() != arguments.size()) {
    size_t given = arguments.size(), wanted = function->parts.size();
    diagnostics_.report(Message::ArgumentCount, call.range, calleeText(call.callee), wanted,
                        wanted == 1 ? "" : "s", given == 1 ? "1 is" : fmt::format("{} are", given));
    return types.error();
  }
  // Polymorphic functions come last, since the others may say which instance is wanted.
  for (bool isPolymorphic : {false, true})
    for (size_t i = 0; i < arguments.size(); ++i)
      if (unifier_.shallow(arguments[i])->generics.empty() != isPolymorphic)
        inferArgument(call, i, *function, arguments[i]);
  return function->result;
}

namespace {

/// What argument `i` of a call must be by the declaration of a global; null for other callees.
const Type* declaredParameter(const lang::Call& call, size_t i) {
  const auto* global = call.callee.value->as<lang::Global>();
  return global ? global->function->parameters[i]->annotation : nullptr;
}

} // namespace

void Walk::inferArgument(const lang::Call& call, size_t i, const Type& function,
                         const Type* argument) {
  const Type* wanted = function.parts[i];
  if (unifier_.shallow(argument)->isError())
    unifier_.poison(wanted);
  // Unification may bind a part before it fails, so what names came to mean is looked at before.
  const Type* declared = declaredParameter(call, i);
  if (declared && declared->hasSymbol)
    wanted = unifier_.resolve(wanted);
  auto mismatch = [this, &call, i, wanted, &function](const Type*, const Type* given) {
    reportArgument(call, i, wanted, given, function.parts);
    group_.seen.mistaken.push_back(function.result);
  };
  group_.require(function.parts[i], argument, call.arguments[i].range, mismatch, true);
}

/// An open definition has the sizes of its use throughout.
void Walk::noteOpenRecursion(lang::Diagnostic& report, const lang::Call& call, const Type& wanted,
                             const Type& given) {
  const auto* callee = call.callee.value->as<lang::Global>();
  const lang::Var* open = callee ? checking_.open.openParameter(*callee) : nullptr;
  if (open && wanted.isTensor() && given.isTensor() && wanted.dtype == given.dtype &&
      wanted.shape.size() == given.shape.size())
    report.note(
        fmt::format("`{}` has no type, so all sizes are those of the use; with types for all "
                    "parameters they may change",
                    open->name));
}

/// What a global declares with names is shown as declared, and what the other arguments have made
/// of the names that clash.
void Walk::reportArgument(const lang::Call& call, size_t i, const Type* wanted, const Type* given,
                          lang::Types parameters) {
  const Type* declared = declaredParameter(call, i);
  bool isNamed = declared && declared->hasSymbol;
  const Type *known = shownType(unifier_, wanted), *found = shownType(unifier_, given);
  TypeDifference difference = differenceOf(known, found);
  auto& report = diagnostics_.report(
      Message::ArgumentMismatch, call.arguments[i].range, i + 1, calleeText(call.callee),
      isNamed && wanted->hasUnknown ? shortType(declared) : difference.left, difference.right);
  showDifference(report, known, found);
  suggestNumber(report, call.arguments[i], known);
  suggestFunctionOf(report, call.arguments[i].range, *known, *found);
  noteOpenRecursion(report, call, *known, *found);
  for (size_t j = i + 1; j < parameters.size(); ++j)
    if (const Type* other = unifier_.resolve(parameters[j]);
        !other->isUnknown() && agree(other, found))
      suggestSwap(report, call, i, j);
  if (!isNamed || !known->isTensor() || found->shape.size() != known->shape.size())
    return;
  for (size_t k = 0; k < known->shape.size(); ++k)
    if (declared->shape[k]->hasSymbol &&
        lang::matchDims(known->shape[k], found->shape[k]) == lang::DimMatch::Different)
      tellSize(report, *call.callee.value->as<lang::Global>()->function, call.arguments, i,
               {declared->shape[k], known->shape[k]}, unifier_);
}

} // namespace typecheck

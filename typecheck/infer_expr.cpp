// One short function per kind of expression; the rules are those of section "Rules by node" in
// Relay's type inference.
#include "lang/ir/open_marks.h"
#include "lang/op/op.h"
#include "typecheck/call_edits.h"
#include "typecheck/infer.h"
#include "typecheck/partial_types.h"

#include "lang/op/other_names.h"

#include <fmt/format.h>

namespace typecheck {

using lang::Message;
using lang::Type;
using lang::TypeContext;
using lang::TypeKind;

const Type* Inference::infer(const lang::Expr& expr) {
  TypeContext& types = unifier_.types();
  return lang::match(
      expr, [&](const lang::Var& var) { return varTypes_[var.number]; },
      [&](const lang::Constant& constant) { return inferConstant(constant); },
      [&](const lang::Global& global) { return globalType(global); },
      [&](const lang::OperatorRef& op) { return types.operatorType(op.row, op.row->name); },
      [&](const lang::Constructor& constructor) { return constructorType(constructor); },
      [&](const lang::Hole& hole) { return inferHole(hole); },
      [&](const lang::TupleExpr& tuple) { return inferTuple(tuple); },
      [&](const lang::Project& project) { return inferProject(project); },
      [&](const lang::Call& call) { return inferCall(call); },
      [&](const lang::If& branch) { return inferIf(branch); },
      [&](const lang::Match& match) { return inferMatch(match); },
      [&](const lang::Function& function) { return inferFunction(function); },
      [&](const lang::RefNew& ref) { return types.reference(inferOperand(ref.content)); },
      [&](const lang::RefRead& read) { return inferRefRead(read); },
      [&](const lang::RefWrite& write) { return inferRefWrite(write); },
      [&](const lang::BlockExpr& block) { return inferBlock(*block.block); });
}

bool Inference::isFullyDeclared(const lang::Function& function) {
  auto isDeclared = [](const Type* type) { return type && !type->hasUnknown; };
  for (const lang::Var* parameter : function.parameters)
    if (!isDeclared(parameter->annotation) && !foundType(*parameter))
      return false;
  return isDeclared(function.resultAnnotation) || foundResult(function);
}

/// Within its group a global has the types that inference is working on; before that, its final
/// one.
const Type* Inference::globalType(const lang::Global& global) {
  const lang::Function& function = *global.function;
  if (!definitionDims_.contains(&global))
    return instantiateDims(lang::functionType(unifier_.types(), function, typing_), global);
  auto generics = typing_.generics(function);
  std::vector<const Type*> parameters;
  for (const lang::Var* parameter : function.parameters)
    parameters.push_back(varTypes_[parameter->number]);
  const Type* type = unifier_.types().function(parameters, resultTypes_[function.number], generics);
  return isFullyDeclared(function) ? instantiateDims(unifier_.resolve(type), global) : type;
}

const Type* Inference::constructorType(const lang::Constructor& constructor) {
  TypeContext& types = unifier_.types();
  std::vector<const Type*> arguments;
  for (const lang::TypeParameter* generic : constructor.definition->generics)
    arguments.push_back(generic->kind == lang::ParameterKind::Dimension
                            ? types.dimension(types.symbol(generic))
                            : types.variable(generic));
  std::vector<const Type*> fields;
  std::unordered_map<const lang::Dim*, const lang::Dim*> sizes;
  for (const Type* field : constructor.fields)
    fields.push_back(freshDims(field, sizes));
  return types.function(fields, types.data(constructor.definition, arguments),
                        constructor.definition->generics);
}

/// An open number is one from its first use on.
const Type* Inference::inferConstant(const lang::Constant& constant) {
  if (constant.open == lang::OpenNumber::None)
    return constant.type;
  bool isNew =
      unifier_.shallow(constant.type) == constant.type && !unifier_.numbers().of(constant.type);
  if (isNew) {
    const Type* shape = constant.tensor ? unifier_.types().tensorOf(constant.tensor->shape(),
                                                                    constant.tensor->dtype())
                                        : unifier_.types().scalar(runtime::Int32);
    addNumber(constant.type, shape->shape,
              constant.open == lang::OpenNumber::Real ? OpenClass::Real : OpenClass::Integer);
  }
  return constant.type;
}

/// The type of a field of a constructor in a value of a data type.
const Type* Inference::fieldType(const lang::Constructor& constructor, size_t field,
                                 const Type* data) {
  const Type* function = unifier_.instantiate(constructorType(constructor));
  unifier_.unify(function->result, data, true);
  return function->parts[field];
}

const Type* Inference::inferHole(const lang::Hole& hole) {
  holes_.emplace_back(&hole, unifier_.fresh());
  return holes_.back().second;
}

const Type* Inference::inferTuple(const lang::TupleExpr& tuple) {
  std::vector<const Type*> fields;
  for (const lang::Operand& field : tuple.fields)
    fields.push_back(inferOperand(field));
  return unifier_.types().tuple(fields);
}

const Type* Inference::inferProject(const lang::Project& project) {
  const Type* tuple = inferOperand(project.tuple);
  const Type* known = unifier_.shallow(tuple);
  bool isWhole = project.fieldCount == 0 || project.fieldCount == known->parts.size();
  if (known->isTuple() && isWhole && project.field.empty() && project.index < known->parts.size())
    return unifier_.slot(known->parts[project.index]);
  PendingRelation relation;
  relation.field = project.index;
  relation.fieldName = project.field;
  relation.hint = project.hint;
  relation.fieldCount = project.fieldCount;
  relation.range = project.range;
  relation.result = unifier_.fresh();
  relations_.add(relation, {&tuple, 1});
  return relation.result;
}

namespace {

std::string calleeText(const lang::Operand& callee) {
  if (const auto* global = callee.value->as<lang::Global>())
    return fmt::format("`@{}`", global->name);
  if (const auto* constructor = callee.value->as<lang::Constructor>())
    return fmt::format("constructor `{}`", constructor->name);
  if (const auto* var = callee.value->as<lang::Var>(); var && !var->name.empty())
    return fmt::format("`%{}`", var->name);
  return "this function";
}

} // namespace

const Type* Inference::inferCall(const lang::Call& call) {
  if (const auto* op = call.callee.value->as<lang::OperatorRef>())
    return inferOperatorCall(call, *op->row);
  if (const auto* change = call.callee.value->as<lang::Constructor>();
      change && !change->definition)
    return inferChange(call, *change);
  if (const auto* size = call.callee.value->as<lang::Constant>(); size && size->size)
    return inferSize(call, *size);
  if (const lang::Global* open = openGlobal(*call.callee.value))
    return inferOpenCall(call, *open);
  size_t bounds = relations_.bounds.size();
  const Type* callee = unifier_.shallow(inferOperand(call.callee));
  // What the callee needs is a mistake of the arguments, so of the call.
  for (; bounds < relations_.bounds.size(); ++bounds)
    relations_.bounds[bounds].range = call.range;
  if (callee->kind == TypeKind::Operator)
    return inferOperatorCall(call, *callee->op);
  if (callee->isUnknown() && checking_.records) {
    relations_.solve();
    callee = unifier_.shallow(callee);
  }
  if (const lang::Global* function = checking_.records ? checking_.records->find(*callee) : nullptr)
    return inferRecordCall(call, *function);
  return inferFunctionCall(call, callee);
}

/// A record in front of the arguments of the function that it means.
const Type* Inference::inferRecordCall(const lang::Call& call, const lang::Global& named) {
  const lang::Global& function = checking_.open.memberOf(*definition_, named);
  bool isChecked =
      checking_.open.isOpen(function) || checking_.functions.resultTypes[function.function->number];
  if (!isChecked) {
    diagnostics_.report(Message::NotCallable, call.callee.range, text(inferOperand(call.callee)));
    return unifier_.types().error();
  }
  std::vector<lang::Operand> operands{call.callee};
  operands.insert(operands.end(), call.arguments.begin(), call.arguments.end());
  auto* meant = checking_.arena.make<lang::Call>(lang::Expr{lang::ExprKind::Call, call.range},
                                                 lang::Operand{&function, call.callee.range},
                                                 checking_.arena.copy(operands));
  checking_.records->set(call, *meant);
  return inferCall(*meant);
}

const lang::Attributes* Inference::attributesOf(const lang::Call& call,
                                                const lang::OperatorRow& row) {
  if (call.attributes)
    return call.attributes;
  for (const lang::AttributeRow& attribute : row.attributes)
    if (attribute.defaultText.empty())
      diagnostics_.report(Message::MissingAttribute, call.range, row.name, attribute.name);
  return checking_.arena.make<lang::Attributes>(row.attributes, checking_.operators.defaults(&row));
}

const Type* Inference::inferOperatorCall(const lang::Call& call, const lang::OperatorRow& row) {
  size_t computed = lang::attributeMarksOf(call).size();
  for (const lang::Operand& attribute : call.arguments.last(computed))
    inferOperand(attribute);
  auto arguments = call.arguments.first(call.arguments.size() - computed);
  if (!row.takes(arguments.size())) {
    size_t given = call.arguments.size();
    for (const lang::Operand& argument : call.arguments)
      inferOperand(argument);
    auto& report = diagnostics_.report(
        Message::ArgumentCount, call.range, fmt::format("`{}`", row.name), row.operandCount(),
        row.operands.size() == 1 ? "" : "s", given == 1 ? "1 is" : fmt::format("{} are", given));
    if (given > row.operands.size())
      suggestNames(report, row, call, checking_.vars.values);
    if (given > row.operands.size() && row.derivative != lang::Derivative::None)
      suggestSecondCall(report, call);
    return unifier_.types().error();
  }
  PendingRelation relation;
  relation.row = &row;
  relation.definition = definition_;
  relation.attributes = attributesOf(call, row);
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
  bool takesInstances = row.derivative != lang::Derivative::None;
  auto typeOf = [&](const lang::Operand& argument) {
    const Type* type = inferOperand(argument);
    return takesInstances ? monomorphic(type) : type;
  };
  lang::Types operands = relations_.arena().copy(arguments | std::views::transform(typeOf));
  relation.result = unifier_.fresh();
  relations_.add(relation, operands);
  return relation.result;
}

const Type* Inference::inferFunctionCall(const lang::Call& call, const Type* callee) {
  TypeContext& types = unifier_.types();
  std::vector<const Type*> arguments;
  for (const lang::Operand& argument : call.arguments)
    arguments.push_back(inferOperand(argument));
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
    unify(callee, types.function(arguments, result), call.callee.range);
    return result;
  }
  if (callee->kind != TypeKind::Function) {
    diagnostics_.report(Message::NotCallable, call.callee.range, text(callee));
    return types.error();
  }
  const Type* function = unifier_.instantiate(callee);
  if (function->isError())
    return function;
  if (callee->hasUnknown && !callee->generics.empty() && unifier_.resolve(callee)->hasUnknown)
    openInstances_.push_back({&call, callee, function});
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

/// An instance shares what was still open in its function with all others. Where that came to
/// mention a type parameter it must mean the same one in the instance.
void Inference::checkOpenInstances() {
  if (diagnostics_.errorCount() != groupErrors_)
    return;
  for (const OpenInstance& open : openInstances_) {
    const Type* again = unifier_.instantiate(unifier_.resolve(open.callee));
    if (again->isError())
      continue;
    for (size_t i = 0; i < again->parts.size(); ++i)
      unifier_.unify(again->parts[i], open.instance->parts[i], true);
    if (unifier_.unify(again->result, open.instance->result, true) == UnifyResult::Same)
      continue;
    diagnostics_
        .report(Message::OpenInstance, open.call->range, calleeText(open.call->callee),
                text(again->result), text(open.instance->result))
        .note("declare the type of its result, and of its parameters");
  }
}

namespace {

/// What argument `i` of a call must be by the declaration of a global; null for other callees.
const Type* declaredParameter(const lang::Call& call, size_t i) {
  const auto* global = call.callee.value->as<lang::Global>();
  return global ? global->function->parameters[i]->annotation : nullptr;
}

} // namespace

void Inference::inferArgument(const lang::Call& call, size_t i, const Type& function,
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
    mistaken_.push_back(function.result);
  };
  require(function.parts[i], argument, call.arguments[i].range, mismatch, true);
}

/// What a global declares with names is shown as declared, and what the other arguments have made
/// of the names that clash.
void Inference::reportArgument(const lang::Call& call, size_t i, const Type* wanted,
                               const Type* given, lang::Types parameters) {
  const Type* declared = declaredParameter(call, i);
  bool isNamed = declared && declared->hasSymbol;
  const Type *known = unifier_.resolve(wanted), *found = unifier_.resolve(given);
  TypeDifference difference = differenceOf(known, found);
  auto& report = diagnostics_.report(
      Message::ArgumentMismatch, call.arguments[i].range, i + 1, calleeText(call.callee),
      isNamed && wanted->hasUnknown ? shortTypeText(declared) : difference.left, difference.right);
  showDifference(report, known, found);
  suggestNumber(report, call.arguments[i], known);
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
                   const std::string& given) {
  diagnostics.report(Message::TypeMismatch, range, "bool", given)
      .note("`&&` and `||` take single truth values; `logical_and` and `logical_or` go by element");
}

} // namespace

const Type* Inference::inferIf(const lang::If& branch) {
  const Type* condition = inferOperand(branch.condition);
  auto notBool = [this, &branch](const Type*, const Type* given) {
    if (isLogic(branch))
      return reportNoTruth(diagnostics_, branch.condition.range, text(given));
    auto& report =
        diagnostics_.report(Message::ConditionNotBool, branch.condition.range, text(given));
    const lang::OperatorRow* byElement = lang::calledElsewhere(checking_.operators, "?:");
    const Type* known = unifier_.shallow(given);
    if (byElement && known->isTensor() && !known->shape.empty())
      report.note(fmt::format("`{}` chooses by element", byElement->name));
  };
  require(unifier_.types().scalar(runtime::Bool), condition, branch.condition.range, notBool);
  const lang::Operand &first = branch.thenBlock->result, &second = branch.elseBlock->result;
  const auto told = std::make_shared<lang::SourceRange>();
  const Type* then = unifier_.slot(monomorphic(inferBlock(*branch.thenBlock)));
  tell(told, then, first);
  const Type* otherwise = inferBlock(*branch.elseBlock);
  tell(told, otherwise, second);
  then = joinable(then, otherwise);
  if (unifier_.shallow(then)->isUnknown())
    relations_.expect(unifier_.shallow(then), branchReporter(told, first));
  // One of both sides of `&&` and `||` is a truth value for certain.
  auto noTruth = [this, &branch, &first, &second](const Type* left, const Type* right) {
    bool isFirst = second.range == branch.range;
    reportNoTruth(diagnostics_, isFirst ? first.range : second.range, text(isFirst ? left : right));
  };
  bool agree = require(then, otherwise, second.range,
                       isLogic(branch) ? MismatchReporter(noTruth) : branchReporter(told, second));
  return agree ? then : unifier_.types().error();
}

/// What the branches so far and the next one can both be. A function that is polymorphic in all of
/// those, not in this one, is one of its instances in all.
const Type* Inference::joinable(const Type* branches, const Type* next) {
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
void Inference::tell(const Told& told, const Type* type, const lang::Operand& branch) {
  relations_.solve();
  if (!told->isValid() && !unifier_.shallow(type)->isUnknown())
    *told = branch.range;
}

/// Says that a branch has another type than one before, or behind it.
MismatchReporter Inference::branchReporter(Told told, const lang::Operand& branch) {
  return [this, told, &branch](const Type* wanted, const Type* given) {
    auto& report = reportTypes(Message::BranchMismatch, branch.range, wanted, given);
    if (told->isValid() && *told != branch.range)
      report.label(*told, differenceOf(unifier_.resolve(wanted), unifier_.resolve(given)).left);
    suggestNumber(report, branch, unifier_.resolve(wanted));
  };
}

const Type* Inference::inferRefRead(const lang::RefRead& read) {
  const Type* content = unifier_.fresh();
  const Type* reference = inferOperand(read.reference);
  if (!unify(unifier_.types().reference(content), reference, read.reference.range))
    diagnostics_.report(Message::NotAReference, read.reference.range, text(reference));
  return content;
}

const Type* Inference::inferRefWrite(const lang::RefWrite& write) {
  TypeContext& types = unifier_.types();
  const Type* reference = inferOperand(write.reference);
  const Type* content = unifier_.fresh();
  if (!unify(types.reference(content), reference, write.reference.range)) {
    diagnostics_.report(Message::NotAReference, write.reference.range, text(reference));
    return types.tuple({});
  }
  const Type* value = inferOperand(write.value);
  if (!unify(content, value, write.value.range))
    reportTypes(Message::TypeMismatch, write.value.range, content, value);
  return types.tuple({});
}

} // namespace typecheck

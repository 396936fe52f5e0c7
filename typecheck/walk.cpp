#include "typecheck/walk.h"

#include "runtime/budget.h"
#include "typecheck/call_edits.h"

namespace typecheck {

using lang::Message;
using lang::TypeKind;

Walk::Walk(Group& group, GroupSizes& sizes, Mentions& mentions)
    : group_(group), sizes_(sizes), mentions_(mentions), checking_(group.checking),
      diagnostics_(group.diagnostics), unifier_(group.unifier), relations_(group.relations),
      typing_(checking_.typing), varTypes_(checking_.vars.types),
      resultTypes_(checking_.functions.resultTypes), scopeOf_(checking_.functions.scopeOf) {}

void Walk::definitions() {
  sizes_.clear();
  for (const lang::Global* global : group_.definitions) {
    typing_.setRequirements(*global->function, {});
    sizes_.enter(*global);
    declare(*global->function);
  }
  for (const lang::Global* global : group_.definitions) {
    sizes_.goBackTo(*global);
    inferBody(*global->function);
  }
}

const Type* Walk::declare(const lang::Function& function) {
  size_t outer = group_.seen.genericScope;
  auto generics = typing_.generics(function);
  if (!generics.empty()) {
    group_.seen.genericScopes.push_back({outer, generics});
    group_.seen.genericScope = group_.seen.genericScopes.size() - 1;
  }
  scopeOf_[function.number] = group_.seen.genericScope;
  std::vector<const Type*> parameters;
  for (const lang::Var* parameter : function.parameters) {
    group_.setType(*parameter,
                   sizes_.declared(parameter->annotation, group_.foundType(*parameter)));
    if (const auto* number = checking_.open.numberParameter(*parameter);
        number && !group_.foundType(*parameter))
      group_.addNumber(varTypes_[parameter->number], number->shape, number->its);
    if (auto sizes = checking_.open.knownSizes(*parameter); !sizes.empty())
      checking_.sizes->set(*parameter, sizes);
    parameters.push_back(varTypes_[parameter->number]);
  }
  const Type*& result = resultTypes_[function.number];
  result = sizes_.declared(function.resultAnnotation, group_.foundResult(function));
  group_.seen.functions.push_back(&function);
  group_.seen.functionScopes.push_back(group_.seen.genericScope);
  group_.seen.genericScope = outer;
  return unifier_.types().function(parameters, result, generics);
}

void Walk::inferBody(const lang::Function& function) {
  relations_.solve();
  size_t outer = std::exchange(group_.seen.genericScope, scopeOf_[function.number]);
  checkBody(function, inferBlock(*function.body));
  group_.seen.genericScope = outer;
}

void Walk::checkBody(const lang::Function& function, const Type* body) {
  const Type* result = resultTypes_[function.number];
  // A declared result is compared when the result is known, so that it is the result that is
  // reported, and what `?` weakens is weak before others take it. A polymorphic function must not
  // share what is still open.
  bool isDeclared = function.resultAnnotation || group_.foundResult(function);
  if (isDeclared || !typing_.generics(function).empty())
    relations_.solve();
  const Type* wanted = unifier_.shallow(result);
  bool keepsGenerics = wanted->kind == TypeKind::Function && !wanted->generics.empty();
  if (!keepsGenerics)
    body = group_.monomorphic(body);
  auto mismatch = [this, &function](const Type* declared, const Type* given) {
    auto& report =
        group_.reportTypes(Message::ResultMismatch, function.body->result.range, declared, given);
    suggestNumber(report, function.body->result, unifier_.resolve(declared));
    if (!function.resultAnnotation)
      report.note("the declared type comes from the calls of this function");
  };
  group_.require(result, body, function.body->result.range, mismatch);
}

const Type* Walk::inferFunction(const lang::Function& function) {
  const Type* type = declare(function);
  inferBody(function);
  return type;
}

/// A function literal's variable is typed before the literal, so that it may call itself.
void Walk::inferBinding(const lang::Binding& binding) {
  runtime::Budget::step();
  const lang::Var& var = *binding.var;
  const Type* found = group_.foundType(var);
  bool isDeclared = var.annotation || found;
  checking_.vars.values[var.number] = binding.value;
  if (group_.seen.isTooLarge) {
    group_.setType(var, unifier_.types().error());
    return;
  }
  if (const auto* function = binding.value->as<lang::Function>(); function && binding.isLet()) {
    const Type* type = declare(*function);
    group_.setType(var, isDeclared ? sizes_.declared(var.annotation, found) : type);
    inferBody(*function);
    if (isDeclared && !group_.unify(varTypes_[var.number], type, binding.value->range))
      group_
          .reportTypes(Message::LetMismatch, binding.value->range, varTypes_[var.number], type,
                       lang::localName(var.name))
          .label(var.range, "declared here");
    return;
  }
  const lang::Global* open = mentions_.openDefinition(*binding.value);
  const Type* value = open ? inferOpenValue(&binding, binding.place, *open) : infer(*binding.value);
  if (isDeclared)
    value = asFunction(value, &binding, binding.place);
  if (unifier_.isTooLarge(value))
    value = group_.tooLarge(binding.value->range);
  if (!isDeclared) {
    group_.setType(var, value);
    return;
  }
  group_.setType(var, sizes_.declared(var.annotation, found));
  lang::SourceRange place = binding.place.isValid() ? binding.place : var.range;
  auto mismatch = [this, &var, &binding, place](const Type* declared, const Type* given) {
    auto& report =
        group_.reportTypes(Message::LetMismatch, place, declared, given, lang::localName(var.name));
    suggestNumber(report, {binding.value, place}, unifier_.resolve(declared));
    if (place != var.range)
      report.label(var.range, "declared here");
  };
  group_.require(varTypes_[var.number], value, place, mismatch);
}

const Type* Walk::inferBlock(const lang::Block& block) {
  for (const lang::Binding& binding : block.bindings)
    inferBinding(binding);
  return inferOperand(block.result);
}

/// What is called or read from may be an operator.
const Type* Walk::inferOperand(const lang::Operand& operand, bool mayBeOperator) {
  mentions_.range = operand.range;
  if (const lang::Global* open = mentions_.openDefinition(*operand.value))
    return inferOpenValue(&operand, operand.range, *open);
  const Type* type = infer(*operand.value);
  return mayBeOperator ? type : asFunction(type, &operand, operand.range);
}

const Type* Walk::infer(const lang::Expr& expr) {
  TypeContext& types = unifier_.types();
  return lang::match(
      expr, [&](const lang::Var& var) { return varTypes_[var.number]; },
      [&](const lang::Constant& constant) { return inferConstant(constant); },
      [&](const lang::Global& global) { return mentions_.typeOf(global); },
      [&](const lang::OperatorRef& op) { return types.operatorType(op.row, op.row->name); },
      [&](const lang::Constructor& constructor) { return mentions_.typeOf(constructor); },
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

/// An open number is one from its first use on.
const Type* Walk::inferConstant(const lang::Constant& constant) {
  if (constant.open == lang::OpenNumber::None)
    return constant.type;
  bool isNew =
      unifier_.shallow(constant.type) == constant.type && !unifier_.numbers().of(constant.type);
  if (isNew) {
    const Type* shape = constant.tensor ? unifier_.types().tensorOf(constant.tensor->shape(),
                                                                    constant.tensor->dtype())
                                        : unifier_.types().scalar(runtime::Int32);
    group_.addNumber(constant.type, shape->shape,
                     constant.open == lang::OpenNumber::Real ? OpenClass::Real
                                                             : OpenClass::Integer);
  }
  return constant.type;
}

const Type* Walk::inferHole(const lang::Hole& hole) {
  group_.seen.holes.emplace_back(&hole, unifier_.fresh());
  return group_.seen.holes.back().second;
}

const Type* Walk::inferTuple(const lang::TupleExpr& tuple) {
  std::vector<const Type*> fields;
  for (const lang::Operand& field : tuple.fields)
    fields.push_back(inferOperand(field));
  return unifier_.types().tuple(fields);
}

const Type* Walk::inferProject(const lang::Project& project) {
  const Type* tuple = inferOperand(project.tuple, true);
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

const Type* Walk::inferRefRead(const lang::RefRead& read) {
  const Type* content = unifier_.fresh();
  const Type* reference = inferOperand(read.reference);
  if (!group_.unify(unifier_.types().reference(content), reference, read.reference.range))
    diagnostics_.report(Message::NotAReference, read.reference.range, group_.text(reference));
  return content;
}

const Type* Walk::inferRefWrite(const lang::RefWrite& write) {
  TypeContext& types = unifier_.types();
  const Type* reference = inferOperand(write.reference);
  const Type* content = unifier_.fresh();
  if (!group_.unify(types.reference(content), reference, write.reference.range)) {
    diagnostics_.report(Message::NotAReference, write.reference.range, group_.text(reference));
    return types.tuple({});
  }
  const Type* value = inferOperand(write.value);
  if (!group_.unify(content, value, write.value.range))
    group_.reportTypes(Message::TypeMismatch, write.value.range, content, value);
  return types.tuple({});
}

} // namespace typecheck

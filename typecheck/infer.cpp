// Definitions, functions and bindings. Recursion follows the nesting of functions, branches and
// arms, which the reader bounds; blocks are loops.
#include "typecheck/infer.h"

#include <algorithm>
#include <fmt/format.h>

namespace typecheck {

using lang::Message;
using lang::Type;
using lang::TypeKind;

Inference::Inference(const lang::Module& module, const lang::OperatorTable& operators,
                     lang::Diagnostics& diagnostics)
    : operators_(operators), diagnostics_(diagnostics), unifier_(module.types, module.unknownCount),
      relations_(unifier_, diagnostics), varTypes_(module.varCount),
      resultTypes_(module.functionCount) {}

/// A declared type gets an unknown of its own, so that `?` elsewhere can weaken it; no declared
/// type is an unknown that stands for nothing yet.
const Type* Inference::annotated(const Type* annotation) {
  return annotation ? unifier_.slot(annotation) : unifier_.fresh();
}

void Inference::setType(const lang::Var& var, const Type* type) {
  varTypes_[var.number] = type;
  groupVars_.push_back(&var);
}

std::string Inference::text(const Type* type) {
  return lang::typeText(unifier_.resolve(type));
}

/// A type that is too large is one mistake, wherever it shows again.
const Type* Inference::tooLarge(lang::SourceRange range) {
  if (!reportedTooLarge_)
    diagnostics_.report(Message::TypeTooLarge, range, Unifier::maximumSize, Unifier::maximumDepth);
  reportedTooLarge_ = true;
  return unifier_.types().error();
}

/// Unifies and reports failures that have no message of their own.
bool Inference::unify(const Type* left, const Type* right, lang::SourceRange range,
                      bool keepRight) {
  UnifyResult result = unifier_.unify(left, right, keepRight);
  if (result == UnifyResult::Same)
    return true;
  mistaken_.push_back(left);
  mistaken_.push_back(right);
  if (result == UnifyResult::Infinite)
    diagnostics_.report(Message::InfiniteType, range, text(left), text(right));
  else if (result == UnifyResult::TooLarge)
    tooLarge(range);
  return result != UnifyResult::Different;
}

const Type* Inference::declare(const lang::Function& function) {
  std::vector<const Type*> parameters;
  for (const lang::Var* parameter : function.parameters) {
    setType(*parameter, annotated(parameter->annotation));
    parameters.push_back(varTypes_[parameter->number]);
  }
  const Type*& result = resultTypes_[function.number];
  result = annotated(function.resultAnnotation);
  groupFunctions_.push_back(&function);
  return unifier_.types().function(parameters, result, function.generics);
}

void Inference::inferBody(const lang::Function& function) {
  relations_.solve();
  const Type* body = inferBlock(*function.body);
  const Type* known = unifier_.shallow(body);
  if (known->kind == TypeKind::Function && !known->generics.empty())
    body = unifier_.instantiate(known);
  const Type* result = resultTypes_[function.number];
  if (unify(result, body, function.body->result.range))
    return;
  auto& report = diagnostics_.report(Message::ResultMismatch, function.body->result.range,
                                     text(result), text(body));
  if (!function.resultAnnotation)
    report.note("the declared type comes from the calls of this function");
}

void Inference::inferGroup(std::span<const lang::Global* const> group) {
  groupVars_.clear();
  groupFunctions_.clear();
  mistaken_.clear();
  for (const lang::Global* global : group)
    declare(*global->function);
  for (const lang::Global* global : group)
    inferBody(*global->function);
  finishGroup();
  writeTypes();
}

/// Reports what nothing determined, causes before what follows from them: whatever was reported is
/// poisoned, so that its consequences settle silently.
void Inference::finishGroup() {
  relations_.solve();
  for (const Type* type : mistaken_)
    unifier_.poison(type);
  reportHoles();
  reportOpen({lang::VarOrigin::Parameter, lang::VarOrigin::Free});
  reportOpen({lang::VarOrigin::Pattern});
  relations_.solve();
  relations_.reportUnsolved();
  reportOpenResults();
  reportOpen({lang::VarOrigin::Let, lang::VarOrigin::Temporary});
}

void Inference::reportOpen(std::initializer_list<lang::VarOrigin> origins) {
  for (const lang::Var* var : groupVars_) {
    const Type* type = varTypes_[var->number];
    if (std::ranges::count(origins, var->origin) == 0 || !unifier_.shallow(type)->isUnknown())
      continue;
    unifier_.poison(type);
    std::string what = var->name.empty() ? "this expression" : fmt::format("`%{}`", var->name);
    auto& report = diagnostics_.report(Message::CannotInfer, var->range, what);
    if (var->origin == lang::VarOrigin::Parameter || var->origin == lang::VarOrigin::Free)
      report.suggest(fmt::format("write its type: `%{}: ...`", var->name));
  }
  relations_.solve();
}

/// What fits is what has the very type; where nothing is known of the hole, everything might.
void Inference::reportHoles() {
  for (const auto& [hole, type] : holes_) {
    const Type* wanted = unifier_.resolve(type);
    std::string fitting;
    for (const lang::Var* var : hole->scope)
      if (varTypes_[var->number] && unifier_.resolve(varTypes_[var->number]) == wanted)
        fitting += fmt::format("{}`%{}`", fitting.empty() ? "" : ", ", var->name);
    diagnostics_.report(Message::ExpressionHole, hole->range, lang::typeText(wanted))
        .note(fitting.empty() ? "no local in scope has this type"
                              : "in scope and fitting: " + fitting);
    unifier_.poison(type);
  }
  holes_.clear();
}

void Inference::reportOpenResults() {
  for (const lang::Function* function : groupFunctions_) {
    const Type* type = resultTypes_[function->number];
    if (!unifier_.shallow(type)->isUnknown())
      continue;
    unifier_.poison(type);
    diagnostics_.report(Message::CannotInfer, function->body->result.range,
                        "the result of this function");
  }
}

/// The final form of a type.
const Type* Inference::settled(const Type* type, lang::SourceRange range) {
  const Type* resolved = unifier_.resolve(type);
  if (resolved->isError() && !unifier_.shallow(type)->isError())
    return tooLarge(range);
  return resolved;
}

void Inference::writeTypes() {
  for (const lang::Function* function : groupFunctions_)
    function->resultType = settled(resultTypes_[function->number], function->body->result.range);
  for (const lang::Var* var : groupVars_)
    var->type = settled(varTypes_[var->number], var->range);
}

const Type* Inference::inferFunction(const lang::Function& function) {
  const Type* type = declare(function);
  inferBody(function);
  return type;
}

namespace {

/// Where a binding's value stands. Variables and definitions are one node for binder and uses, so
/// for these only the binding's own place is known.
lang::SourceRange placeOf(const lang::Binding& binding) {
  lang::ExprKind kind = binding.value->kind;
  bool isShared = kind == lang::ExprKind::Var || kind == lang::ExprKind::Global ||
                  kind == lang::ExprKind::Constructor;
  return isShared ? binding.var->range : binding.value->range;
}

} // namespace

/// A function literal's variable is typed before the literal, so that it may call itself.
void Inference::inferBinding(const lang::Binding& binding) {
  const lang::Var& var = *binding.var;
  if (const auto* function = binding.value->as<lang::Function>(); function && binding.isLet()) {
    const Type* type = declare(*function);
    setType(var, var.annotation ? unifier_.slot(var.annotation) : type);
    inferBody(*function);
    if (var.annotation && !unify(varTypes_[var.number], type, binding.value->range))
      diagnostics_.report(Message::LetMismatch, var.range, var.name, text(varTypes_[var.number]),
                          text(type));
    return;
  }
  const Type* value = infer(*binding.value);
  if (!var.annotation) {
    setType(var, value);
    return;
  }
  setType(var, unifier_.slot(var.annotation));
  lang::SourceRange place = placeOf(binding);
  if (unify(varTypes_[var.number], value, place))
    return;
  auto& report = diagnostics_.report(Message::LetMismatch, place, var.name,
                                     text(varTypes_[var.number]), text(value));
  if (place != var.range)
    report.label(var.range, "declared here");
}

const Type* Inference::inferBlock(const lang::Block& block) {
  for (const lang::Binding& binding : block.bindings)
    inferBinding(binding);
  return inferOperand(block.result);
}

const Type* Inference::inferOperand(const lang::Operand& operand) {
  return infer(*operand.value);
}

} // namespace typecheck

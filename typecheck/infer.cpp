// Definitions, functions and bindings. Recursion follows the nesting of functions, branches and
// arms, which the reader bounds; blocks are loops.
#include "typecheck/infer.h"

#include "runtime/budget.h"
#include "typecheck/call_edits.h"
#include "typecheck/partial_types.h"

#include <algorithm>
#include <fmt/format.h>

namespace typecheck {

using lang::Message;
using lang::Type;
using lang::TypeKind;

Checking::Checking(const lang::Module& checked, lang::Module* growing,
                   const lang::OperatorTable& table)
    : module(checked), operators(table),
      unifier(module.types, module.unknownCount, module.unknownDimCount,
              module.unknownCount + 2 * (module.varCount + module.functionCount)),
      open(growing, table, unifier) {
  cover();
  if (!growing)
    return;
  sizes = std::make_unique<KnownSizes>(unifier, table, vars);
  records = std::make_unique<RecordCalls>(module);
}

void Checking::cover() {
  vars.types.resize(module.varCount);
  vars.values.resize(module.varCount);
  functions.resultTypes.resize(module.functionCount);
  functions.scopeOf.resize(module.functionCount);
}

Inference::Inference(Checking& checking, lang::Diagnostics& diagnostics)
    : checking_(checking), module_(checking.module), diagnostics_(diagnostics),
      unifier_(checking.unifier), typing_(checking.typing), varTypes_(checking.vars.types),
      resultTypes_(checking.functions.resultTypes), scopeOf_(checking.functions.scopeOf),
      relations_(unifier_, checking.open, checking.sizes.get(), checking.arena, diagnostics,
                 checking.vars.values) {
  relations_.questions.fieldType = [this](const lang::Constructor& constructor, size_t field,
                                          const Type* data) {
    return fieldType(constructor, field, data);
  };
  relations_.questions.instanceType = [this](const lang::Global& instance) {
    return globalType(instance);
  };
}

void Inference::start(std::vector<const lang::Global*> group) {
  group_ = std::move(group);
  relations_.clear();
  relations_.bounds.clear();
  genericScope_ = 0;
  recursiveDims_.clear();
  equations_.clear();
  holes_.clear();
  rounds_ = 0;
  isWalked_ = isRepeated_ = false;
}

/// A declared type gets an unknown of its own, so that `?` elsewhere can weaken it as in Relay; one
/// with names, which Relay has not, keeps them. No declared type is an open unknown. What the last
/// round found counts as declared.
const Type* Inference::annotated(const Type* annotation, const Type* found) {
  if (!annotation && !found)
    return unifier_.fresh();
  const Type* own = annotation ? ownDims(annotation) : found;
  if (found) {
    // Sizes that are only named here are those of what was found.
    if (annotation && annotation->hasSymbol)
      unifier_.unify(own, found, true);
    own = found;
  }
  return own->hasSymbol && !own->hasUnknown ? own : unifier_.slot(own);
}

void Inference::addNumber(const Type* unknown, lang::Dims shape, OpenClass its) {
  unifier_.numbers().add(unknown, shape, its);
  relations_.addNumber(unknown);
}

void Inference::setType(const lang::Var& var, const Type* type) {
  varTypes_[var.number] = type;
  groupVars_.push_back(&var);
  varScopes_.push_back(genericScope_);
}

std::string Inference::text(const Type* type) {
  return shortTypeText(unifier_.resolve(type));
}

/// A type that is too large is one mistake, wherever it shows again.
const Type* Inference::tooLarge(lang::SourceRange range) {
  if (!checking_.reportedTooLarge)
    diagnostics_.report(Message::TypeTooLarge, range, Unifier::maximumSize, Unifier::maximumDepth);
  checking_.reportedTooLarge = isGroupTooLarge_ = true;
  return unifier_.types().error();
}

/// Unifies and reports failures that have no message of their own.
bool Inference::unify(const Type* left, const Type* right, lang::SourceRange range,
                      bool keepRight) {
  UnifyResult result = unifier_.unify(left, right, keepRight);
  for (const DimEquation& equation : unifier_.dims().takeEquations())
    equations_.emplace_back(equation, range);
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

/// Unifies, and reports a mismatch now or when a relation tells what is given.
bool Inference::require(const Type* wanted, const Type* given, lang::SourceRange range,
                        MismatchReporter report, bool keepGiven) {
  const Type* known = unifier_.shallow(given);
  if (!unify(wanted, given, range, keepGiven)) {
    report(wanted, given);
    return false;
  }
  if (known->isUnknown())
    relations_.expect(known, std::move(report));
  return true;
}

/// What the last round found of a variable, if a printed program says it.
const Type* Inference::foundType(const lang::Var& var) {
  const Type* found =
      isRepeated_ && var.origin != lang::VarOrigin::Temporary ? typing_.of(var) : nullptr;
  return checking_.facts.isShown(found) ? found : nullptr;
}

/// As above, of a function's result.
const Type* Inference::foundResult(const lang::Function& function) {
  const Type* found = isRepeated_ ? typing_.result(function) : nullptr;
  return checking_.facts.isShown(found) ? found : nullptr;
}

const Type* Inference::declare(const lang::Function& function) {
  size_t outer = genericScope_;
  auto generics = typing_.generics(function);
  if (!generics.empty()) {
    genericScopes_.push_back({outer, generics});
    genericScope_ = genericScopes_.size() - 1;
  }
  scopeOf_[function.number] = genericScope_;
  std::vector<const Type*> parameters;
  for (const lang::Var* parameter : function.parameters) {
    setType(*parameter, annotated(parameter->annotation, foundType(*parameter)));
    if (const auto* number = checking_.open.numberParameter(*parameter);
        number && !foundType(*parameter))
      addNumber(varTypes_[parameter->number], number->shape, number->its);
    if (auto sizes = checking_.open.knownSizes(*parameter); !sizes.empty())
      checking_.sizes->set(*parameter, sizes);
    parameters.push_back(varTypes_[parameter->number]);
  }
  const Type*& result = resultTypes_[function.number];
  result = annotated(function.resultAnnotation, foundResult(function));
  groupFunctions_.push_back(&function);
  functionScopes_.push_back(genericScope_);
  genericScope_ = outer;
  return unifier_.types().function(parameters, result, generics);
}

/// A polymorphic function as the instance that its place needs.
const Type* Inference::monomorphic(const Type* type) {
  const Type* known = unifier_.shallow(type);
  bool isPolymorphic = known->kind == TypeKind::Function && !known->generics.empty();
  return isPolymorphic ? unifier_.instantiate(known) : type;
}

void Inference::inferBody(const lang::Function& function) {
  relations_.solve();
  size_t outer = std::exchange(genericScope_, scopeOf_[function.number]);
  checkBody(function, inferBlock(*function.body));
  genericScope_ = outer;
}

void Inference::checkBody(const lang::Function& function, const Type* body) {
  const Type* result = resultTypes_[function.number];
  // A declared result is compared when the result is known, so that it is the result that is
  // reported, and what `?` weakens is weak before others take it. A polymorphic function must not
  // share what is still open.
  bool isDeclared = function.resultAnnotation || foundResult(function);
  if (isDeclared || !typing_.generics(function).empty())
    relations_.solve();
  const Type* wanted = unifier_.shallow(result);
  bool keepsGenerics = wanted->kind == TypeKind::Function && !wanted->generics.empty();
  if (!keepsGenerics)
    body = monomorphic(body);
  auto mismatch = [this, &function](const Type* declared, const Type* given) {
    auto& report =
        reportTypes(Message::ResultMismatch, function.body->result.range, declared, given);
    suggestNumber(report, function.body->result, unifier_.resolve(declared));
    if (!function.resultAnnotation)
      report.note("the declared type comes from the calls of this function");
  };
  require(result, body, function.body->result.range, mismatch);
}

/// Where `?` took the place of a size, what had taken the size before keeps it. So the group is
/// inferred again from the types that were found, as if they were declared, until they stay:
/// printed with its types and read again, a program has the same ones.
bool Inference::advance() {
  // Real programs need two or three; those that need more were written for that.
  constexpr int mostRounds = 16;
  relations_.listen();
  do {
    if (!isWalked_) {
      before_ = {diagnostics_.errorCount(), diagnostics_.all().size(), unifier_.weakenedCount()};
      isRepeated_ = rounds_++ > 0;
      checking_.cover();
      walkGroup();
      isWalked_ = true;
    }
    if (!solveAll())
      return false;
    isWalked_ = false;
    if (isLeftOpen()) {
      checking_.open.add(group_, relations_.waits().forNumbers);
      relations_.clear();
      return true;
    }
  } while (finishRound() && rounds_ < mostRounds);
  return true;
}

/// Says whether another round is needed.
bool Inference::finishRound() {
  finishGroup();
  if (isRepeated_)
    diagnostics_.dropWarnings(before_.findings);
  bool isNew = writeTypes();
  return isNew && diagnostics_.errorCount() <= before_.errors &&
         unifier_.weakenedCount() != before_.weakened;
}

void Inference::walkGroup() {
  groupVars_.clear();
  groupFunctions_.clear();
  groupErrors_ = diagnostics_.errorCount();
  isGroupTooLarge_ = false;
  genericScopes_.resize(1);
  varScopes_.clear();
  functionScopes_.clear();
  mistaken_.clear();
  openInstances_.clear();
  definitionDims_.clear();
  for (const lang::Global* global : group_) {
    typing_.setRequirements(*global->function, {});
    enterDefinition(*global);
    declare(*global->function);
  }
  for (const lang::Global* global : group_) {
    definition_ = global;
    inferBody(*global->function);
  }
}

/// Solves what can be solved; false while instances are needed for more.
bool Inference::solveAll() {
  do {
    relations_.solve();
    if (relations_.needsInstances())
      return false;
  } while (!isLeftOpen() && relations_.settleNext());
  return true;
}

/// Whether the uses of the group are to decide what its parameters are: relations wait for them.
/// Those who run `@main` need to know it.
bool Inference::isLeftOpen() {
  auto mayBeOpen = [](const lang::Global* global) { return global->function->mayBeOpen; };
  auto readsResult = [&](const lang::Global* global) {
    return !checking_.open.sizesOfResult(*global).empty();
  };
  bool hasErrors = diagnostics_.errorCount() > groupErrors_;
  if (!checking_.open.mayGrow() || hasErrors || !std::ranges::all_of(group_, mayBeOpen) ||
      std::ranges::count(group_, "main", &lang::Global::name) > 0)
    return false;
  if (std::ranges::any_of(group_, readsResult))
    return true;
  if (relations_.waits().forNumbers)
    return true;
  auto isPartial = [](const lang::Var* parameter) { return parameter->partial != nullptr; };
  for (const lang::Global* global : group_)
    if (std::ranges::any_of(global->function->parameters, isPartial))
      return true;
  std::vector<const Type*> awaited = relations_.awaited();
  for (const lang::Global* global : group_)
    for (const lang::Var* parameter : global->function->parameters)
      for (const Type* unknown : unifier_.openUnknowns(varTypes_[parameter->number]))
        if (unifier_.numbers().of(unknown) || std::ranges::count(awaited, unknown) > 0)
          return true;
  // Of `p: Dense` uses tell the sizes.
  auto leavesSizes = [&](const lang::Var* parameter) {
    return unifier_.resolve(varTypes_[parameter->number])->hasUnknown;
  };
  return relations_.waits().forSizes &&
         std::ranges::any_of(group_, [&](const lang::Global* global) {
           return std::ranges::any_of(global->function->parameters, leavesSizes);
         });
}

/// Reports what nothing determined, causes before what follows from them: whatever was reported is
/// poisoned, so that its consequences settle silently.
void Inference::finishGroup() {
  for (const Type* type : mistaken_)
    unifier_.poison(type);
  if (isGroupTooLarge_)
    poisonGroup();
  reportHoles();
  checkTypeParameters();
  checkOpenInstances();
  generalise(group_);
  reportOpen({lang::VarOrigin::Parameter, lang::VarOrigin::Free});
  reportOpen({lang::VarOrigin::Pattern});
  relations_.solve();
  relations_.reportUnsolved();
  reportOpenResults();
  reportOpen({lang::VarOrigin::Let, lang::VarOrigin::Temporary});
  closeRecursion();
  nameSizes(group_);
  checkPartialResults();
  relations_.clear();
  checkEquations();
  checkBounds();
}

void Inference::checkPartialResults() {
  for (const lang::Global* global : group_) {
    const lang::Function& function = *global->function;
    if (!function.partialResult)
      continue;
    const Type* result = unifier_.resolve(resultTypes_[function.number]);
    if (!fits(*function.partialResult, *result, {}, unifier_))
      diagnostics_.report(Message::ResultMismatch, function.body->result.range,
                          partialText(*function.partialResult), shortTypeText(result));
  }
}

/// Leaves nothing open that could be reported.
void Inference::poisonGroup() {
  std::vector<const Type*> types;
  for (const lang::Var* var : groupVars_)
    types.push_back(varTypes_[var->number]);
  for (const lang::Function* function : groupFunctions_)
    types.push_back(resultTypes_[function->number]);
  unifier_.poisonAll(types);
  relations_.solve();
}

/// After a mistake in the group, what stays open of lets and results follows from it.
bool Inference::isConsequence(lang::VarOrigin origin) const {
  bool isDerived = origin == lang::VarOrigin::Let || origin == lang::VarOrigin::Temporary;
  return isDerived && diagnostics_.errorCount() > groupErrors_;
}

void Inference::reportOpen(std::initializer_list<lang::VarOrigin> origins) {
  for (const lang::Var* var : groupVars_) {
    const Type* type = varTypes_[var->number];
    if (std::ranges::count(origins, var->origin) == 0 || !unifier_.shallow(type)->isUnknown())
      continue;
    unifier_.poison(type);
    if (isConsequence(var->origin))
      continue;
    std::string what = var->name.empty() ? "this expression" : fmt::format("`%{}`", var->name);
    auto& report = diagnostics_.report(Message::CannotInfer, var->range, what);
    if (var->origin == lang::VarOrigin::Parameter || var->origin == lang::VarOrigin::Free)
      report.note(fmt::format("a parameter says its type behind a colon: `%{}: ...`", var->name));
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
    if (!isConsequence(lang::VarOrigin::Let))
      diagnostics_.report(Message::CannotInfer, function->body->result.range,
                          "the result of this function");
  }
}

/// The final form of a type.
const Type* Inference::settled(const Type* type, lang::SourceRange range, TypeMemo& known) {
  const Type* resolved = unifier_.resolve(type);
  if (resolved->isError() && !unifier_.shallow(type)->isError())
    return tooLarge(range);
  if (!resolved->hasUnknown)
    return resolved;
  auto settle = [&](const lang::Dim* dim) {
    return dim->hasUnknown ? unifier_.types().any() : dim;
  };
  return unifier_.mapDims(resolved, settle, known);
}

/// Says whether a type that can be declared is another one than was known.
bool Inference::writeTypes() {
  TypeMemo known;
  bool isNew = false;
  for (const lang::Function* function : groupFunctions_) {
    lang::SourceRange range = function->body->result.range;
    const Type* type = settled(resultTypes_[function->number], range, known);
    isNew |= typing_.result(*function) != type && checking_.facts.isShown(type);
    typing_.setResult(*function, type);
  }
  for (const lang::Var* var : groupVars_) {
    const Type* type = settled(varTypes_[var->number], var->range, known);
    isNew |= typing_.of(*var) != type && checking_.facts.isShown(type);
    typing_.setType(*var, type);
  }
  return isNew;
}

const Type* Inference::inferFunction(const lang::Function& function) {
  const Type* type = declare(function);
  inferBody(function);
  return type;
}

/// A function literal's variable is typed before the literal, so that it may call itself.
void Inference::inferBinding(const lang::Binding& binding) {
  runtime::Budget::step();
  const lang::Var& var = *binding.var;
  const Type* found = foundType(var);
  bool isDeclared = var.annotation || found;
  checking_.vars.values[var.number] = binding.value;
  if (isGroupTooLarge_) {
    setType(var, unifier_.types().error());
    return;
  }
  if (const auto* function = binding.value->as<lang::Function>(); function && binding.isLet()) {
    const Type* type = declare(*function);
    setType(var, isDeclared ? annotated(var.annotation, found) : type);
    inferBody(*function);
    if (isDeclared && !unify(varTypes_[var.number], type, binding.value->range))
      reportTypes(Message::LetMismatch, binding.value->range, varTypes_[var.number], type, var.name)
          .label(var.range, "declared here");
    return;
  }
  const lang::Global* open = openGlobal(*binding.value);
  const Type* value = open ? inferOpenValue(&binding, binding.place, *open) : infer(*binding.value);
  if (unifier_.isTooLarge(value))
    value = tooLarge(binding.value->range);
  if (!isDeclared) {
    setType(var, value);
    return;
  }
  setType(var, annotated(var.annotation, found));
  lang::SourceRange place = binding.place.isValid() ? binding.place : var.range;
  auto mismatch = [this, &var, &binding, place](const Type* declared, const Type* given) {
    auto& report = reportTypes(Message::LetMismatch, place, declared, given, var.name);
    suggestNumber(report, {binding.value, place}, unifier_.resolve(declared));
    if (place != var.range)
      report.label(var.range, "declared here");
  };
  require(varTypes_[var.number], value, place, mismatch);
}

const Type* Inference::inferBlock(const lang::Block& block) {
  for (const lang::Binding& binding : block.bindings)
    inferBinding(binding);
  return inferOperand(block.result);
}

const Type* Inference::inferOperand(const lang::Operand& operand) {
  useRange_ = operand.range;
  if (const lang::Global* open = openGlobal(*operand.value))
    return inferOpenValue(&operand, operand.range, *open);
  return infer(*operand.value);
}

} // namespace typecheck

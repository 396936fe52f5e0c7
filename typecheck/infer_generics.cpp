// Type parameters must not leave the function that declares them: outside, nothing says what they
// stand for. Every value that leaves a function is bound to a variable or is a result, so it is
// enough to look at the types of these.
#include "typecheck/infer.h"

#include <algorithm>
#include <fmt/format.h>
#include <unordered_set>

namespace typecheck {

using lang::Message;
using lang::Type;
using lang::TypeContext;

namespace {

void addDimParameters(const lang::Dim* root, std::vector<const lang::TypeParameter*>& found) {
  std::vector<const lang::Dim*> stack{root};
  while (!stack.empty()) {
    const lang::Dim* dim = stack.back();
    stack.pop_back();
    if (dim->parameter)
      found.push_back(dim->parameter);
    for (const lang::DimTerm& term : dim->terms)
      stack.push_back(term.variable);
  }
}

/// The type parameters in a type that no function type inside of it declares.
std::vector<const lang::TypeParameter*> freeParameters(const Type* root) {
  std::vector<const lang::TypeParameter*> found, bound;
  std::vector<const Type*> stack{root};
  std::unordered_set<const Type*> seen;
  while (!stack.empty()) {
    const Type* type = stack.back();
    stack.pop_back();
    if (!seen.insert(type).second)
      continue;
    if (type->parameter)
      found.push_back(type->parameter);
    for (const lang::Dim* dim : type->shape)
      addDimParameters(dim, found);
    bound.insert(bound.end(), type->generics.begin(), type->generics.end());
    stack.insert(stack.end(), type->parts.begin(), type->parts.end());
    if (type->result)
      stack.push_back(type->result);
  }
  std::erase_if(found, [&](auto* parameter) { return std::ranges::count(bound, parameter) > 0; });
  return found;
}

} // namespace

bool Inference::reportEscape(const Type* type, size_t scope, lang::SourceRange range,
                             const std::string& what) {
  const Type* known = unifier_.resolve(type);
  for (const lang::TypeParameter* parameter : freeParameters(known)) {
    size_t at = scope;
    while (at != 0 && std::ranges::count(genericScopes_[at].generics, parameter) == 0)
      at = genericScopes_[at].parent;
    if (at != 0)
      continue;
    diagnostics_.report(Message::EscapingTypeParameter, range, what, parameter->name,
                        lang::typeText(known));
    return true;
  }
  return false;
}

/// Named variables first: they are what people wrote.
bool Inference::reportEscapes(bool named) {
  for (size_t i = 0; i < groupVars_.size(); ++i) {
    const lang::Var& var = *groupVars_[i];
    std::string what = named ? fmt::format("`%{}`", var.name) : "this expression";
    if (var.name.empty() != named &&
        reportEscape(varTypes_[var.number], varScopes_[i], var.range, what))
      return true;
  }
  return false;
}

/// One report is enough: what follows from it would only repeat it.
void Inference::checkTypeParameters() {
  if (genericScopes_.size() == 1)
    return;
  bool escapes = reportEscapes(true) || reportEscapes(false);
  for (size_t i = 0; i < groupFunctions_.size() && !escapes; ++i) {
    const lang::Function& function = *groupFunctions_[i];
    escapes = reportEscape(resultTypes_[function.number], functionScopes_[i],
                           function.body->result.range, "this result");
  }
  if (!escapes)
    return;
  for (const lang::Var* var : groupVars_)
    varTypes_[var->number] = unifier_.types().error();
  for (const lang::Function* function : groupFunctions_)
    resultTypes_[function->number] = unifier_.types().error();
}

namespace {

/// `A` to `Z`, then `A1` and so on.
std::string parameterName(size_t number) {
  std::string name(1, char('A' + number % 26));
  return number < 26 ? name : name + std::to_string(number / 26);
}

} // namespace

/// The unknowns that are open in the parameters of every global of a group and that no operator
/// waits for, in the order of the first one's.
std::vector<const Type*> Inference::generalisable(std::span<const lang::Global* const> group) {
  std::unordered_map<const Type*, size_t> uses;
  std::vector<const Type*> found;
  for (const lang::Global* global : group) {
    std::unordered_set<const Type*> own;
    for (const lang::Var* parameter : global->function->parameters)
      for (const Type* unknown : unifier_.openUnknowns(varTypes_[parameter->number]))
        if (own.insert(unknown).second && ++uses[unknown] == 1 && global == group[0])
          found.push_back(unknown);
  }
  for (const Type* unknown : relations_.awaited())
    uses.erase(unknown);
  std::erase_if(found, [&](const Type* unknown) {
    auto count = uses.find(unknown);
    return count == uses.end() || count->second != group.size();
  });
  return found;
}

/// What nothing says of the parameters of a group may be anything: it becomes a type parameter of
/// all of them (Milner's rule). An operator that waits for it needs to know it, and so do those who
/// run `@main`. The parameters belong to the first of the group, so that a second check finds them.
/// In a group with mistakes nobody needs them.
void Inference::generalise(std::span<const lang::Global* const> group) {
  if (std::ranges::count(group, "main", &lang::Global::name) > 0)
    return;
  if (diagnostics_.errorCount() != groupErrors_) {
    unifier_.poisonAll(generalisable(group));
    return;
  }
  TypeContext& types = unifier_.types();
  std::vector<const lang::TypeParameter*> made;
  size_t number = 0;
  for (const Type* unknown : generalisable(group)) {
    // Operators on values of one type may have said that it is what another one is.
    if (!unifier_.shallow(unknown)->isUnknown())
      continue;
    std::string name = parameterName(number++);
    auto isTaken = [&](const lang::Global* global) { return isTypeName(name, *global->function); };
    while (std::ranges::any_of(group, isTaken))
      name = parameterName(number++);
    made.push_back(types.parameter(name, group[0]));
    unifier_.unify(unknown, types.variable(made.back()));
    relations_.solve();
  }
  if (made.empty())
    return;
  for (const lang::Global* global : group) {
    auto known = typing_.generics(*global->function);
    std::vector<const lang::TypeParameter*> generics(known.begin(), known.end());
    generics.insert(generics.end(), made.begin(), made.end());
    typing_.setGenerics(*global->function, std::move(generics));
  }
}

/// Whether a name means something in a definition already.
bool Inference::isTypeName(std::string_view name, const lang::Function& function) const {
  return std::ranges::count(typing_.generics(function), name, &lang::TypeParameter::name) > 0 ||
         std::ranges::count(module_.typeDefinitions, name, &lang::TypeDefinition::name) > 0;
}

} // namespace typecheck

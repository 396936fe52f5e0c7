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

} // namespace typecheck

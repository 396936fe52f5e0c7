// Tables that grow as they are filled.
#include "lang/ir/typing.h"

namespace lang {

const Type* Typing::of(const Expr& atom) const {
  if (const auto* var = atom.as<Var>())
    return var->number < vars_.size() ? vars_[var->number] : nullptr;
  const auto* constant = atom.as<Constant>();
  return constant ? constant->type : nullptr;
}

const Typing::FunctionTyping* Typing::find(const Function& function) const {
  return function.number < functions_.size() ? &functions_[function.number] : nullptr;
}

Typing::FunctionTyping& Typing::at(const Function& function) {
  if (function.number >= functions_.size())
    functions_.resize(function.number + 1);
  return functions_[function.number];
}

const Type* Typing::result(const Function& function) const {
  const FunctionTyping* known = find(function);
  return known ? known->result : nullptr;
}

std::span<const TypeParameter* const> Typing::generics(const Function& function) const {
  const FunctionTyping* known = find(function);
  if (known && !known->generics.empty())
    return known->generics;
  return function.generics;
}

std::span<const Requirement> Typing::requirements(const Function& function) const {
  const FunctionTyping* known = find(function);
  return known ? std::span<const Requirement>(known->requirements) : std::span<const Requirement>();
}

void Typing::setType(const Var& var, const Type* type) {
  if (var.number >= vars_.size())
    vars_.resize(var.number + 1);
  vars_[var.number] = type;
}

void Typing::setResult(const Function& function, const Type* type) {
  at(function).result = type;
}

void Typing::setGenerics(const Function& function, std::vector<const TypeParameter*> generics) {
  at(function).generics = std::move(generics);
}

void Typing::setRequirements(const Function& function, std::vector<Requirement> requirements) {
  at(function).requirements = std::move(requirements);
}

const Type* functionType(TypeContext& types, const Function& function, const Typing& typing) {
  std::vector<const Type*> parameters;
  for (const Var* parameter : function.parameters)
    parameters.push_back(typing.of(*parameter));
  const Type* result = typing.result(function);
  bool isKnown = result && std::ranges::count(parameters, nullptr) == 0;
  return isKnown ? types.function(parameters, result, typing.generics(function)) : nullptr;
}

} // namespace lang

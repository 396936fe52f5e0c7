// Every value that leaves a function is bound to a variable or is a result, so it is enough to look
// at the types of these.
#include "typecheck/type_parameters.h"

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

} // namespace

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

namespace {

bool reportEscape(Group& group, const Type* type, size_t scope, lang::SourceRange range,
                  const lang::Words& what) {
  const Type* known = group.unifier.resolve(type);
  const auto& scopes = group.seen.genericScopes;
  for (const lang::TypeParameter* parameter : freeParameters(known)) {
    size_t at = scope;
    while (at != 0 && std::ranges::count(scopes[at].generics, parameter) == 0)
      at = scopes[at].parent;
    if (at != 0)
      continue;
    group.diagnostics.report(Message::EscapingTypeParameter, range, what, parameter->name, known);
    return true;
  }
  return false;
}

/// Named variables first: they are what people wrote.
bool reportEscapes(Group& group, bool named) {
  const Seen& seen = group.seen;
  for (size_t i = 0; i < seen.vars.size(); ++i) {
    const lang::Var& var = *seen.vars[i];
    lang::Words what = named ? lang::words("`{}`", lang::localName(var.name)) : "this expression";
    if (var.name.empty() != named && reportEscape(group, group.checking.vars.types[var.number],
                                                  seen.varScopes[i], var.range, what))
      return true;
  }
  return false;
}

bool reportEscapingResult(Group& group) {
  const Seen& seen = group.seen;
  for (size_t i = 0; i < seen.functions.size(); ++i) {
    const lang::Function& function = *seen.functions[i];
    if (reportEscape(group, group.checking.functions.resultTypes[function.number],
                     seen.functionScopes[i], function.body->result.range, "this result"))
      return true;
  }
  return false;
}

} // namespace

void checkTypeParameters(Group& group) {
  if (group.seen.genericScopes.size() == 1)
    return;
  if (!reportEscapes(group, true) && !reportEscapes(group, false) && !reportEscapingResult(group))
    return;
  const Type* error = group.unifier.types().error();
  for (const lang::Var* var : group.seen.vars)
    group.checking.vars.types[var->number] = error;
  for (const lang::Function* function : group.seen.functions)
    group.checking.functions.resultTypes[function->number] = error;
}

namespace {

/// `A` to `Z`, then `A1` and so on.
std::string parameterName(size_t number) {
  std::string name(1, char('A' + number % 26));
  return number < 26 ? name : name + std::to_string(number / 26);
}

/// What a definition takes and gives.
std::vector<const Type*> typesOf(const Group& group, const lang::Function& function) {
  std::vector<const Type*> types;
  for (const lang::Var* parameter : function.parameters)
    types.push_back(group.checking.vars.types[parameter->number]);
  types.push_back(group.checking.functions.resultTypes[function.number]);
  return types;
}

/// The unknowns that are open in the types of every global of a group and that no operator waits
/// for, in the order of the first one's.
std::vector<const Type*> generalisable(Group& group) {
  std::unordered_map<const Type*, size_t> uses;
  std::vector<const Type*> found;
  for (const lang::Global* global : group.definitions) {
    std::unordered_set<const Type*> own;
    for (const Type* type : typesOf(group, *global->function))
      for (const Type* unknown : group.unifier.openUnknowns(type))
        if (own.insert(unknown).second && ++uses[unknown] == 1 && global == group.definitions[0])
          found.push_back(unknown);
  }
  for (const Type* unknown : group.relations.awaited())
    uses.erase(unknown);
  std::erase_if(found, [&](const Type* unknown) {
    auto count = uses.find(unknown);
    return count == uses.end() || count->second != group.definitions.size();
  });
  return found;
}

/// Whether a name means something in a definition of the group already.
bool isTaken(const Group& group, std::string_view name) {
  const Checking& checking = group.checking;
  auto declares = [&](const lang::Global* global) {
    return std::ranges::count(checking.typing.generics(*global->function), name,
                              &lang::TypeParameter::name) > 0;
  };
  return std::ranges::any_of(group.definitions, declares) ||
         std::ranges::count(checking.module.typeDefinitions, name, &lang::TypeDefinition::name) > 0;
}

} // namespace

/// An operator that waits for a parameter needs to know it, and so do those who run `@main`. The
/// parameters belong to the first of the group, so that a second check finds them. In a group with
/// mistakes nobody needs them.
void generalise(Group& group) {
  if (group.holdsMain())
    return;
  if (group.hasMistakes()) {
    group.unifier.poisonAll(generalisable(group));
    return;
  }
  lang::Typing& typing = group.checking.typing;
  TypeContext& types = group.unifier.types();
  std::vector<const lang::TypeParameter*> made;
  size_t number = 0;
  for (const Type* unknown : generalisable(group)) {
    // Operators on values of one type may have said that it is what another one is.
    if (!group.unifier.shallow(unknown)->isUnknown())
      continue;
    std::string name = parameterName(number++);
    while (isTaken(group, name))
      name = parameterName(number++);
    made.push_back(types.parameter(name, group.definitions[0]));
    group.unifier.unify(unknown, types.variable(made.back()));
    group.relations.solve();
  }
  if (made.empty())
    return;
  for (const lang::Global* global : group.definitions) {
    auto known = typing.generics(*global->function);
    std::vector<const lang::TypeParameter*> generics(known.begin(), known.end());
    generics.insert(generics.end(), made.begin(), made.end());
    typing.setGenerics(*global->function, std::move(generics));
  }
}

} // namespace typecheck

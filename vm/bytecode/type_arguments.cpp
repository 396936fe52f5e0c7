// Both sides of a call are walked at once, again until nothing new is found, as what one argument
// tells may be what another one lacks. Recursion follows types, whose nesting the checker
// bounds.
#include "vm/bytecode/type_arguments.h"

#include <algorithm>
#include <deque>
#include <utility>

namespace bytecode {

using lang::Type;
using lang::TypeKind;
using lang::TypeParameter;

namespace {

const Type* find(const TypeArguments& found, const TypeParameter* parameter) {
  auto known = std::ranges::find(found, parameter, &TypeArguments::value_type::first);
  return known == found.end() ? nullptr : known->second;
}

bool knows(const Environment& environment, const TypeParameter* parameter) {
  return std::ranges::count(environment, parameter, &Environment::value_type::first) > 0;
}

/// Type parameters whose meaning is being found, within those of a function around.
struct Unknowns {
  std::span<const TypeParameter* const> parameters;
  Unknowns* around = nullptr;
  TypeArguments found = {};

  /// Those of which `type` is one, if it is.
  Unknowns* of(const Type& type) {
    for (Unknowns* each = this; each && type.kind == TypeKind::Variable; each = each->around)
      if (std::ranges::find(each->parameters, type.parameter) != each->parameters.end())
        return each;
    return nullptr;
  }
};

/// Whether all of `unknowns` and around that the type mentions have been found.
bool isKnown(const Type& type, Unknowns* unknowns) {
  if (Unknowns* own = unknowns ? unknowns->of(type) : nullptr)
    return find(own->found, type.parameter);
  auto isKnownPart = [&](const Type* part) { return isKnown(*part, unknowns); };
  return std::ranges::all_of(type.parts, isKnownPart) &&
         (!type.result || isKnown(*type.result, unknowns));
}

/// One look at all of a call after another, each with what was found before.
struct Matching {
  lang::TypeContext& types;
  const Environment& outer;
  Unknowns callee;
  /// Those of the generic functions among the arguments, in the order in which they are met.
  std::deque<Unknowns> given = {};
  size_t met = 0;
  bool isNew = true;

  void match(const Type* declared, const Type* type, Unknowns* own);
  void matchKnown(const Type* open, Unknowns* unknowns, const Type* known);
  void bind(Unknowns* unknowns, const Type& variable, const Type& type, Unknowns* others);
  Unknowns* enter(const Type& function, Unknowns* around);
};

/// Lets a variable stand for what `type` does once it is known, which may mention `others`. What is
/// found is of the code around the call.
void Matching::bind(Unknowns* unknowns, const Type& variable, const Type& type, Unknowns* others) {
  if (!unknowns || find(unknowns->found, variable.parameter) || !isKnown(type, others))
    return;
  bool isFree = type.kind == TypeKind::Variable && !(others && others->of(type));
  if (isFree && !knows(outer, type.parameter))
    return;
  TypeArguments found;
  for (Unknowns* each = others; each; each = each->around)
    found.insert(found.end(), each->found.begin(), each->found.end());
  unknowns->found.emplace_back(variable.parameter, substitute(types, &type, found));
  isNew = true;
}

/// `known`, a type of the code around, is where `open` with its unknowns is declared.
void Matching::matchKnown(const Type* open, Unknowns* unknowns, const Type* known) {
  if (!open || !known)
    return;
  if (Unknowns* own = unknowns ? unknowns->of(*open) : nullptr)
    return bind(own, *open, *known, nullptr);
  if (open->kind != known->kind || open->parts.size() != known->parts.size())
    return;
  for (size_t i = 0; i < open->parts.size(); ++i)
    matchKnown(open->parts[i], unknowns, known->parts[i]);
  matchKnown(open->result, unknowns, known->result);
}

Unknowns* Matching::enter(const Type& function, Unknowns* around) {
  if (function.generics.empty())
    return around;
  if (met == given.size())
    given.push_back({function.generics, around});
  return &given[met++];
}

/// `type`, with `own` the unknowns of the generic functions around it, is where the callee declares
/// `declared`.
void Matching::match(const Type* declared, const Type* type, Unknowns* own) {
  if (!declared || !type)
    return;
  Unknowns* left = callee.of(*declared);
  Unknowns* right = own ? own->of(*type) : nullptr;
  if (left || right) {
    bind(left, *declared, *type, own);
    bind(right, *type, *declared, &callee);
    if (left && !right)
      matchKnown(type, own, find(left->found, declared->parameter));
    if (right && !left)
      matchKnown(declared, &callee, find(right->found, type->parameter));
    return;
  }
  if (declared->kind != type->kind || declared->parts.size() != type->parts.size())
    return;
  Unknowns* inner = enter(*type, own);
  for (size_t i = 0; i < declared->parts.size(); ++i)
    match(declared->parts[i], type->parts[i], inner);
  match(declared->result, type->result, inner);
}

} // namespace

TypeArguments typeArguments(lang::TypeContext& types, const Type* callee, lang::Types arguments,
                            const Type* result, const Environment& outer) {
  if (!callee || callee->generics.empty())
    return {};
  Matching matching{types, outer, {callee->generics}};
  while (std::exchange(matching.isNew, false)) {
    matching.met = 0;
    for (size_t i = 0; i < arguments.size() && i < callee->parts.size(); ++i)
      matching.match(callee->parts[i], arguments[i], nullptr);
    matching.match(callee->result, result, nullptr);
  }
  return matching.callee.found;
}

Environment ordered(std::span<const TypeParameter* const> generics, const Environment& found) {
  Environment result;
  for (const TypeParameter* generic : generics) {
    if (generic->kind == lang::ParameterKind::Dimension)
      continue;
    auto known = std::ranges::find(found, generic, &Environment::value_type::first);
    result.emplace_back(generic, known == found.end() ? reference : known->second);
  }
  return result;
}

bool hasAll(const Environment& found, std::span<const TypeParameter* const> generics) {
  return std::ranges::all_of(generics, [&](const TypeParameter* generic) {
    return generic->kind == lang::ParameterKind::Dimension || knows(found, generic);
  });
}

const Type* constructorType(lang::TypeContext& types, const lang::Constructor& constructor) {
  std::vector<const Type*> arguments;
  for (const TypeParameter* generic : constructor.definition->generics)
    arguments.push_back(types.variable(generic));
  return types.function(constructor.fields, types.data(constructor.definition, arguments),
                        constructor.definition->generics);
}

} // namespace bytecode

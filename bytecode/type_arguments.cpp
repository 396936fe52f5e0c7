// Both sides of a call are walked at once, again until nothing new is found, as what one argument
// tells may be what another one lacks. Recursion follows types, whose nesting the checker
// bounds.
#include "bytecode/type_arguments.h"

#include <algorithm>
#include <deque>
#include <utility>

namespace bytecode {

using lang::Type;
using lang::TypeKind;
using lang::TypeParameter;

namespace {

bool knows(const Environment& environment, const TypeParameter* parameter) {
  return std::ranges::count(environment, parameter, &Environment::value_type::first) > 0;
}

/// Type parameters whose meaning is being found, within those of a function around.
struct Unknowns {
  std::span<const TypeParameter* const> parameters;
  Unknowns* around = nullptr;
  Environment found = {};

  /// Those of which `type` is one, if it is.
  Unknowns* of(const Type& type) {
    for (Unknowns* each = this; each && type.kind == TypeKind::Variable; each = each->around)
      if (std::ranges::find(each->parameters, type.parameter) != each->parameters.end())
        return each;
    return nullptr;
  }
};

/// One look at all of a call after another, each with what was found before.
struct Matching {
  const Environment& outer;
  Unknowns callee;
  /// Those of the generic functions among the arguments, in the order in which they are met.
  std::deque<Unknowns> given = {};
  size_t met = 0;
  bool isNew = true;

  void match(const Type* declared, const Type* type, Unknowns* own);
  void bind(Unknowns* unknowns, const Type& variable, const Type& type, Unknowns* others);
  Unknowns* enter(const Type& function, Unknowns* around);
};

/// Lets a variable stand for what `type` does, which may be a variable of `others`.
void Matching::bind(Unknowns* unknowns, const Type& variable, const Type& type, Unknowns* others) {
  if (!unknowns || knows(unknowns->found, variable.parameter))
    return;
  const Environment& meanings = others ? others->found : outer;
  if (type.kind == TypeKind::Variable && !knows(meanings, type.parameter))
    return;
  unknowns->found.emplace_back(variable.parameter, repOf(&type, meanings));
  isNew = true;
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
    bind(left, *declared, *type, right);
    bind(right, *type, *declared, left);
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

Environment typeArguments(const Type* callee, lang::Types arguments, const Type* result,
                          const Environment& outer) {
  if (!callee)
    return {};
  Matching matching{outer, {callee->generics}};
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

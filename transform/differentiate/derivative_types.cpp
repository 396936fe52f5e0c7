// Duals and cotangents of types.
#include "transform/differentiate/derivative_types.h"

#include "lang/ir/differentiable.h"
#include "lang/ir/fields.h"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

namespace transform {

using namespace lang;

namespace {

const Type* unitOf(TypeContext& types) {
  return types.tuple(Types{});
}

std::vector<const Type*> ofParameters(TypeContext& types,
                                      std::span<const TypeParameter* const> parameters) {
  std::vector<const Type*> arguments;
  for (const TypeParameter* parameter : parameters)
    arguments.push_back(parameter->kind == ParameterKind::Dimension
                            ? types.dimension(types.symbol(parameter))
                            : types.variable(parameter));
  return arguments;
}

/// Whether the fields of a data type hold functions whatever its arguments are.
bool holdsFunctionsItself(TypeContext& types, const TypeDefinition& definition) {
  return holdsFunctions(types.data(&definition, ofParameters(types, definition.generics)));
}

bool hasOpenDims(const Type* type) {
  auto isOpen = [](const Dim* dim) { return !dim->isConstant(); };
  return std::ranges::any_of(type->shape, isOpen) || (type->result && hasOpenDims(type->result)) ||
         std::ranges::any_of(type->parts, hasOpenDims);
}

} // namespace

const Pattern* fieldsPattern(Builder& make, const Constructor& constructor,
                             std::vector<const Var*>& vars) {
  std::vector<const Pattern*> parts;
  for (size_t i = 0; i < constructor.fields.size(); ++i) {
    vars.push_back(make.var(VarOrigin::Pattern, "v"));
    parts.push_back(make.varPattern(vars.back()));
  }
  return make.constructorPattern(constructor, parts);
}

const Type* DerivativeTypes::pack(Types values) {
  std::vector<const Type*> parts;
  for (const Type* value : values)
    if (holdsFloats(value))
      parts.push_back(cotangent(value));
  return parts.size() == 1 ? parts.front() : make.types.tuple(parts);
}

const Type* DerivativeTypes::answer(const Type* result, Types given, Types sums) {
  std::vector<const Type*> coming{cotangent(result)};
  for (const Type* type : sums)
    coming.push_back(cotangent(type));
  const Type* pullBack = make.types.function(coming, pack(given));
  return make.types.tuple(std::vector<const Type*>{dual(result), pullBack});
}

const Type* DerivativeTypes::mapped(const Type* type, Form form) {
  const bool hasZeros = zeros_ && !zeros_->isEmpty();
  if (form == Form::Given && !hasZeros)
    form = Form::Cotangent;
  if (auto found = known(form).find(type); found != known(form).end())
    return found->second;
  const bool holds = holdsFunctions(type);
  const Type* image = type;
  if (type->isTuple()) {
    std::vector<const Type*> parts;
    for (const Type* part : type->parts)
      parts.push_back(mapped(part, form));
    image = make.types.tuple(parts);
  } else if (type->kind == TypeKind::Data) {
    return holds || (form == Form::Cotangent && hasZeros) ? mappedData(type, form) : type;
  } else if (holds && form != Form::Dual) {
    image = unitOf(make.types);
  } else if (type->kind == TypeKind::Function) {
    image = dualFunction(*type);
  } else if (type->kind == TypeKind::Reference) {
    const Type* content = type->parts[0];
    image = make.types.reference(dual(content));
    if (holdsFloats(content))
      image = make.types.tuple(
          std::vector<const Type*>{image, make.types.reference(cotangent(content))});
  }
  return known(form).emplace(type, image).first->second;
}

bool DerivativeTypes::isTranslated(const Type* type) {
  return mapped(type, Form::Given) != cotangent(type);
}

const Type* DerivativeTypes::dualFunction(const Type& function) {
  std::vector<const Type*> parameters;
  for (const Type* parameter : function.parts)
    parameters.push_back(dual(parameter));
  if (mode_ == Mode::Reverse)
    return make.types.function(parameters, answer(function.result, function.parts),
                               function.generics);
  for (const Type* parameter : function.parts)
    if (holdsFloats(parameter))
      parameters.push_back(cotangent(parameter));
  return make.types.function(parameters, withTangent(function.result), function.generics);
}

const Type* DerivativeTypes::withTangent(const Type* result) {
  if (!holdsFloats(result))
    return dual(result);
  return make.types.tuple(std::vector<const Type*>{dual(result), cotangent(result)});
}

void DerivativeTypes::see(const Type* type) {
  isForAllSizes_ = isForAllSizes_ || hasOpenData(type);
}

/// Whether a data type of functions has arguments with sizes that are no numbers.
bool DerivativeTypes::hasOpenData(const Type* type) {
  if (type->kind == TypeKind::Data && hasOpenDims(type) &&
      holdsFunctionsItself(make.types, *type->definition))
    return true;
  return (type->result && hasOpenData(type->result)) ||
         std::ranges::any_of(type->parts, [&](const Type* part) { return hasOpenData(part); });
}

const Type* DerivativeTypes::withoutSizes(const Type* type) {
  return rebuilt(
      make.types, type, [](const Type* variable) { return variable; },
      [&](const Dim*) { return make.types.any(); });
}

const Type* DerivativeTypes::mappedData(const Type* type, Form form) {
  const TypeDefinition* definition = type->definition;
  if (!holdsFunctionsItself(make.types, *definition)) {
    if (form == Form::Cotangent && zeros_ &&
        (zeros_->has(*definition) || holdsAny(*definition, *zeros_)))
      definition = &withZeros(*definition);
    std::vector<const Type*> parts;
    for (const Type* part : type->parts)
      parts.push_back(part->kind == TypeKind::Dimension ? part : mapped(part, form));
    const Type* image = make.types.data(definition, parts);
    return known(form).emplace(type, image).first->second;
  }
  if (const Type* plain = withoutSizes(type); isForAllSizes_ && plain != type) {
    const Type* image = mapped(plain, form);
    return known(form).emplace(type, image).first->second;
  }
  return ofOneType(type, form);
}

/// A data type of its own for one with functions in it, which its arguments don't tell.
const Type* DerivativeTypes::ofOneType(const Type* type, Form form) {
  auto* made = make.arena.make<TypeDefinition>();
  const Type* image = make.types.data(made, Types{});
  known(form).emplace(type, image);
  makeConstructors(*made, type, form);
  return image;
}

/// The data type of cotangents of a generic one, of the same type parameters.
const TypeDefinition& DerivativeTypes::withZeros(const TypeDefinition& definition) {
  const TypeDefinition*& found = withZeros_[&definition];
  if (found)
    return *found;
  auto* made = make.arena.make<TypeDefinition>();
  found = made;
  std::vector<const TypeParameter*> generics;
  for (const TypeParameter* each : definition.generics)
    generics.push_back(make.arena.make<TypeParameter>(each->name, each->kind));
  made->generics = make.arena.copy(generics);
  std::vector<const Type*> arguments = ofParameters(make.types, generics);
  const Type* itself = make.types.data(&definition, arguments);
  known(Form::Cotangent).emplace(itself, make.types.data(made, arguments));
  makeConstructors(*made, itself, Form::Cotangent);
  return *made;
}

/// The constructors of what stands for a data type, with one for zero behind them.
void DerivativeTypes::makeConstructors(TypeDefinition& definition, const Type* data, Form form) {
  const TypeDefinition& old = *data->definition;
  std::string suffix = fmt::format("{}{}", form == Form::Dual ? "Dual" : "Cotangent",
                                   make.module.typeDefinitions.size());
  definition.name = make.arena.copyText(fmt::format("{}{}", old.name, suffix));
  make.module.typeDefinitions.push_back(&definition);
  std::vector<const Constructor*> constructors;
  auto add = [&](std::string_view name, const std::vector<const Type*>& parts) {
    auto* made = make.arena.make<Constructor>(Expr{ExprKind::Constructor, make.range});
    made->name = make.arena.copyText(fmt::format("{}{}", name, suffix));
    made->fields = make.arena.copy(parts);
    made->definition = &definition;
    made->index = uint32_t(constructors.size());
    constructors.push_back(made);
  };
  for (const Constructor* each : old.constructors) {
    std::vector<const Type*> parts;
    for (const Type* field : fields(*each, data))
      parts.push_back(mapped(field, form));
    add(each->name, parts);
  }
  if (form == Form::Cotangent && isSymbolic(data))
    add("Zero", {});
  definition.constructors = make.arena.copy(constructors);
}

std::vector<const Type*> DerivativeTypes::fields(const Constructor& constructor, const Type* data) {
  return fieldTypes(make.types, constructor, *data);
}

const Constructor& DerivativeTypes::mapped(const Constructor& constructor, const Type* data,
                                           Form form) {
  return *mapped(data, form)->definition->constructors[constructor.index];
}

bool DerivativeTypes::isSymbolic(const Type* type) const {
  return zeros_ && type->kind == TypeKind::Data && zeros_->has(*type->definition);
}

bool DerivativeTypes::isRecord(const Type* type) const {
  return open && lang::isRecord(*type) && !isSymbolic(type);
}

bool DerivativeTypes::hasOneZero(const Type* type) const {
  auto isNumber = [](const Dim* extent) { return extent->isConstant(); };
  auto hasOne = [this](const Type* part) { return hasOneZero(part); };
  return isSymbolic(type) || (type->isTensor() && std::ranges::all_of(type->shape, isNumber)) ||
         (type->isTuple() && std::ranges::all_of(type->parts, hasOne));
}

} // namespace transform

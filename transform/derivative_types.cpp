// Duals and cotangents of types; and for each data type that needs them, the functions that make
// zeros of its values and add two cotangents, which have the same constructors by construction.
#include "transform/derivative_types.h"

#include "lang/differentiable.h"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

namespace transform {

using namespace lang;

namespace {

const Type* unitOf(TypeContext& types) {
  return types.tuple(Types{});
}

/// Whether the fields of a data type hold functions whatever its arguments are.
bool holdsFunctionsItself(TypeContext& types, const TypeDefinition& definition) {
  std::vector<const Type*> arguments;
  for (const TypeParameter* parameter : definition.generics)
    arguments.push_back(parameter->kind == ParameterKind::Dimension
                            ? types.dimension(types.symbol(parameter))
                            : types.variable(parameter));
  return holdsFunctions(types.data(&definition, arguments));
}

/// The type with other types in place of its variables, and other sizes.
const Type* rebuilt(TypeContext& types, const Type* type,
                    const std::function<const Type*(const Type*)>& ofVariable,
                    const std::function<const Dim*(const Dim*)>& ofDim) {
  std::vector<const Type*> parts;
  for (const Type* part : type->parts)
    parts.push_back(rebuilt(types, part, ofVariable, ofDim));
  std::vector<const Dim*> shape;
  for (const Dim* old : type->shape)
    shape.push_back(ofDim(old));
  switch (type->kind) {
  case TypeKind::Variable:
    return ofVariable(type);
  case TypeKind::Tensor:
    return types.tensor(shape, type->dtype, type->isWide);
  case TypeKind::Tuple:
    return types.tuple(parts);
  case TypeKind::Function:
    return types.function(parts, rebuilt(types, type->result, ofVariable, ofDim), type->generics);
  case TypeKind::Reference:
    return types.reference(parts[0]);
  case TypeKind::Data:
    return types.data(type->definition, parts);
  case TypeKind::Dimension:
    return types.dimension(shape[0]);
  default:
    return type;
  }
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

std::string freshGlobalName(const Module& module, std::string_view stem) {
  auto isTaken = [&](std::string_view name) {
    return std::ranges::count(module.globals, name, &Global::name) > 0;
  };
  std::string name(stem);
  for (int i = 1; isTaken(name); ++i)
    name = fmt::format("{}_{}", stem, i);
  return name;
}

const Type* DerivativeTypes::pack(Types values) {
  std::vector<const Type*> parts;
  for (const Type* value : values)
    if (holdsFloats(value))
      parts.push_back(cotangent(value));
  return parts.size() == 1 ? parts.front() : make.types.tuple(parts);
}

const Type* DerivativeTypes::answer(const Type* result, Types given) {
  const Type* coming = cotangent(result);
  const Type* pullBack = make.types.function({&coming, 1}, pack(given));
  return make.types.tuple(std::vector<const Type*>{dual(result), pullBack});
}

const Type* DerivativeTypes::mapped(const Type* type, Known& known, bool isDual) {
  if (auto found = known.find(type); found != known.end())
    return found->second;
  const Type* image = type;
  if (holdsFunctions(type) && type->isTuple()) {
    std::vector<const Type*> parts;
    for (const Type* part : type->parts)
      parts.push_back(mapped(part, known, isDual));
    image = make.types.tuple(parts);
  } else if (holdsFunctions(type) && type->kind == TypeKind::Data) {
    return mappedData(type, known, isDual);
  } else if (holdsFunctions(type) && !isDual) {
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
  return known.emplace(type, image).first->second;
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

const Type* DerivativeTypes::mappedData(const Type* type, Known& known, bool isDual) {
  if (!holdsFunctionsItself(make.types, *type->definition)) {
    std::vector<const Type*> parts;
    for (const Type* part : type->parts)
      parts.push_back(part->kind == TypeKind::Dimension ? part : mapped(part, known, isDual));
    const Type* image = make.types.data(type->definition, parts);
    return known.emplace(type, image).first->second;
  }
  if (const Type* plain = withoutSizes(type); isForAllSizes_ && plain != type) {
    const Type* image = mapped(plain, known, isDual);
    return known.emplace(type, image).first->second;
  }
  auto* definition = make.arena.make<TypeDefinition>();
  std::string suffix =
      fmt::format("{}{}", isDual ? "Dual" : "Cotangent", make.module.typeDefinitions.size());
  definition->name = make.arena.copyText(fmt::format("{}{}", type->definition->name, suffix));
  make.module.typeDefinitions.push_back(definition);
  const Type* image = make.types.data(definition, Types{});
  known.emplace(type, image);
  std::vector<const Constructor*> constructors;
  for (const Constructor* old : type->definition->constructors) {
    std::vector<const Type*> parts;
    for (const Type* field : fields(*old, type))
      parts.push_back(mapped(field, known, isDual));
    auto* made = make.arena.make<Constructor>(Expr{ExprKind::Constructor, make.range});
    made->name = make.arena.copyText(fmt::format("{}{}", old->name, suffix));
    made->fields = make.arena.copy(parts);
    made->definition = definition;
    made->index = old->index;
    constructors.push_back(made);
  }
  definition->constructors = make.arena.copy(constructors);
  return image;
}

const Type* DerivativeTypes::instantiated(const Type* type, const Type* data) {
  const auto& generics = data->definition->generics;
  auto argument = [&](const Type* variable) {
    auto place = std::ranges::find(generics, variable->parameter);
    return place == generics.end() ? variable : data->parts[size_t(place - generics.begin())];
  };
  auto dim = [&](const Dim* old) {
    return make.types.substitute(old, [&](const Dim* leaf) {
      for (size_t i = 0; i < data->parts.size(); ++i)
        if (data->parts[i]->kind == TypeKind::Dimension && leaf == make.types.symbol(generics[i]))
          return data->parts[i]->shape[0];
      return leaf;
    });
  };
  return rebuilt(make.types, type, argument, dim);
}

std::vector<const Type*> DerivativeTypes::fields(const Constructor& constructor, const Type* data) {
  std::vector<const Type*> found;
  for (const Type* field : constructor.fields)
    found.push_back(instantiated(field, data));
  return found;
}

const Constructor& DerivativeTypes::dual(const Constructor& constructor, const Type* data) {
  return *dual(data)->definition->constructors[constructor.index];
}

const Constructor& DerivativeTypes::cotangent(const Constructor& constructor, const Type* data) {
  return *cotangent(data)->definition->constructors[constructor.index];
}

bool DerivativeTypes::isRecord(const Type* type) const {
  return open && type->kind == TypeKind::Data && type->definition->constructors.size() == 1;
}

std::vector<Atom> DerivativeTypes::opened(BlockBuilder& out, Atom record,
                                          const Constructor& constructor) {
  std::vector<const Var*> fields;
  open(out, record, fieldsPattern(make, constructor, fields));
  return {fields.begin(), fields.end()};
}

Atom DerivativeTypes::zero(BlockBuilder& out, Atom value, const Type* type) {
  return filled(out, value, type, false);
}

Atom DerivativeTypes::one(BlockBuilder& out, Atom value, const Type* type) {
  return filled(out, value, type, true);
}

Atom DerivativeTypes::filled(BlockBuilder& out, Atom value, const Type* type, bool isOne) {
  if (type->isTensor()) {
    bool isOneHere = isOne && type->dtype.isFloat();
    if (type->shape.empty() && type->dtype.isFloat())
      return make.scalar(type->dtype, isOneHere);
    return out.call(make.operators.withRole(isOneHere ? Role::OnesLike : Role::ZerosLike), {value});
  }
  if (type->isTuple()) {
    std::vector<Atom> parts;
    for (uint32_t i = 0; i < type->parts.size(); ++i)
      parts.push_back(filled(out, out.project(value, i), type->parts[i], isOne));
    return out.tuple(parts);
  }
  if (type->kind == TypeKind::Data && !type->definition->constructors.empty())
    return out.call(filler(type, isOne), {value});
  return type->kind == TypeKind::Data ? value : out.tuple({});
}

const Global* DerivativeTypes::filler(const Type* data, bool isOne) {
  Fillers& known = isOne ? ones_ : zeros_;
  if (auto found = known.find(data); found != known.end())
    return found->second;
  std::string stem = isOne ? fmt::format("ones_{}", data->definition->name)
                           : fmt::format("zeros_{}", data->definition->name);
  Global* global = make.declare(freshGlobalName(make.module, stem));
  known.emplace(data, global);
  const Var* value = make.var(VarOrigin::Parameter, "x", dual(data));
  std::vector<Arm> arms;
  for (const Constructor* constructor : data->definition->constructors) {
    std::vector<const Type*> types = fields(*constructor, data);
    std::vector<const Var*> vars;
    const Pattern* pattern = fieldsPattern(make, dual(*constructor, data), vars);
    BlockBuilder body(make);
    std::vector<Atom> parts;
    for (size_t i = 0; i < types.size(); ++i)
      parts.push_back(filled(body, vars[i], types[i], isOne));
    arms.push_back(
        make.arm(pattern, body.finish(body.call(&cotangent(*constructor, data), parts))));
  }
  BlockBuilder body(make);
  Atom result = body.bind(make.match(value, arms));
  make.define(global, make.function({value}, body.finish(result), cotangent(data)));
  return global;
}

Atom DerivativeTypes::sum(BlockBuilder& out, Atom left, Atom right, const Type* type) {
  if (!holdsFloats(type))
    return left;
  if (type->isTensor())
    return out.call(*make.operators.findInfix("+"), {left, right});
  if (type->kind == TypeKind::Data)
    return out.call(adder(type), {left, right});
  std::vector<Atom> parts;
  for (uint32_t i = 0; i < type->parts.size(); ++i)
    parts.push_back(sum(out, out.project(left, i), out.project(right, i), type->parts[i]));
  return out.tuple(parts);
}

const Global* DerivativeTypes::adder(const Type* data) {
  if (auto found = adders_.find(data); found != adders_.end())
    return found->second;
  Global* global =
      make.declare(freshGlobalName(make.module, fmt::format("add_{}", data->definition->name)));
  adders_.emplace(data, global);
  const Type* type = cotangent(data);
  const Var* left = make.var(VarOrigin::Parameter, "a", type);
  const Var* right = make.var(VarOrigin::Parameter, "b", type);
  std::vector<Arm> arms;
  for (const Constructor* constructor : data->definition->constructors) {
    std::vector<const Type*> types = fields(*constructor, data);
    const Constructor& image = cotangent(*constructor, data);
    std::vector<const Var*> lefts, rights;
    const Pattern* outer = fieldsPattern(make, image, lefts);
    const Pattern* inner = fieldsPattern(make, image, rights);
    BlockBuilder body(make), arm(make);
    std::vector<Atom> parts;
    for (size_t i = 0; i < types.size(); ++i)
      parts.push_back(sum(body, lefts[i], rights[i], types[i]));
    Arm only = make.arm(inner, body.finish(body.call(&image, parts)));
    bool isPartial = data->definition->constructors.size() > 1;
    arms.push_back(make.arm(outer, arm.finish(arm.bind(make.match(right, {only}, isPartial)))));
  }
  BlockBuilder body(make);
  Atom result = body.bind(make.match(left, arms));
  make.define(global, make.function({left, right}, body.finish(result), type));
  return global;
}

} // namespace transform

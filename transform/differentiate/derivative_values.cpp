// Zeros and sums of cotangents, and the way between cotangents and what programs see of them: for
// each data type that needs one, a function of it. Two cotangents of a value have its constructors
// by construction, but for zeros.
#include "transform/differentiate/derivative_types.h"

#include "lang/ir/differentiable.h"
#include "lang/op/op.h"

#include <algorithm>

#include <fmt/format.h>

namespace transform {

using namespace lang;

std::vector<Atom> DerivativeTypes::opened(BlockBuilder& out, Atom record,
                                          const Constructor& constructor) {
  std::vector<const Var*> fields;
  open(out, record, fieldsPattern(make, constructor, fields));
  return {fields.begin(), fields.end()};
}

const Constructor& DerivativeTypes::zeroOf(const Type* data) {
  return *cotangent(data)->definition->constructors.back();
}

std::vector<Atom> DerivativeTypes::unfolded(BlockBuilder& out, Atom cotangent,
                                            const Constructor& constructor, const Type* data,
                                            const std::vector<Atom>& values) {
  std::vector<const Type*> types = fields(constructor, data);
  BlockBuilder there(make), nothing(make);
  std::vector<const Pattern*> parts;
  std::vector<Atom> found, zeros;
  for (size_t i = 0; i < values.size(); ++i) {
    if (!values[i]) {
      parts.push_back(make.anyPattern());
      continue;
    }
    const Var* field = make.var(VarOrigin::Pattern, "d");
    parts.push_back(make.varPattern(field));
    found.push_back(field);
    zeros.push_back(zero(nothing, values[i], types[i]));
  }
  auto pack = [](BlockBuilder& block, const std::vector<Atom>& atoms) {
    return block.finish(atoms.size() == 1 ? atoms.front() : block.tuple(atoms));
  };
  const Pattern* image = make.constructorPattern(mapped(constructor, data, Form::Cotangent), parts);
  const Pattern* none = make.constructorPattern(zeroOf(data), {});
  bool isPartial = data->definition->constructors.size() > 1;
  Atom all = out.bind(make.match(
      cotangent, {make.arm(image, pack(there, found)), make.arm(none, pack(nothing, zeros))},
      isPartial));
  std::vector<Atom> atoms;
  for (uint32_t i = 0, place = 0; i < values.size(); ++i)
    atoms.push_back(!values[i]          ? nullptr
                    : found.size() == 1 ? all
                                        : Atom(out.project(all, place++)));
  return atoms;
}

Atom DerivativeTypes::zero(BlockBuilder& out, Atom value, const Type* type, Form form) {
  return filled(out, value, type, /*isOne=*/false, form);
}

Atom DerivativeTypes::one(BlockBuilder& out, Atom value, const Type* type) {
  return filled(out, value, type, /*isOne=*/true, Form::Cotangent);
}

Atom DerivativeTypes::filled(BlockBuilder& out, Atom value, const Type* type, bool isOne,
                             Form form) {
  if (type->isTensor()) {
    bool isOneHere = isOne && type->dtype.isFloat();
    if (type->shape.empty() && type->dtype.isFloat())
      return make.scalar(type->dtype, isOneHere);
    return out.call(make.operators.withRole(isOneHere ? Role::OnesLike : Role::ZerosLike), {value});
  }
  if (type->isTuple()) {
    std::vector<Atom> parts;
    for (uint32_t i = 0; i < type->parts.size(); ++i)
      parts.push_back(filled(out, out.project(value, i), type->parts[i], isOne, form));
    return out.tuple(parts);
  }
  if (type->kind != TypeKind::Data)
    return out.tuple({});
  if (type->definition->constructors.empty())
    return value;
  if (!isOne && form == Form::Cotangent && isSymbolic(type)) {
    // It does not tell the arguments of its type, which a cell of it may never hear of.
    if (!type->parts.empty())
      return out.let("zero", make.call(&zeroOf(type), {}), cotangent(type));
    return out.call(&zeroOf(type), {});
  }
  if (!isOne && form == Form::Cotangent && zeros_ && isRecursive(*type->definition))
    zeros_->want(*type->definition);
  return out.call(filler(type, isOne, form), {value});
}

/// A match with an arm for each constructor of a data type.
const Match* DerivativeTypes::byConstructor(Atom scrutinee, const Type* data, Form form,
                                            const ArmOfFields& arm) {
  std::vector<Arm> arms;
  for (const Constructor* constructor : data->definition->constructors) {
    std::vector<const Var*> vars;
    const Pattern* pattern = fieldsPattern(make, mapped(*constructor, data, form), vars);
    BlockBuilder body(make);
    Atom result = arm(body, *constructor, vars);
    arms.push_back(make.arm(pattern, body.finish(result)));
  }
  return make.match(scrutinee, arms);
}

const Global* DerivativeTypes::filler(const Type* data, bool isOne, Form form) {
  const Type* image = mapped(data, form);
  const Global*& known = (isOne ? fillOnes_ : fillZeros_)[{data, image}];
  if (known)
    return known;
  std::string_view name = data->definition->name;
  std::string stem = isOne ? fmt::format("ones_{}", name) : fmt::format("zeros_{}", name);
  Global* global = make.declare(names.fresh(stem));
  known = global;
  const Var* value = make.var(VarOrigin::Parameter, "x", dual(data));
  BlockBuilder body(make);
  Atom result = body.bind(byConstructor(
      value, data, Form::Dual,
      [&](BlockBuilder& arm, const Constructor& constructor, const std::vector<const Var*>& vars) {
        std::vector<const Type*> types = fields(constructor, data);
        std::vector<Atom> parts;
        for (size_t i = 0; i < types.size(); ++i)
          parts.push_back(filled(arm, vars[i], types[i], isOne, form));
        return arm.call(&mapped(constructor, data, form), parts);
      }));
  return make.define(global, make.function({value}, body.finish(result), image));
}

Atom DerivativeTypes::given(BlockBuilder& out, Atom cotangent, Atom value, const Type* type) {
  if (!isTranslated(type))
    return cotangent;
  if (type->kind == TypeKind::Data)
    return out.call(giver(type), {cotangent, value});
  std::vector<Atom> parts;
  for (uint32_t i = 0; i < type->parts.size(); ++i)
    parts.push_back(given(out, out.project(cotangent, i), out.project(value, i), type->parts[i]));
  return out.tuple(parts);
}

/// From a cotangent and its value.
const Global* DerivativeTypes::giver(const Type* data) {
  const Type* image = mapped(data, Form::Given);
  const Global*& known = givers_[{data, image}];
  if (known)
    return known;
  std::string stem = fmt::format("given_{}", data->definition->name);
  Global* global = make.declare(names.fresh(stem));
  known = global;
  const Var* gathered = make.var(VarOrigin::Parameter, "d", cotangent(data));
  const Var* value = make.var(VarOrigin::Parameter, "x", dual(data));
  auto ofValue = [&](BlockBuilder& arm, const Constructor& constructor,
                     const std::vector<const Var*>& values) -> Atom {
    std::vector<const Type*> types = fields(constructor, data);
    const Constructor& made = mapped(constructor, data, Form::Given);
    std::vector<const Var*> cotangents;
    const Pattern* pattern =
        fieldsPattern(make, mapped(constructor, data, Form::Cotangent), cotangents);
    BlockBuilder there(make), nothing(make);
    std::vector<Atom> parts, zeros;
    for (size_t i = 0; i < types.size(); ++i)
      parts.push_back(given(there, cotangents[i], values[i], types[i]));
    std::vector<Arm> arms{make.arm(pattern, there.finish(there.call(&made, parts)))};
    if (isSymbolic(data)) {
      for (size_t i = 0; i < types.size(); ++i)
        zeros.push_back(zero(nothing, values[i], types[i], Form::Given));
      arms.push_back(make.arm(make.constructorPattern(zeroOf(data), {}),
                              nothing.finish(nothing.call(&made, zeros))));
    }
    bool isPartial = data->definition->constructors.size() > 1;
    return arm.bind(make.match(gathered, arms, isPartial));
  };
  BlockBuilder body(make);
  Atom result = body.bind(byConstructor(value, data, Form::Dual, ofValue));
  return make.define(global, make.function({gathered, value}, body.finish(result), image));
}

Atom DerivativeTypes::taken(BlockBuilder& out, Atom given, const Type* type) {
  if (!isTranslated(type))
    return given;
  if (type->kind == TypeKind::Data)
    return out.call(taker(type), {given});
  std::vector<Atom> parts;
  for (uint32_t i = 0; i < type->parts.size(); ++i)
    parts.push_back(taken(out, out.project(given, i), type->parts[i]));
  return out.tuple(parts);
}

const Global* DerivativeTypes::taker(const Type* data) {
  const Type* image = cotangent(data);
  const Global*& known = takers_[{data, image}];
  if (known)
    return known;
  std::string stem = fmt::format("taken_{}", data->definition->name);
  Global* global = make.declare(names.fresh(stem));
  known = global;
  const Var* value = make.var(VarOrigin::Parameter, "d", mapped(data, Form::Given));
  BlockBuilder body(make);
  Atom result = body.bind(byConstructor(
      value, data, Form::Given,
      [&](BlockBuilder& arm, const Constructor& constructor, const std::vector<const Var*>& vars) {
        std::vector<const Type*> types = fields(constructor, data);
        std::vector<Atom> parts;
        for (size_t i = 0; i < types.size(); ++i)
          parts.push_back(taken(arm, vars[i], types[i]));
        return arm.call(&mapped(constructor, data, Form::Cotangent), parts);
      }));
  return make.define(global, make.function({value}, body.finish(result), image));
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
  const Type* type = cotangent(data);
  const Global*& known = adders_[{data, type}];
  if (known)
    return known;
  Global* global = make.declare(names.fresh(fmt::format("add_{}", data->definition->name)));
  known = global;
  const Var* left = make.var(VarOrigin::Parameter, "a", type);
  const Var* right = make.var(VarOrigin::Parameter, "b", type);
  auto ofZero = [&](const Var* other) {
    return make.arm(make.constructorPattern(zeroOf(data), {}), make.block(other));
  };
  std::vector<Arm> arms;
  for (const Constructor* constructor : data->definition->constructors) {
    std::vector<const Type*> types = fields(*constructor, data);
    const Constructor& image = mapped(*constructor, data, Form::Cotangent);
    std::vector<const Var*> lefts, rights;
    const Pattern* outer = fieldsPattern(make, image, lefts);
    const Pattern* inner = fieldsPattern(make, image, rights);
    BlockBuilder body(make), arm(make);
    std::vector<Atom> parts;
    for (size_t i = 0; i < types.size(); ++i)
      parts.push_back(sum(body, lefts[i], rights[i], types[i]));
    std::vector<Arm> both{make.arm(inner, body.finish(body.call(&image, parts)))};
    if (isSymbolic(data))
      both.push_back(ofZero(left));
    bool isPartial = data->definition->constructors.size() > 1;
    arms.push_back(make.arm(outer, arm.finish(arm.bind(make.match(right, both, isPartial)))));
  }
  if (isSymbolic(data))
    arms.push_back(ofZero(right));
  BlockBuilder body(make);
  Atom result = body.bind(make.match(left, arms));
  make.define(global, make.function({left, right}, body.finish(result), type));
  return global;
}

} // namespace transform

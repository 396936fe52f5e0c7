// Nothing here is a record that is opened: what is made is finished at once.
#include "transform/differentiate/carried_values.h"

#include "lang/ir/differentiable.h"
#include "lang/op/op.h"
#include "transform/differentiate/pending_derivatives.h"

#include <algorithm>
#include <unordered_set>

namespace transform {

using namespace lang;

namespace {

/// Zeros for those of the values that hold floats.
std::vector<Atom> zerosFor(Translation& code, const std::vector<Atom>& values, Types types,
                           BlockBuilder& out) {
  auto open = std::exchange(code.types.open, nullptr);
  std::vector<Atom> zeros;
  for (size_t i = 0; i < types.size(); ++i)
    if (holdsFloats(types[i]))
      zeros.push_back(code.types.zero(out, values[i], types[i]));
  code.types.open = std::move(open);
  return zeros;
}

bool takesAndGivesNoFunctions(const Type& function) {
  return !holdsFunctions(function.result) && std::ranges::none_of(function.parts, holdsFunctions);
}

/// Whether a value of the type can get idle derivatives.
bool isLiftable(const Type* type) {
  if (!holdsFunctions(type))
    return true;
  if (type->kind == TypeKind::Function)
    return type->generics.empty() && std::ranges::none_of(type->parts, holdsFunctions) &&
           isLiftable(type->result);
  return type->kind == TypeKind::Tuple && std::ranges::all_of(type->parts, isLiftable);
}

/// Whether a reference to floats is anywhere in a value of the type, outside of functions.
bool holdsFloatCells(const Type* root) {
  std::unordered_set<const Type*> seen;
  std::vector<const Type*> open{root};
  while (!open.empty()) {
    const Type* type = open.back();
    open.pop_back();
    if (!seen.insert(type).second)
      continue;
    if (type->kind == TypeKind::Reference && holdsFloats(type->parts[0]))
      return true;
    if (type->kind != TypeKind::Function)
      open.insert(open.end(), type->parts.begin(), type->parts.end());
    for (size_t i = 0; type->kind == TypeKind::Data && i < type->definition->constructors.size();
         ++i)
      open.insert(open.end(), type->definition->constructors[i]->fields.begin(),
                  type->definition->constructors[i]->fields.end());
  }
  return false;
}

} // namespace

void checkCapturedCells(Translation& code, const Binding& closure) {
  forEachOperandWithin(*closure.value, [&](const Expr& atom) {
    const auto* var = atom.as<Var>();
    if (var && code.isKnown(*var) && holdsFloatCells(code.typing.of(*var)))
      code.fail(closure.value->range, "a function that captures a reference to floats");
  });
}

bool isFreeOfFunctions(const Typing& typing, const Global& global) {
  const Function& function = *global.function;
  return !isGeneric(function, typing) && !holdsFunctions(typing.result(function)) &&
         std::ranges::none_of(function.parameters, [&](const Var* parameter) {
           return holdsFunctions(typing.of(*parameter));
         });
}

Atom idleBack(Translation& code, const std::vector<Atom>& arguments, Types types,
              const Type* result, BlockBuilder& out) {
  BlockBuilder way(code.make);
  const Var* incoming = code.make.var(VarOrigin::Parameter, "d", code.types.cotangent(result));
  std::vector<Atom> zeros = zerosFor(code, arguments, types, way);
  const Block* back = way.finish(zeros.size() == 1 ? zeros.front() : way.tuple(zeros));
  return out.bind(code.make.function({incoming}, back));
}

Atom withIdleDerivatives(Translation& code, Mode mode, Atom value, const Type* type,
                         BlockBuilder& out) {
  if (!holdsFunctions(type))
    return value;
  if (type->kind == TypeKind::Tuple) {
    std::vector<Atom> fields;
    for (uint32_t i = 0; i < type->parts.size(); ++i)
      fields.push_back(withIdleDerivatives(code, mode, out.project(value, i), type->parts[i], out));
    return out.tuple(fields);
  }
  BlockBuilder body(code.make);
  std::vector<const Var*> parameters = parametersFor(code.make, type->parts);
  std::vector<Atom> arguments = atomsOf(parameters);
  Atom given = body.call(value, arguments);
  Atom result = withIdleDerivatives(code, mode, given, type->result, body);
  if (mode == Mode::Reverse) {
    result = body.tuple({result, idleBack(code, arguments, type->parts, type->result, body)});
  } else {
    for (const Type* part : type->parts)
      if (holdsFloats(part))
        parameters.push_back(code.make.var(VarOrigin::Parameter, "dx", code.types.cotangent(part)));
    if (holdsFloats(type->result))
      result = body.tuple({result, zerosFor(code, {result}, {&type->result, 1}, body).front()});
  }
  return out.bind(code.make.function(parameters, body.finish(result)));
}

Atom valueAlone(Translation& code, Mode mode, Atom carrying, const Type& type, BlockBuilder& out) {
  BlockBuilder body(code.make);
  std::vector<const Var*> parameters = parametersFor(code.make, type.parts);
  std::vector<Atom> arguments = atomsOf(parameters);
  if (mode == Mode::Forward) {
    std::vector<Atom> zeros = zerosFor(code, arguments, type.parts, body);
    arguments.insert(arguments.end(), zeros.begin(), zeros.end());
  }
  Atom value = body.call(carrying, arguments);
  if (mode == Mode::Reverse || holdsFloats(type.result))
    value = body.project(value, 0);
  return out.bind(code.make.function(parameters, body.finish(value)));
}

Atom leftForLater(Translation& code, Mode mode, const Binding& binding, BlockBuilder& out) {
  const auto& call = static_cast<const Call&>(*binding.value);
  const Expr& differentiated = *call.arguments[0].value;
  const Type *function = code.typeOf(differentiated), *given = code.typing.of(*binding.var);
  if (!takesAndGivesNoFunctions(*function) || !isLiftable(given)) {
    code.failOf(call.range, differentiated, overFunctions);
    return binding.var;
  }
  Call* made = code.make.arena.make<Call>(call);
  made->arguments =
      code.make.operands({valueAlone(code, mode, code.mapped(differentiated), *function, out)});
  return withIdleDerivatives(code, mode, out.bind(made), given, out);
}

} // namespace transform

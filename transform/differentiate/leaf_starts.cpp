// The count goes through a value with it: fields one after the other, data types by functions.
#include "transform/differentiate/leaf_starts.h"

#include "lang/ir/differentiable.h"
#include "lang/op/op.h"
#include "transform/analysis/type_parts.h"

#include <fmt/format.h>

namespace transform {

using namespace lang;

const Expr* LeafStarts::expand(const Call& call) {
  const Operand& value = call.arguments[0];
  const Type* type = typing_.of(*value.value);
  TypeNames names;
  names.add(type);
  if (!names.parameters.empty() || holdsFunctions(type)) {
    findings_.report(Message::LeafFunction, call.range, type,
                     names.parameters.empty() ? "functions and references are no leaves"
                                              : "a type parameter may stand for any type");
    return nullptr;
  }
  BlockBuilder out(make);
  Counted all = each(out, {value.value, make.integer(runtime::Int64, 0)}, type);
  return make.blockExpr(out.finish(all.value));
}

LeafStarts::Counted LeafStarts::each(BlockBuilder& out, Counted before, const Type* type) {
  const OperatorTable& operators = make.operators;
  const OperatorRow& plus = *operators.findInfix("+");
  if (!holdsFloats(type))
    return before;
  if (type->isTensor()) {
    Atom number = out.call(operators.withRole(Role::CastLike), {before.next, before.value});
    Atom zeros = out.call(operators.withRole(Role::ZerosLike), {before.value});
    Atom size =
        out.call(operators.withRole(Role::Size), {before.value}, {{"dtype", runtime::Int64}});
    return {out.call(plus, {zeros, number}), out.call(plus, {before.next, size})};
  }
  if (type->kind == TypeKind::Data) {
    Atom both = out.call(walker(type), {before.value, before.next});
    return {out.project(both, 0), out.project(both, 1)};
  }
  std::vector<Atom> fields, numbered;
  for (uint32_t i = 0; i < type->parts.size(); ++i)
    fields.push_back(out.project(before.value, i));
  Atom next =
      throughFields(out, fields, {type->parts.begin(), type->parts.end()}, before.next, numbered);
  return {out.tuple(numbered), next};
}

/// The fields with their numbers; the result is the number behind them.
Atom LeafStarts::throughFields(BlockBuilder& out, const std::vector<Atom>& fields,
                               const std::vector<const Type*>& types, Atom next,
                               std::vector<Atom>& numbered) {
  for (size_t i = 0; i < fields.size(); ++i) {
    Counted field = each(out, {fields[i], next}, types[i]);
    numbered.push_back(field.value);
    next = field.next;
  }
  return next;
}

const Global* LeafStarts::walker(const Type* data) {
  auto [known, isNew] = walkers_.try_emplace(data, nullptr);
  if (!isNew)
    return known->second;
  Global* global =
      make.declare(freshGlobalName(make.module, fmt::format("starts_{}", data->definition->name)));
  known->second = global;
  const Type* count = make.types.scalar(runtime::Int64);
  const Var* value = make.var(VarOrigin::Parameter, "x", data);
  const Var* next = make.var(VarOrigin::Parameter, "next", count);
  std::vector<Arm> arms;
  for (const Constructor* constructor : data->definition->constructors) {
    std::vector<const Var*> vars;
    const Pattern* pattern = fieldsPattern(make, *constructor, vars);
    BlockBuilder arm(make);
    std::vector<Atom> numbered;
    Atom behind = throughFields(arm, {vars.begin(), vars.end()}, types_.fields(*constructor, data),
                                next, numbered);
    Atom made = arm.call(constructor, numbered);
    arms.push_back(make.arm(pattern, arm.finish(arm.tuple({made, behind}))));
  }
  BlockBuilder body(make);
  Atom result = body.bind(make.match(value, arms));
  const Type* both = make.types.tuple(std::vector<const Type*>{data, count});
  make.define(global, make.function({value, next}, body.finish(result), both));
  return global;
}

} // namespace transform

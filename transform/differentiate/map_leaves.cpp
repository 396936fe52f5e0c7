// Functions of scalars on the float leaves of values.
//
//   def @main(%p: (Tensor[(2), float32], int32), %g, %rate: float32) {
//     map_leaves(fn (%p: float32, %g: float32) { %p - %rate * %g }, %p, %g)
//   }
//   =>
//   def @main(%p: (Tensor[(2), float32], int32), %g, %rate: float32) {
//     (subtract(%p.0, multiply(%rate, %g.0)), %p.1)
//   }
//
// What stands for the code at one leaf is in leaf_code.h.
#include "transform/differentiate/map_leaves.h"

#include "lang/ir/differentiable.h"
#include "lang/op/op.h"
#include "transform/analysis/type_parts.h"

#include <algorithm>

#include <fmt/format.h>

namespace transform {

using namespace lang;

LeafCalls::LeafCalls(Builder& builder, const Typing& ofModule, Diagnostics& sink)
    : make(builder), typing_(ofModule), findings_(sink), types_(builder, Mode::Reverse),
      free_(freeVariables(builder.module)) {}

const Function* LeafCalls::codeOf(const Expr& function) const {
  const auto* global = function.as<Global>();
  return global ? global->function : function.as<Function>();
}

Diagnostic& LeafCalls::report(const Use& use, const Type* leaf, const Words& problem) {
  return findings_.report(Message::LeafFunction, use.range, leaf, problem);
}

const Expr* LeafCalls::expand(const Call& call, const Expr& function) {
  const auto& row = *call.callee.value->as<OperatorRef>()->row;
  Use use{codeOf(function), row.derivative == Derivative::SumLeaves, row.name, call.range};
  std::span<const Operand> given = call.arguments.subspan(1);
  const Type* type = typing_.of(*given[0].value);
  TypeNames names;
  names.add(type);
  std::string_view problem;
  if (!use.function)
    problem = "which function it is, is not known here";
  else if (!names.parameters.empty())
    problem = "a type parameter may stand for any type";
  else if (holdsFunctions(type))
    problem = "functions and references are no leaves";
  if (!problem.empty()) {
    auto& finding = report(use, type, problem);
    if (!names.parameters.empty())
      finding.note("no call says what it stands for: the parameters of a function that is called "
                   "from outside need types");
    return nullptr;
  }
  if (function.kind == ExprKind::Function)
    use.captured = free_.of[use.function->number];
  Values captured(use.captured.begin(), use.captured.end());
  BlockBuilder out(make);
  Values values;
  for (const Operand& value : given)
    values.push_back(value.value);
  Atom result = each(out, use, values, captured, type);
  if (!result)
    result = make.scalar(typing_.result(*use.function)->dtype, 0);
  return make.blockExpr(out.finish(result));
}

// Through values.

Atom LeafCalls::each(BlockBuilder& out, const Use& use, const Values& values,
                     const Values& captured, const Type* type) {
  if (!holdsFloats(type))
    return use.isSum ? nullptr : values[0];
  if (type->isTensor())
    return atLeaf(out, use, values, captured, type);
  if (type->kind == TypeKind::Data) {
    Values arguments = values;
    arguments.insert(arguments.end(), captured.begin(), captured.end());
    return out.call(walker(use, type, values.size()), arguments);
  }
  Values results;
  for (uint32_t i = 0; i < type->parts.size(); ++i) {
    Values parts;
    for (Atom value : values)
      parts.push_back(out.project(value, i));
    results.push_back(each(out, use, parts, captured, type->parts[i]));
  }
  return gathered(out, use, results, nullptr);
}

Atom LeafCalls::gathered(BlockBuilder& out, const Use& use, const Values& results,
                         const Constructor* constructor) {
  if (!use.isSum)
    return constructor ? out.call(constructor, results) : out.tuple(results);
  Atom total = nullptr;
  for (Atom result : results)
    if (result)
      total = total ? out.call(*make.operators.findInfix("+"), {total, result}) : result;
  return total;
}

const Global* LeafCalls::walker(const Use& use, const Type* data, size_t count) {
  auto [known, isNew] = walkers_.try_emplace({use.function, use.isSum, data}, nullptr);
  if (!isNew)
    return known->second;
  std::string stem = fmt::format("{}_{}", use.name, data->definition->name);
  Global* global = make.declare(types_.names.fresh(stem));
  known->second = global;
  std::vector<const Var*> parameters;
  for (size_t i = 0; i < count; ++i)
    parameters.push_back(make.var(VarOrigin::Parameter, fmt::format("x{}", i), data));
  Values values(parameters.begin(), parameters.end());
  for (const Var* var : use.captured)
    parameters.push_back(
        make.var(VarOrigin::Parameter, var->name.empty() ? "v" : var->name, typing_.of(*var)));
  Values captured(parameters.begin() + ptrdiff_t(count), parameters.end());
  std::vector<Arm> arms;
  for (const Constructor* constructor : data->definition->constructors) {
    std::vector<std::vector<const Var*>> fields(1);
    const Pattern* pattern = fieldsPattern(make, *constructor, fields[0]);
    arms.push_back(make.arm(pattern, opened(use, values, captured, *constructor, data, fields)));
  }
  BlockBuilder body(make);
  Atom result = body.bind(make.match(values[0], arms));
  const Type* type = use.isSum ? typing_.result(*use.function) : data;
  make.define(global, make.function(parameters, body.finish(result), type));
  return global;
}

const Block* LeafCalls::opened(const Use& use, const Values& values, const Values& captured,
                               const Constructor& constructor, const Type* data,
                               std::vector<std::vector<const Var*>>& fields) {
  BlockBuilder out(make);
  if (size_t level = fields.size(); level < values.size()) {
    const Pattern* pattern = fieldsPattern(make, constructor, fields.emplace_back());
    Arm only = make.arm(pattern, opened(use, values, captured, constructor, data, fields));
    bool isPartial = data->definition->constructors.size() > 1;
    return out.finish(out.bind(make.match(values[level], {only}, isPartial)));
  }
  std::vector<const Type*> types = types_.fields(constructor, data);
  Values results;
  for (size_t i = 0; i < types.size(); ++i) {
    Values parts;
    for (const auto& ofValue : fields)
      parts.push_back(ofValue[i]);
    results.push_back(each(out, use, parts, captured, types[i]));
  }
  Atom result = gathered(out, use, results, &constructor);
  return out.finish(result ? result : make.scalar(typing_.result(*use.function)->dtype, 0));
}

// At a leaf.

Atom LeafCalls::atLeaf(BlockBuilder& out, const Use& use, const Values& values,
                       const Values& captured, const Type* type) {
  LeafCode code(make, typing_, typing_.result(*use.function)->dtype, {values[0], type});
  for (size_t i = 0; i < captured.size(); ++i)
    code.set(out, *use.captured[i], {captured[i], typing_.of(*use.captured[i])});
  for (size_t i = 0; i < values.size(); ++i)
    code.set(out, *use.function->parameters[i], {values[i], type});
  TypedAtom result = code.written(out, *use.function->body);
  if (code.problem().empty())
    return resultAtLeaf(out, use, result, values[0], type);
  report(use, type, code.problem());
  return values[0];
}

Atom LeafCalls::resultAtLeaf(BlockBuilder& out, const Use& use, TypedAtom result, Atom leaf,
                             const Type* type) {
  bool isScalar = result.type == make.types.scalar(type->dtype);
  const OperatorRow& convert = make.operators.withRole(Role::CastLike);
  if (runtime::DType sum = typing_.result(*use.function)->dtype;
      use.isSum && isScalar && sum != type->dtype)
    return out.call(convert, {result.atom, make.scalar(sum, 0)});
  if (use.isSum ? isScalar : result.type == type)
    return result.atom;
  if (!use.isSum && isScalar) {
    Atom zeros = out.call(make.operators.withRole(Role::ZerosLike), {leaf});
    return out.call(*make.operators.findInfix("+"), {zeros, result.atom});
  }
  report(use, type,
         words("it gives `{}` there{}", result.type,
               use.isSum ? ", and what is added up must be one float" : ""));
  return result.atom;
}

} // namespace transform

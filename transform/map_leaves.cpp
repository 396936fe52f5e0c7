// Functions of scalars on the float leaves of values.
//
//   def @main(%p: (Tensor[(2), float32], int32), %g, %rate: float32) {
//     map_leaves(fn (%p: float32, %g: float32) { %p - %rate * %g }, (%p, %g))
//   }
//   =>
//   def @main(%p: (Tensor[(2), float32], int32), %g, %rate: float32) {
//     (subtract(%p.0, multiply(%rate, %g.0)), %p.1)
//   }
//
// The code is typed operator by operator as it is put in place, so what does not fit a leaf is a
// message about the function and not a module that is ill-typed.
#include "transform/map_leaves.h"

#include "lang/differentiable.h"
#include "transform/type_parts.h"

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

void LeafCalls::report(const Use& use, const Type* leaf, const std::string& problem) {
  findings_.report(Message::LeafFunction, use.range, typeText(leaf), problem);
}

const Expr* LeafCalls::expand(const Call& call, const Expr& function) {
  const auto& row = *call.callee.value->as<OperatorRef>()->row;
  Use use{codeOf(function), row.derivative == Derivative::SumLeaves, call.range};
  const Type* tuple = typing_.of(*call.arguments[1].value);
  const Type* type = tuple->parts[0];
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
    report(use, type, std::string(problem));
    return nullptr;
  }
  Captured captured;
  if (function.kind == ExprKind::Function)
    use.captured = free_.of[use.function->number];
  captured.assign(use.captured.begin(), use.captured.end());
  BlockBuilder out(make);
  Values values;
  for (uint32_t i = 0; i < tuple->parts.size(); ++i)
    values.push_back(out.project(call.arguments[1].value, i));
  Atom result = each(out, use, values, captured, type);
  if (!result)
    result = make.scalar(typing_.result(*use.function)->dtype, 0);
  return make.blockExpr(out.finish(result));
}

// Through values.

Atom LeafCalls::each(BlockBuilder& out, const Use& use, const Values& values,
                     const Captured& captured, const Type* type) {
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

/// The sum of the results, which may be null, or the tuple or constructor of them.
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
  std::string stem =
      fmt::format("{}_{}", use.isSum ? "sum_leaves" : "map_leaves", data->definition->name);
  Global* global = make.declare(freshGlobalName(make.module, stem));
  known->second = global;
  std::vector<const Var*> parameters;
  for (size_t i = 0; i < count; ++i)
    parameters.push_back(make.var(VarOrigin::Parameter, fmt::format("x{}", i), data));
  Values values(parameters.begin(), parameters.end());
  for (const Var* var : use.captured)
    parameters.push_back(
        make.var(VarOrigin::Parameter, var->name.empty() ? "v" : var->name, typing_.of(*var)));
  Captured captured(parameters.begin() + ptrdiff_t(count), parameters.end());
  std::vector<Arm> arms;
  for (const Constructor* constructor : data->definition->constructors) {
    std::vector<std::vector<const Var*>> fields(1);
    const Pattern* pattern = fieldsPattern(*constructor, fields[0]);
    arms.push_back(make.arm(pattern, opened(use, values, captured, *constructor, data, fields)));
  }
  BlockBuilder body(make);
  Atom result = body.bind(make.match(values[0], arms));
  const Type* type = use.isSum ? typing_.result(*use.function) : data;
  make.define(global, make.function(parameters, body.finish(result), type));
  return global;
}

const Block* LeafCalls::opened(const Use& use, const Values& values, const Captured& captured,
                               const Constructor& constructor, const Type* data,
                               std::vector<std::vector<const Var*>>& fields) {
  BlockBuilder out(make);
  if (size_t level = fields.size(); level < values.size()) {
    const Pattern* pattern = fieldsPattern(constructor, fields.emplace_back());
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

const Pattern* LeafCalls::fieldsPattern(const Constructor& constructor,
                                        std::vector<const Var*>& vars) {
  std::vector<const Pattern*> parts;
  for (size_t i = 0; i < constructor.fields.size(); ++i) {
    vars.push_back(make.var(VarOrigin::Pattern, "v"));
    parts.push_back(make.varPattern(vars.back()));
  }
  return make.constructorPattern(constructor, parts);
}

// At a leaf.

Atom LeafCalls::atLeaf(BlockBuilder& out, const Use& use, const Values& values,
                       const Captured& captured, const Type* type) {
  Scope scope;
  for (size_t i = 0; i < captured.size(); ++i)
    scope.known[use.captured[i]] = {captured[i], typing_.of(*use.captured[i])};
  for (size_t i = 0; i < values.size(); ++i)
    scope.known[use.function->parameters[i]] = {values[i], type};
  const Type* scalar = typing_.result(*use.function);
  if (scalar->dtype != type->dtype)
    scope.problem = fmt::format("it takes `{}`", typeText(scalar));
  Known result{values[0], type};
  if (scope.problem.empty())
    result = written(out, scope, *use.function->body);
  if (scope.problem.empty())
    return resultAtLeaf(out, use, result, values[0], type, scope.problem);
  report(use, type, scope.problem);
  return values[0];
}

Atom LeafCalls::resultAtLeaf(BlockBuilder& out, const Use& use, Known result, Atom leaf,
                             const Type* type, std::string& problem) {
  bool isScalar = result.type == make.types.scalar(type->dtype);
  if (use.isSum ? isScalar : result.type == type)
    return result.atom;
  if (!use.isSum && isScalar) {
    Atom zeros = out.call(make.operators.withRole(Role::ZerosLike), {leaf});
    return out.call(*make.operators.findInfix("+"), {zeros, result.atom});
  }
  problem = use.isSum ? fmt::format("it gives `{}` there, and what is added up must be one float",
                                    typeText(result.type))
                      : fmt::format("it gives `{}` there", typeText(result.type));
  report(use, type, problem);
  return result.atom;
}

LeafCalls::Known LeafCalls::look(Scope& scope, const Expr& atom) {
  const auto* var = atom.as<Var>();
  if (auto found = scope.known.find(var); found != scope.known.end())
    return found->second;
  const Type* type = typing_.of(atom);
  if (!type && scope.problem.empty())
    scope.problem = "its code does more than call operators";
  return {&atom, type};
}

LeafCalls::Known LeafCalls::bound(BlockBuilder& out, const Binding& binding, const Expr* value,
                                  const Type* type) {
  bool isNamed = binding.isLet() && !binding.var->name.empty();
  return {isNamed ? out.let(binding.var->name, value) : out.bind(value), type};
}

/// Writes the code of a block for the types of the leaf and answers with its result; the problem of
/// the scope says when that can't be.
LeafCalls::Known LeafCalls::written(BlockBuilder& out, Scope& scope, const Block& block) {
  for (const Binding& binding : block.bindings) {
    Known value = written(out, scope, binding);
    if (!scope.problem.empty())
      return {};
    scope.known[binding.var] = value;
  }
  return look(scope, *block.result.value);
}

LeafCalls::Known LeafCalls::written(BlockBuilder& out, Scope& scope, const Binding& binding) {
  const Expr& value = *binding.value;
  if (value.isAtom())
    return look(scope, value);
  if (const auto* block = value.as<BlockExpr>())
    return written(out, scope, *block->block);
  if (const auto* choice = value.as<If>())
    return branch(out, scope, binding, *choice);
  if (const auto* project = value.as<Project>()) {
    Known tuple = look(scope, *project->tuple.value);
    if (!scope.problem.empty())
      return {};
    return bound(out, binding, make.project(tuple.atom, project->index),
                 tuple.type->parts[project->index]);
  }
  if (const auto* tuple = value.as<TupleExpr>()) {
    Values atoms;
    std::vector<const Type*> parts;
    for (const Operand& field : tuple->fields) {
      Known part = look(scope, *field.value);
      atoms.push_back(part.atom);
      parts.push_back(part.type);
    }
    if (!scope.problem.empty())
      return {};
    return bound(out, binding, make.tuple(atoms), make.types.tuple(parts));
  }
  const auto* call = value.as<Call>();
  const auto* op = call ? call->callee.value->as<OperatorRef>() : nullptr;
  if (op && op->row->derivative == Derivative::None)
    return operatorCall(out, scope, binding, *call, *op->row);
  scope.problem = "its code does more than call operators";
  return {};
}

LeafCalls::Known LeafCalls::operatorCall(BlockBuilder& out, Scope& scope, const Binding& binding,
                                         const Call& call, const OperatorRow& row) {
  Values atoms;
  std::vector<const Type*> operands;
  std::vector<runtime::Tensor> constants;
  std::vector<const runtime::Tensor*> values(call.arguments.size());
  constants.reserve(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    Known operand = look(scope, *call.arguments[i].value);
    atoms.push_back(operand.atom);
    operands.push_back(operand.type);
    const auto* constant = operand.atom->as<Constant>();
    if (constant && row.shapeNeeds == ShapeNeeds::Constants)
      values[i] = &constants.emplace_back(constantTensor(*constant));
  }
  if (!scope.problem.empty())
    return {};
  RelationResult result = applyRelation(row, {make.types, operands, *call.attributes, values});
  bool fits = result.outcome == RelationResult::Outcome::Solved;
  for (const auto& [i, wanted] : result.operands)
    fits = fits && wanted == operands[i];
  if (!fits) {
    scope.problem = fmt::format("`{}` {}", row.name,
                                result.problem.empty() ? "does not take them there"
                                                       : "says: " + result.problem);
    return {};
  }
  auto* made = make.arena.make<Call>(call);
  made->arguments = make.operands(atoms);
  return bound(out, binding, made, result.output);
}

LeafCalls::Known LeafCalls::branch(BlockBuilder& out, Scope& scope, const Binding& binding,
                                   const If& branch) {
  Known condition = look(scope, *branch.condition.value);
  if (scope.problem.empty() && condition.type != make.types.scalar(runtime::Bool))
    scope.problem = "its code branches on a leaf; `where` chooses by element";
  if (!scope.problem.empty())
    return {};
  BlockBuilder thenOut(make), elseOut(make);
  Known yes = written(thenOut, scope, *branch.thenBlock);
  Known no = scope.problem.empty() ? written(elseOut, scope, *branch.elseBlock) : Known();
  if (scope.problem.empty() && yes.type != no.type)
    scope.problem = fmt::format("the sides of its branch give `{}` and `{}` there",
                                typeText(yes.type), typeText(no.type));
  if (!scope.problem.empty())
    return {};
  return bound(out, binding,
               make.branch(condition.atom, thenOut.finish(yes.atom), elseOut.finish(no.atom)),
               yes.type);
}

} // namespace transform

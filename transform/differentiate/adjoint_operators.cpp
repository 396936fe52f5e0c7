// Calls: of operators, whose rows have rules, of constructors, and of functions, which give their
// pull-back beside their value.
#include "transform/differentiate/adjoint.h"

#include "lang/ir/differentiable.h"
#include "lang/op/op.h"
#include "lang/rules/gradient.h"

#include <algorithm>

namespace transform {

using namespace lang;

namespace {

bool hasRule(const OperatorRow& row) {
  return std::holds_alternative<GradientRule>(row.gradient);
}

} // namespace

void Adjoint::forwardCall(const Binding& binding, const Call& call, BlockBuilder& out) {
  if (const OperatorRow* row = code_.rowOf(call))
    return forwardOperator(binding, call, *row, out);
  if (const auto* constructor = call.callee.value->as<Constructor>()) {
    const Constructor& dual = code_.types.dual(*constructor, code_.typing.of(*binding.var));
    return code_.bindAs(binding, code_.make.call(&dual, code_.mapped(call.arguments)), out);
  }
  if (const CustomRule* rule = custom_.find(*call.callee.value, out))
    return forwardRuled(binding, call, *rule, out);
  if (const Expr* gradient = gradientCall(call, out))
    return code_.bindAs(binding, gradient, out);
  const auto* global = call.callee.value->as<Global>();
  if (isCarrying_ && global)
    return code_.bindAs(
        binding,
        code_.make.call(carried_.derivativeOf(code_, *global, {}), code_.mapped(call.arguments)),
        out);
  Step step;
  const Type* type = code_.typing.of(*binding.var);
  Atom both = callThere(*call.callee.value, call.arguments, type, step, out, &binding);
  code_.bindAs(binding, code_.make.project(both, 0), out);
  steps_[binding.var] = std::move(step);
}

/// Calls what gives the value and the pull-back, a pair.
Atom Adjoint::callThere(const Expr& callee, std::span<const Operand> arguments, const Type* type,
                        Step& step, BlockBuilder& out, const Binding* binding) {
  const auto* global = callee.as<Global>();
  // A function that is given back gathers for what it captured.
  step.hasEffects = !global || holdsFunctions(type);
  std::vector<bool> mask;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Expr& argument = *arguments[i].value;
    const Type* given = code_.typeOf(argument);
    mask.push_back(holdsFloats(given) &&
                   (!global || (code_.isVaried(argument) && code_.useful.isParameter(*global, i))));
    step.hasEffects |= holdsFunctions(given);
  }
  if (global)
    mask = pending_.varied(code_, *global, mask);
  step.mayCallFunctions = step.hasEffects;
  for (size_t i = 0; i < mask.size(); ++i)
    if (mask[i])
      step.targets.push_back(arguments[i].value->as<Var>());
  if (global && binding)
    chooseSums(*global, arguments, mask, step, *binding);
  Atom target = global ? code_.derivativeOf(*global, mask) : code_.mapped(callee);
  Atom both = out.call(target, code_.mapped(arguments));
  step.back = backOf(both, out);
  return both;
}

void Adjoint::forwardOperator(const Binding& binding, const Call& call, const OperatorRow& row,
                              BlockBuilder& out) {
  switch (row.derivative) {
  case Derivative::Custom:
  case Derivative::CustomTangent:
    return forwardCustom(binding, call, out);
  case Derivative::Checkpoint:
    return forwardCheckpoint(binding, call, out);
  default:
    if (row.action == Action::Expand)
      return forwardGradient(binding, call, row, out);
    return code_.bindAs(binding, code_.rebuilt(*binding.value), out);
  }
}

void Adjoint::backwardCall(const Binding& binding, const Call& call, Cotangent incoming, Way& way) {
  if (const OperatorRow* row = code_.rowOf(call))
    backwardOperator(binding, call, *row, incoming, way);
  else if (call.callee.value->kind == ExprKind::Constructor)
    backwardConstructor(call, code_.typing.of(*binding.var), incoming, way);
  else if (steps_[binding.var].rule)
    backwardRuled(binding, call, incoming, way);
  else
    callBack(binding, incoming, way);
}

/// Takes the cotangent of a value apart, which has the constructor of the value.
void Adjoint::backwardConstructor(const Call& call, const Type* type, const Cotangent& incoming,
                                  Way& way) {
  for (size_t i = 0; i < incoming.fields.size(); ++i)
    give(*call.arguments[i].value, incoming.fields[i], way);
  if (!incoming.sum)
    return;
  const auto& constructor = *call.callee.value->as<Constructor>();
  if (code_.types.isSymbolic(type))
    return backwardUnfolded(call, constructor, type, incoming.sum, way);
  std::vector<const Pattern*> parts;
  std::vector<std::pair<const Expr*, Atom>> fields;
  for (const Operand& argument : call.arguments) {
    if (!code_.isVaried(*argument.value) || !holdsFloats(code_.typeOf(*argument.value))) {
      parts.push_back(code_.make.anyPattern());
      continue;
    }
    const Var* field = code_.make.var(VarOrigin::Pattern, "d");
    parts.push_back(code_.make.varPattern(field));
    fields.emplace_back(argument.value, field);
  }
  if (fields.empty())
    return;
  const Pattern* pattern =
      code_.make.constructorPattern(code_.types.cotangent(constructor, type), parts);
  bool isPartial = constructor.definition->constructors.size() > 1;
  open({incoming.sum, [pattern] { return pattern; }, isPartial}, way.out);
  for (const auto& [owner, field] : fields)
    give(*owner, split(way.out, field, code_.typeOf(*owner)), way);
}

/// The same where the cotangent may be a zero of its own.
void Adjoint::backwardUnfolded(const Call& call, const Constructor& constructor, const Type* type,
                               Atom incoming, Way& way) {
  std::vector<Atom> values;
  for (const Operand& argument : call.arguments) {
    const Expr& atom = *argument.value;
    bool isWanted = code_.isVaried(atom) && holdsFloats(code_.typeOf(atom));
    values.push_back(isWanted ? code_.mapped(atom) : nullptr);
  }
  if (std::ranges::all_of(values, std::logical_not()))
    return;
  std::vector<Atom> fields = code_.types.unfolded(way.out, incoming, constructor, type, values);
  for (size_t i = 0; i < fields.size(); ++i) {
    const Expr& owner = *call.arguments[i].value;
    if (fields[i])
      give(owner, split(way.out, fields[i], code_.typeOf(owner)), way);
  }
}

void Adjoint::backwardOperator(const Binding& binding, const Call& call, const OperatorRow& row,
                               const Cotangent& incoming, Way& way) {
  if (incoming.isZero())
    return;
  if (row.action == Action::Pass || row.action == Action::Show) {
    if (hasRule(row))
      give(*call.arguments[0].value, incoming, way);
    return;
  }
  if (const auto* none = std::get_if<NoGradient>(&row.gradient)) {
    if (!none->isZero)
      code_.findings.report(Message::WithoutGradient, call.range, row.name, none->reason);
    return;
  }
  std::vector<const Type*> operandTypes;
  for (const Operand& argument : call.arguments)
    operandTypes.push_back(code_.typeOf(*argument.value));
  const Type* type = code_.typing.of(*binding.var);
  std::vector<Atom> operands = code_.mapped(call.arguments);
  std::vector<Atom> cotangents = leavesOf(incoming, type);
  const Expr* read = operands.empty() ? nullptr : partReads_.readBy(call, &row, 0);
  const auto* var = read ? read->as<Var>() : nullptr;
  if (var && !(code_.isVaried(*read) && code_.typing.of(*var)->isTensor()))
    var = nullptr;
  PartCells::Cell* cell = nullptr;
  auto sum = [&](size_t i) -> Atom {
    return var && i == 0 ? takeSum(*var, /*mayCallFunctions=*/false, cell, way) : nullptr;
  };
  GradientCall rule(way.out, {operandTypes, type, code_.attributesOf(call), operands,
                              code_.mapped(*binding.var), cotangents, sum});
  std::get<GradientRule>(row.gradient).build(rule);
  std::vector<std::vector<Atom>> gone = rule.cotangents();
  // What has a sum is given at once, also through a tuple: others may ask for the sum before that.
  if (Atom part = var ? std::exchange(gone[0][0], nullptr) : nullptr; part && cell)
    putBack(code_.make, *cell, part, way.out);
  else if (part)
    give(*var, {part}, way);
  for (size_t i = 0; i < operands.size(); ++i)
    give(*call.arguments[i].value, gathered(gone[i], operandTypes[i]), way);
}

} // namespace transform

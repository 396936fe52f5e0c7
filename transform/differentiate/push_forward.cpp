// Forward mode, construct by construct.
#include "transform/differentiate/push_forward.h"

#include "lang/ir/differentiable.h"
#include "lang/ir/walk.h"
#include "lang/op/op.h"
#include "transform/differentiate/transpose.h"

#include <algorithm>

#include <fmt/format.h>

namespace transform {

using namespace lang;

namespace {

bool mentions(const Type* type, const TypeParameter* parameter) {
  auto inside = [&](const Type* part) { return mentions(part, parameter); };
  return (type->kind == TypeKind::Variable && type->parameter == parameter) ||
         (type->result && inside(type->result)) || std::ranges::any_of(type->parts, inside);
}

/// Whether the fields of a constructor say all type arguments of its type.
bool tellsArguments(const Constructor& constructor) {
  return std::ranges::all_of(constructor.definition->generics, [&](const TypeParameter* each) {
    return each->kind == ParameterKind::Dimension ||
           std::ranges::any_of(constructor.fields,
                               [&](const Type* field) { return mentions(field, each); });
  });
}

} // namespace

PushForward::PushForward(Builder& make, const Typing& typing, Diagnostics& findings)
    : code_(make, typing, findings, Mode::Forward),
      pending_(rowOf(make.operators, Derivative::Jvp).name), carried_("carried"), idle_("value"),
      custom_(code_) {
  code_.writeAtRoot = [this](const Binding& binding) { write(binding, *code_.root); };
  code_.derivativeOf = [this](const Global& global, std::vector<bool> mask) {
    bool isOfValue = global.function && isIdle(*global.function);
    return (isOfValue ? idle_ : pending_).derivativeOf(code_, global, std::move(mask));
  };
}

Cotangent PushForward::tangent(const Expr& atom) const {
  auto found = tangents_.find(atom.as<Var>());
  return found == tangents_.end() ? Cotangent{} : found->second;
}

Atom PushForward::wholeTangent(const Expr& atom, BlockBuilder& out) {
  return whole(code_.types, out, tangent(atom), code_.mapped(atom), code_.typeOf(atom));
}

Atom PushForward::write(const Block& block, BlockBuilder& out) {
  for (const Binding& binding : block.bindings)
    write(binding, out);
  return code_.mapped(*block.result.value);
}

void PushForward::write(const Binding& binding, BlockBuilder& out) {
  SourceRange outer = std::exchange(code_.make.range, binding.value->range);
  const Var& var = *binding.var;
  auto reference = [&](const Expr&) { writeReference(binding, out); };
  if (const auto* block = binding.value->as<BlockExpr>()) {
    const Expr& result = *block->block->result.value;
    code_.nameAs(binding, write(*block->block, out), out);
    code_.varied[&var] = code_.isVaried(result);
    tangents_[&var] = tangent(result);
  } else if (!code_.isVaried(binding)) {
    code_.copy(binding, out);
  } else {
    code_.varied[&var] = true;
    match(
        *binding.value,
        [&](const Expr& atom) {
          code_.nameAs(binding, code_.mapped(atom), out);
          tangents_[&var] = tangent(atom);
        },
        [&](const TupleExpr& tuple) {
          code_.bindAs(binding, code_.rebuilt(tuple), out);
          for (const Operand& field : tuple.fields)
            tangents_[&var].fields.push_back(tangent(*field.value));
        },
        [&](const Project& project) {
          code_.bindAs(binding, code_.rebuilt(project), out);
          Cotangent parts = tangent(*project.tuple.value);
          if (!parts.fields.empty())
            tangents_[&var] = parts.fields[project.index];
        },
        [&](const Call& call) { writeCall(binding, call, out); },
        [&](const If& branch) { writeIf(binding, branch, out); },
        [&](const Match& choice) { writeMatch(binding, choice, out); },
        [&](const Function& function) { writeFunction(binding, function, out); },
        [&](const RefNew& ref) { reference(ref); }, [&](const RefRead& ref) { reference(ref); },
        [&](const RefWrite& ref) { reference(ref); });
  }
  code_.make.range = outer;
}

void PushForward::bindBoth(const Binding& binding, const Expr* both, bool hasTangent,
                           BlockBuilder& out) {
  if (!hasTangent)
    return code_.bindAs(binding, both, out);
  Atom pair = out.bind(both);
  code_.bindAs(binding, code_.make.project(pair, 0), out);
  tangents_[binding.var] = split(out, out.project(pair, 1), code_.typing.of(*binding.var));
}

void PushForward::writeCall(const Binding& binding, const Call& call, BlockBuilder& out) {
  if (const OperatorRow* row = code_.rowOf(call))
    return writeOperator(binding, call, *row, out);
  if (call.callee.value->kind == ExprKind::Constructor)
    return writeConstructor(binding, call, out);
  if (const CustomRule* rule = custom_.find(*call.callee.value, out))
    return writeRuled(binding, call, *rule, out);
  if (const auto* global = call.callee.value->as<Global>(); isCarrying_ && global)
    return code_.bindAs(
        binding,
        code_.make.call(carried_.derivativeOf(code_, *global, {}), code_.mapped(call.arguments)),
        out);
  bindBoth(binding, callOfBoth(*call.callee.value, call.arguments, out),
           holdsFloats(code_.typing.of(*binding.var)), out);
}

/// A call with the tangents of the arguments behind them.
const Expr* PushForward::callOfBoth(const Expr& callee, std::span<const Operand> given,
                                    BlockBuilder& out) {
  const auto* global = callee.as<Global>();
  std::vector<bool> mask;
  std::vector<Atom> arguments = code_.mapped(given);
  for (size_t i = 0; i < given.size(); ++i)
    mask.push_back(
        holdsFloats(code_.typeOf(*given[i].value)) &&
        (!global || (!tangent(*given[i].value).isZero() && code_.useful.isParameter(*global, i))));
  if (global)
    mask = pending_.varied(code_, *global, mask);
  for (size_t i = 0; i < mask.size(); ++i)
    if (mask[i])
      arguments.push_back(wholeTangent(*given[i].value, out));
  return code_.make.call(global ? code_.derivativeOf(*global, mask) : code_.mapped(callee),
                         arguments);
}

void PushForward::writeOperator(const Binding& binding, const Call& call, const OperatorRow& row,
                                BlockBuilder& out) {
  const Var& var = *binding.var;
  if (row.derivative == Derivative::Custom || row.derivative == Derivative::CustomTangent)
    return writeCustom(binding, call, out);
  if (row.action == Action::Expand)
    return writeDerivative(binding, call, out);
  code_.bindAs(binding, code_.rebuilt(call), out);
  std::vector<Cotangent> tangents;
  std::vector<const Type*> operandTypes;
  bool isZero = true;
  for (const Operand& argument : call.arguments) {
    tangents.push_back(tangent(*argument.value));
    operandTypes.push_back(code_.typeOf(*argument.value));
    isZero &= tangents.back().isZero();
  }
  if (isZero || !holdsFloats(code_.typing.of(var)))
    return;
  const auto* none = std::get_if<NoGradient>(&row.gradient);
  // What passes its operand on and has no rule takes it for a constant.
  if (row.action == Action::Pass || row.action == Action::Show) {
    if (!none)
      tangents_[&var] = tangents[0];
    return;
  }
  if (none && !none->isZero)
    code_.findings.report(Message::WithoutGradient, call.range, row.name, none->reason);
  if (none)
    return;
  std::vector<Atom> operands = code_.mapped(call.arguments);
  tangents_[&var] = pushForward(code_.types, out, row,
                                {operandTypes, code_.typing.of(var), code_.attributesOf(call),
                                 operands, code_.known(var), tangents});
}

void PushForward::writeConstructor(const Binding& binding, const Call& call, BlockBuilder& out) {
  const auto& constructor = *call.callee.value->as<Constructor>();
  const Type* type = code_.typing.of(*binding.var);
  code_.bindAs(binding,
               code_.make.call(&code_.types.dual(constructor, type), code_.mapped(call.arguments)),
               out);
  bool isZero = std::ranges::all_of(
      call.arguments, [&](const Operand& argument) { return tangent(*argument.value).isZero(); });
  if (isZero)
    return;
  std::vector<Atom> fields;
  for (const Operand& argument : call.arguments)
    fields.push_back(wholeTangent(*argument.value, out));
  const Call* made = code_.make.call(&code_.types.cotangent(constructor, type), fields);
  const Type* declared = tellsArguments(constructor) ? nullptr : code_.types.cotangent(type);
  tangents_[binding.var].sum = declared ? out.let("d", made, declared) : out.bind(made);
}

std::vector<const Block*> PushForward::joined(std::deque<Branch>& branches, const Type* type,
                                              bool& hasTangent) {
  hasTangent =
      std::ranges::any_of(branches, [](const Branch& branch) { return !branch.tangent.isZero(); });
  std::vector<const Block*> blocks;
  for (Branch& branch : branches) {
    Atom result = branch.value;
    if (hasTangent)
      result = branch.out.tuple(
          {result, whole(code_.types, branch.out, branch.tangent, branch.value, type)});
    blocks.push_back(branch.out.finish(result));
  }
  return blocks;
}

void PushForward::writeIf(const Binding& binding, const If& choice, BlockBuilder& out) {
  std::deque<Branch> branches;
  for (const Block* block : {choice.thenBlock, choice.elseBlock}) {
    Branch& branch = branches.emplace_back(BlockBuilder(code_.make));
    branch.value = write(*block, branch.out);
    branch.tangent = tangent(*block->result.value);
  }
  bool hasTangent = false;
  auto blocks = joined(branches, code_.typing.of(*binding.var), hasTangent);
  Atom condition = code_.mapped(*choice.condition.value);
  bindBoth(binding, code_.make.branch(condition, blocks[0], blocks[1]), hasTangent, out);
}

void PushForward::writeMatch(const Binding& binding, const Match& choice, BlockBuilder& out) {
  const Expr& scrutinee = *choice.scrutinee.value;
  const Type* type = code_.typeOf(scrutinee);
  Atom value = code_.mapped(scrutinee);
  std::deque<Branch> branches;
  for (const Arm& arm : choice.arms) {
    Branch& branch = branches.emplace_back(BlockBuilder(code_.make));
    forEachPatternVar(*arm.pattern, [&](const Var& old) {
      const Type* held = code_.typing.of(old);
      code_.patternVar(old);
      code_.varied[&old] = holdsFunctions(held) || (code_.isVaried(scrutinee) && holdsFloats(held));
      tangents_.erase(&old);
    });
    takeApart(*arm.pattern, type, tangent(scrutinee), branch.out);
    branch.value = write(*arm.body, branch.out);
    branch.tangent = tangent(*arm.body->result.value);
  }
  bool hasTangent = false;
  auto blocks = joined(branches, code_.typing.of(*binding.var), hasTangent);
  std::vector<Arm> arms;
  for (size_t i = 0; i < blocks.size(); ++i)
    arms.push_back(code_.make.arm(code_.dualPattern(*choice.arms[i].pattern, type), blocks[i]));
  bindBoth(binding, code_.make.match(value, arms, choice.isPartial), hasTangent, out);
}

/// Gives the variables of a pattern their tangents: the tangent of a value has its constructors.
void PushForward::takeApart(const Pattern& pattern, const Type* type, const Cotangent& whole,
                            BlockBuilder& out) {
  if (whole.isZero())
    return;
  if (pattern.kind == PatternKind::Var)
    tangents_[pattern.var] = whole;
  if (pattern.kind == PatternKind::Tuple)
    for (size_t i = 0; i < pattern.parts.size(); ++i)
      takeApart(*pattern.parts[i], type->parts[i], whole.fields[i], out);
  if (pattern.kind != PatternKind::Constructor)
    return;
  std::vector<std::pair<const Var*, const Var*>> vars;
  const Pattern* taken = tangentPattern(pattern, type, vars);
  if (vars.empty())
    return;
  BlockBuilder arm(code_.make);
  std::vector<Atom> parts;
  for (const auto& [old, part] : vars)
    parts.push_back(part);
  Arm only = code_.make.arm(taken, arm.finish(arm.tuple(parts)));
  Atom tuple = out.bind(code_.make.match(whole.sum, {only}, /*isPartial=*/true));
  for (uint32_t i = 0; i < vars.size(); ++i)
    tangents_[vars[i].first] = split(out, out.project(tuple, i), code_.typing.of(*vars[i].first));
}

const Pattern* PushForward::tangentPattern(const Pattern& pattern, const Type* type,
                                           std::vector<std::pair<const Var*, const Var*>>& vars) {
  Builder& make = code_.make;
  if (pattern.kind == PatternKind::Var && holdsFloats(type)) {
    vars.emplace_back(pattern.var, make.var(VarOrigin::Pattern, "d"));
    return make.varPattern(vars.back().second);
  }
  if (pattern.kind == PatternKind::Var || pattern.kind == PatternKind::Wildcard)
    return make.anyPattern();
  bool isTuple = pattern.kind == PatternKind::Tuple;
  std::vector<const Type*> held(type->parts.begin(), type->parts.end());
  if (!isTuple)
    held = code_.types.fields(*pattern.constructor, type);
  std::vector<const Pattern*> parts;
  for (size_t i = 0; i < held.size(); ++i)
    parts.push_back(tangentPattern(*pattern.parts[i], held[i], vars));
  return isTuple
             ? make.tuplePattern(parts)
             : make.constructorPattern(code_.types.cotangent(*pattern.constructor, type), parts);
}

void PushForward::writeReference(const Binding& binding, BlockBuilder& out) {
  Builder& make = code_.make;
  if (const auto* made = binding.value->as<RefNew>()) {
    Atom content = code_.mapped(*made->content.value);
    if (!holdsFloats(code_.typeOf(*made->content.value)))
      return code_.bindAs(binding, make.refNew(content), out);
    Atom cell = out.bind(make.refNew(content));
    Atom other = out.bind(make.refNew(wholeTangent(*made->content.value, out)));
    code_.known(*binding.var) = out.tuple({cell, other});
    return;
  }
  const auto* read = binding.value->as<RefRead>();
  const auto* put = binding.value->as<RefWrite>();
  const Expr& reference = read ? *read->reference.value : *put->reference.value;
  const Type* type = code_.typeOf(reference)->parts[0];
  Atom pair = code_.mapped(reference);
  bool hasTangent = holdsFloats(type);
  Atom cell = hasTangent ? Atom(out.project(pair, 0)) : pair;
  if (read)
    code_.known(*binding.var) = out.let(binding.var->name, make.refRead(cell));
  else
    code_.known(*binding.var) = out.let("", make.refWrite(cell, code_.mapped(*put->value.value)));
  if (!hasTangent)
    return;
  Atom other = out.project(pair, 1);
  if (read)
    tangents_[binding.var] = split(out, out.let("t", make.refRead(other)), type);
  else
    out.let("", make.refWrite(other, wholeTangent(*put->value.value, out)));
}

void PushForward::writeFunction(const Binding& binding, const Function& function,
                                BlockBuilder& out) {
  if (isGeneric(function, code_.typing))
    return;
  if (code_.isOnlyPlain(*binding.var)) {
    code_.known(*binding.var) = nullptr;
    return;
  }
  Var* self = code_.make.var(VarOrigin::Let, binding.var->name.empty() ? "f" : binding.var->name);
  code_.known(*binding.var) = self;
  std::vector<bool> mask;
  for (const Var* old : function.parameters)
    mask.push_back(holdsFloats(code_.typing.of(*old)));
  out.bind(self, functionOf(function, mask, nullptr, isIdle(function)));
}

/// Whether nobody asks for the tangents of a function that is made here.
bool PushForward::isIdle(const Function& function) const {
  return isCarrying_ && !flow_->isDifferentiated(function);
}

/// The function over values and the tangents of those of the mask, which are zero where it is idle.
const Function* PushForward::functionOf(const Function& function, const std::vector<bool>& mask,
                                        const Type* declared, bool isIdle) {
  bool isCarrying = std::exchange(isCarrying_, isIdle);
  BlockBuilder body(code_.make);
  BlockBuilder* outer = code_.root;
  if (declared)
    code_.root = &body;
  std::vector<const Var*> parameters, tangents;
  for (size_t i = 0; i < mask.size(); ++i) {
    const Var& old = *function.parameters[i];
    const Type* type = code_.typing.of(old);
    parameters.push_back(code_.parameter(old, code_.types.dual(type)));
    code_.known(old) = parameters.back();
    code_.varied[&old] = (mask[i] && !isIdle) || holdsFunctions(type);
    if (!mask[i])
      continue;
    std::string name = fmt::format("d{}", old.name);
    tangents.push_back(code_.make.var(VarOrigin::Parameter, name, code_.types.cotangent(type)));
    if (!isIdle)
      tangents_[&old] = split(body, tangents.back(), type);
  }
  parameters.insert(parameters.end(), tangents.begin(), tangents.end());
  const Expr& result = *function.body->result.value;
  Atom value = write(*function.body, body);
  if (holdsFloats(code_.typing.result(function)))
    value = body.tuple(
        {value, whole(code_.types, body, tangent(result), value, code_.typing.result(function))});
  code_.root = outer;
  isCarrying_ = isCarrying;
  return code_.make.function(parameters, body.finish(value), declared,
                             code_.typing.generics(function));
}

void PushForward::reset() {
  code_.reset();
  custom_.reset();
  tangents_.clear();
}

void PushForward::finish() {
  while (!code_.findings.hasErrors()) {
    auto called = carried_.next(), value = called ? std::nullopt : idle_.next();
    auto next = called ? called : value ? value : pending_.next();
    if (!next)
      return;
    reset();
    const Function& function = *next->source->function;
    if (isGeneric(function, code_.typing))
      return code_.failGeneric(next->place, *next->source);
    SourceRange outer = std::exchange(code_.make.range, function.range);
    const Type* result = code_.types.withTangent(code_.typing.result(function));
    if (called)
      writeCarried(*called);
    else
      code_.make.define(next->target, functionOf(function, next->mask, result, value.has_value()));
    code_.make.range = outer;
  }
}

const Function* PushForward::derivative(const Expr& known, const WithRespectTo& wrt) {
  const auto* global = known.as<Global>();
  const Function& function = global ? *global->function : *known.as<Function>();
  reset();
  BlockBuilder body(code_.make);
  code_.root = &body;
  SourceRange outer = std::exchange(code_.make.range, function.range);
  std::vector<const Var*> parameters = code_.primalParameters(function);
  for (size_t i : wrt.parameters) {
    const Var& old = *function.parameters[i];
    const Type* type = code_.typing.of(old);
    code_.varied[&old] = true;
    parameters.push_back(code_.make.var(VarOrigin::Parameter, fmt::format("d{}", old.name), type));
    tangents_[&old] = split(body, parameters.back(), type);
  }
  const Type* type = code_.typing.result(function);
  if (holdsFunctions(type))
    code_.fail(function.range, "a function that gives functions or references");
  Atom both = nullptr;
  if (global && callsItself(*global) && holdsFloats(type)) {
    std::vector<Operand> arguments;
    for (const Var* parameter : function.parameters)
      arguments.push_back({parameter});
    both = body.bind(callOfBoth(*global, arguments, body));
  } else {
    Atom value = write(*function.body, body);
    const Expr& result = *function.body->result.value;
    both = body.tuple({value, whole(code_.types, body, tangent(result), value, type)});
  }
  const Function* made =
      code_.make.function(parameters, body.finish(both), nullptr, code_.typing.generics(function));
  code_.make.range = outer;
  return made;
}

} // namespace transform

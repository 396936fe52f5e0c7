// Functions: closures with their pull-backs, derivatives of globals, and the derivative that was
// asked for.
#include "transform/differentiate/adjoint.h"

#include "lang/ir/differentiable.h"
#include "lang/op/op.h"
#include "transform/differentiate/carried_values.h"

#include <algorithm>

#include <fmt/format.h>

namespace transform {

using namespace lang;

/// Cotangents of variables, each as one atom; they are gathered no further.
std::vector<Atom> Adjoint::packed(std::span<const Var* const> vars, Way& way) {
  SourceRange outer = turnBack();
  std::vector<Atom> parts;
  for (const Var* var : vars) {
    Cotangent sum = take(*var, way);
    parts.push_back(whole(code_.types, way.out, sum, code_.mapped(*var), code_.typing.of(*var)));
  }
  code_.make.range = outer;
  return parts;
}

Atom Adjoint::packOf(const std::vector<Atom>& parts, BlockBuilder& out) {
  return parts.size() == 1 ? parts.front() : tupleBack(parts, out);
}

Atom Adjoint::tupleBack(const std::vector<Atom>& parts, BlockBuilder& out) {
  SourceRange outer = turnBack();
  Atom tuple = out.tuple(parts);
  code_.make.range = outer;
  return tuple;
}

/// A closure gives its value and its pull-back, which adds to the cells of what is captured.
void Adjoint::forwardFunction(const Binding& binding, const Function& function, BlockBuilder& out) {
  if (isGeneric(function, code_.typing))
    return;
  if (code_.isOnlyPlain(*binding.var)) {
    code_.known(*binding.var) = nullptr;
    return;
  }
  bool isIdle = isCarrying_ && !flow_->isDifferentiated(function);
  bool isCarrying = std::exchange(isCarrying_, isIdle);
  if (isCarrying && !isIdle)
    checkCapturedCells(code_, binding);
  Var* self = code_.make.var(VarOrigin::Let, binding.var->name.empty() ? "f" : binding.var->name);
  code_.known(*binding.var) = self;
  std::vector<const Var*> parameters, given;
  for (const Var* old : function.parameters) {
    const Type* type = code_.typing.of(*old);
    parameters.push_back(code_.parameter(*old, code_.types.dual(type)));
    code_.known(*old) = parameters.back();
    code_.varied[old] = (holdsFloats(type) && !isIdle) || holdsFunctions(type);
    if (holdsFloats(type))
      given.push_back(old);
  }
  if (isIdle) {
    out.bind(self,
             code_.make.function(parameters, withIdleBack(function), nullptr, function.generics));
    isCarrying_ = isCarrying;
    return;
  }
  RoundTrip trip(code_.make);
  PartCells cells(code_, function, partReads_, out);
  around_.push_back({nullptr, true, &cells});
  start(trip, *function.body, code_.typing.result(function));
  around_.pop_back();
  Way& way = trip.way;
  std::vector<Atom> parts = packed(given, way);
  Step& step = steps_[binding.var];
  for (const auto& [number, gathered] : way.cotangents) {
    const Var& captured = *gathered.first;
    const Type* type = code_.typing.of(captured);
    PartCells::Cell* ofParts = cells.find(captured);
    Atom cell =
        ofParts ? ofParts->cell
                : out.bind(code_.make.refNew(code_.types.zero(out, code_.mapped(captured), type)));
    if (ofParts)
      ofParts->isUsed = false;
    Atom sum = way.out.let("g", code_.make.refRead(cell));
    Atom more = whole(code_.types, way.out, gathered.second, code_.mapped(captured), type);
    way.out.let("", code_.make.refWrite(cell, code_.types.sum(way.out, sum, more, type)));
    step.cells.emplace_back(&captured, cell);
  }
  for (const PartCells::Cell& each : cells.used())
    step.cells.emplace_back(each.captured, each.cell);
  const Block* block = finish(trip, packOf(parts, way.out));
  out.bind(self, code_.make.function(parameters, block, nullptr, function.generics));
  isCarrying_ = isCarrying;
}

/// What the closure's captures have gathered, once all its calls have been passed. The cells are
/// empty again afterwards, since a pull-back may be called more than once.
void Adjoint::readCells(const Step& step, Way& way) {
  for (const auto& [captured, cell] : step.cells) {
    const Type* type = code_.typing.of(*captured);
    Atom gathered = way.out.let("g", code_.make.refRead(cell));
    give(*captured, split(way.out, gathered, type), way);
    way.out.let(
        "", code_.make.refWrite(cell, code_.types.zero(way.out, code_.mapped(*captured), type)));
  }
}

WithRespectTo withRespectTo(const Call& call, size_t parameters) {
  WithRespectTo wrt;
  wrt.isTuple = call.attributes->get("wrt").kind == AttributeValueKind::List;
  for (int64_t i : call.attributes->integers("wrt"))
    wrt.parameters.push_back(size_t(i < 0 ? i + int64_t(parameters) : i));
  return wrt;
}

Adjoint::Adjoint(Builder& make, const Typing& typing, Diagnostics& findings, SymbolicZeros& zeros)
    : code_(make, typing, findings, Mode::Reverse, &zeros),
      pending_(rowOf(make.operators, Derivative::Vjp).name), carried_("carried"), idle_("value"),
      partReads_(make.module), custom_(code_, &isCarrying_) {
  code_.types.open = [this](BlockBuilder& out, Atom scrutinee, const Pattern* pattern) {
    open({scrutinee, [pattern] { return pattern; }, false}, out);
  };
  code_.writeAtRoot = [this](const Binding& binding) {
    // The root block may be far around what is open.
    auto records = std::exchange(records_, {});
    forward(binding, *code_.root);
    records_ = std::move(records);
  };
  code_.derivativeOf = [this](const Global& global, std::vector<bool> mask) {
    bool isIdle = isCarrying_ && global.function && !flow_->isDifferentiated(*global.function);
    return (isIdle ? idle_ : pending_).derivativeOf(code_, global, std::move(mask));
  };
}

void Adjoint::reset() {
  code_.reset();
  steps_.clear();
  later_ = {};
  around_.clear();
  ownSums_.clear();
  openings_.clear();
  records_.clear();
  gradients_.clear();
  custom_.reset();
}

void Adjoint::finish() {
  while (!code_.findings.hasErrors()) {
    if (auto called = carried_.next())
      writeCarried(*called, /*isValue=*/false);
    else if (auto value = idle_.next())
      writeCarried(*value, /*isValue=*/true);
    else if (auto next = pending_.next())
      write(*next);
    else
      return;
  }
}

void Adjoint::write(const PendingDerivatives::Item& pending) {
  reset();
  const Function& function = *pending.source->function;
  const Type* result = code_.typing.result(function);
  SourceRange outer = std::exchange(code_.make.range, function.range);
  std::vector<const Var*> parameters, given;
  std::vector<const Type*> givenTypes, sumTypes;
  for (size_t i = 0; i < function.parameters.size(); ++i) {
    const Var& old = *function.parameters[i];
    const Type* type = code_.typing.of(old);
    parameters.push_back(code_.parameter(old, code_.types.dual(type)));
    code_.known(old) = parameters.back();
    code_.varied[&old] = pending.mask[i] || holdsFunctions(type);
    if (pending.mask[i]) {
      given.push_back(&old);
      givenTypes.push_back(type);
    }
    if (pending.takesSum(i)) {
      ownSums_.push_back(&old);
      sumTypes.push_back(type);
    }
  }
  later_.see(*function.body);
  if (isGeneric(function, code_.typing))
    return code_.failGeneric(pending.place, *pending.source);
  RoundTrip trip(code_.make);
  code_.root = &trip.there;
  start(trip, *function.body, result);
  for (const Var* parameter : ownSums_)
    addSum(*parameter, trip.way);
  const Block* block = finish(trip, packOf(packed(given, trip.way), trip.way.out), ownSums_);
  code_.make.define(pending.target,
                    code_.make.function(parameters, block,
                                        code_.types.answer(result, givenTypes, sumTypes),
                                        code_.typing.generics(function)));
  code_.make.range = outer;
}

const Function* Adjoint::derivative(const Expr& known, Reverse kind, const WithRespectTo& wrt) {
  reset();
  const auto* global = known.as<Global>();
  const Function& function = global ? *global->function : *known.as<Function>();
  bool isRecursive = global && callsItself(*global);
  Asked asked{function, isRecursive ? global : nullptr, code_.typing.result(function), wrt.isTuple};
  std::vector<const Var*> parameters = code_.primalParameters(function);
  for (size_t i : wrt.parameters) {
    asked.given.push_back(function.parameters[i]);
    code_.varied[asked.given.back()] = true;
  }
  later_.see(*function.body);
  SourceRange outer = std::exchange(code_.make.range, function.range);
  if (holdsFunctions(asked.type))
    code_.fail(function.range, "a function that gives functions or references");
  wantsValue_ = kind != Reverse::Gradient;
  const Block* block = kind == Reverse::PullBack ? pullBack(asked) : gradient(asked);
  if (global)
    turnBack();
  const Function* made =
      code_.make.function(parameters, block, nullptr, code_.typing.generics(function));
  code_.make.range = outer;
  return made;
}

/// The derivative of a function that calls itself calls one that calls itself.
Atom Adjoint::callRecursive(const Asked& asked, Step& step, BlockBuilder& out) {
  std::vector<Operand> arguments;
  for (const Var* parameter : asked.function.parameters)
    arguments.push_back({parameter});
  return out.project(callThere(*asked.recursive, arguments, asked.type, step, out), 0);
}

Atom Adjoint::packOf(const Asked& asked, Way& way) {
  SourceRange outer = turnBack();
  std::vector<Atom> parts;
  for (const Var* var : asked.given) {
    Cotangent sum = take(*var, way);
    parts.push_back(
        whole(code_.types, way.out, sum, code_.mapped(*var), code_.typing.of(*var), Form::Given));
  }
  code_.make.range = outer;
  return asked.isTuple ? tupleBack(parts, way.out) : parts.front();
}

const Block* Adjoint::pullBack(const Asked& asked) {
  RoundTrip trip(code_.make);
  code_.root = &trip.there;
  size_t openAround = records_.size();
  Step call;
  trip.value = asked.recursive ? callRecursive(asked, call, trip.there)
                               : forward(*asked.function.body, trip.there);
  records_.resize(openAround);
  trip.incoming = incomingOf(asked.type, Form::Given);
  SourceRange outer = turnBack();
  Atom incoming = code_.types.taken(trip.way.out, trip.incoming, asked.type);
  if (asked.recursive)
    callBack(call, incoming, trip.way);
  else
    backward(*asked.function.body, split(trip.way.out, incoming, asked.type), trip.way);
  code_.make.range = outer;
  return finish(trip, packOf(asked, trip.way));
}

const Block* Adjoint::gradient(const Asked& asked) {
  Way way{BlockBuilder(code_.make)};
  code_.root = &way.out;
  Atom value = nullptr;
  if (asked.recursive) {
    Step call;
    value = callRecursive(asked, call, way.out);
    SourceRange outer = turnBack();
    callBack(call, code_.types.one(way.out, value, asked.type), way);
    code_.make.range = outer;
  } else {
    value = thereAndBack(*asked.function.body, asked.type, way);
  }
  Atom gradient = packOf(asked, way);
  return finish(way.out, wantsValue_ ? tupleBack({value, gradient}, way.out) : gradient);
}

} // namespace transform

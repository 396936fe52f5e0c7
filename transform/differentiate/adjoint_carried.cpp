// Derivatives of functions that only a run knows: in what a run begins with, all functions are made
// such that they carry their derivatives, and values are computed with them.
//
//   def @slopes(%fs: List[fn (float32) -> float32], %x: float32) { ... grad(%f)(%x) ... }
//   def @main(%x: float32) { @slopes(Cons(@f, Cons(@g, Nil)), %x) }
// =>
//   def @slopes_carried(%fs: List[fn (float32) -> (float32, fn (float32) -> float32)], %x: float32)
//   {
//     ... let %both = %f(%x); %both.1(1f) ...
//   }
//   def @main(%x: float32) { @slopes_carried(Cons(@f_vjp, Cons(@g_vjp, Nil)), %x) }
//
// A function carries one derivative and not that of its derivative, so in a function that may be
// differentiated itself (transform/analysis/function_flow.h), such a derivative is refused. Those
// of another round do not count: they are left for later (carried_values.h). Refused is also such a
// closure over references to floats: what one evaluation gathers for them another one would find. A
// function that nobody differentiates has a pull-back too, for all functions have the same
// form; it gives zeros, and is never called.
#include "transform/differentiate/adjoint.h"

#include "lang/ir/differentiable.h"
#include "lang/ir/walk.h"
#include "lang/op/op.h"
#include "transform/differentiate/carried_values.h"

#include <algorithm>

#include <fmt/format.h>

namespace transform {

using namespace lang;

void Adjoint::carryFor(std::unordered_set<const Call*> derivatives) {
  flow_.emplace(code_.make.module, code_.typing, std::move(derivatives));
}

const Function* Adjoint::carried(const Global& global) {
  reset();
  const Function& function = *global.function;
  SourceRange outer = std::exchange(code_.make.range, function.range);
  std::vector<const Var*> parameters = code_.primalParameters(function);
  const Block* body = carriedBody(function);
  code_.make.range = outer;
  return code_.make.function(parameters, body, code_.typing.result(function));
}

/// The values of a body, none of which is differentiated by what is around.
const Block* Adjoint::carriedBody(const Function& function) {
  BlockBuilder body(code_.make);
  code_.root = &body;
  isCarrying_ = true;
  Atom value = forward(*function.body, body);
  isCarrying_ = false;
  return finish(body, value);
}

/// The body of a function that nobody differentiates, with a pull-back that nobody calls: all
/// functions have one.
const Block* Adjoint::withIdleBack(const Function& function) {
  BlockBuilder body(code_.make), way(code_.make);
  BlockBuilder* outer = code_.root;
  if (!outer)
    code_.root = &body;
  size_t openAround = records_.size();
  Atom value = forward(*function.body, body);
  records_.resize(openAround);
  std::vector<Atom> zeros;
  for (const Var* parameter : function.parameters)
    if (const Type* type = code_.typing.of(*parameter); holdsFloats(type))
      zeros.push_back(code_.types.zero(way, code_.mapped(*parameter), type));
  const Block* back = finish(way, packOf(zeros, way));
  Atom made = body.bind(code_.make.function({incomingOf(code_.typing.result(function))}, back));
  code_.root = outer;
  return finish(body, body.tuple({value, made}));
}

void Adjoint::writeCarried(const PendingDerivatives::Item& pending, bool isValue) {
  reset();
  const Function& function = *pending.source->function;
  if (isGeneric(function, code_.typing))
    return code_.failGeneric(pending.place, *pending.source);
  SourceRange outer = std::exchange(code_.make.range, function.range);
  std::vector<const Var*> parameters;
  std::vector<const Type*> given;
  for (const Var* old : function.parameters) {
    const Type* type = code_.typing.of(*old);
    parameters.push_back(code_.parameter(*old, code_.types.dual(type)));
    code_.known(*old) = parameters.back();
    code_.varied[old] = holdsFunctions(type);
    if (holdsFloats(type))
      given.push_back(type);
  }
  const Type* result = code_.typing.result(function);
  const Type* answer = isValue ? code_.types.answer(result, given) : code_.types.dual(result);
  code_.root = nullptr;
  isCarrying_ = true;
  const Block* body = isValue ? withIdleBack(function) : carriedBody(function);
  isCarrying_ = false;
  code_.make.define(pending.target, code_.make.function(parameters, body, answer));
  code_.make.range = outer;
}

/// A derivative waits for its call.
void Adjoint::forwardGradient(const Binding& binding, const Call& call, const OperatorRow& row,
                              BlockBuilder& out) {
  if (isCarrying_ && !flow_->isAsked(call)) {
    code_.known(*binding.var) = leftForLater(code_, Mode::Reverse, binding, out);
    return;
  }
  const Expr& differentiated = *call.arguments[0].value;
  const Type* function = code_.typeOf(differentiated);
  code_.known(*binding.var) = nullptr;
  std::string_view obstacle = !isCarrying_ ? insideOfOthers
                              : std::ranges::any_of(function->parts, holdsFunctions) ? overFunctions
                                                                                     : "";
  if (!obstacle.empty()) {
    code_.failOf(call.range, differentiated, obstacle);
    code_.known(*binding.var) = binding.var;
  }
  if (code_.isPassedOn(*binding.var) && obstacle.empty())
    code_.known(*binding.var) = gradientFunction(call, row, *code_.typing.of(*binding.var), out);
  else
    gradients_[binding.var] = {&call, &row};
}

/// The derivative of what carries one, as a function that carries one which nobody asks for.
Atom Adjoint::gradientFunction(const Call& derivative, const OperatorRow& row, const Type& given,
                               BlockBuilder& out) {
  BlockBuilder body(code_.make);
  std::vector<const Var*> parameters = parametersFor(code_.make, given.parts);
  std::vector<Atom> arguments = atomsOf(parameters);
  Atom value = body.bind(gradientAt(derivative, row, arguments, body));
  Atom back = idleBack(code_, arguments, given.parts, given.result, body);
  return out.bind(code_.make.function(parameters, finish(body, body.tuple({value, back}))));
}

/// What programs see of those that a derivative asks for of the cotangents that a pull-back gave.
Atom Adjoint::chosenOf(const Call& derivative, const Type& function, Atom gone,
                       const std::vector<Atom>& values, BlockBuilder& out) {
  std::vector<Atom> parts(function.parts.size(), nullptr);
  size_t given = size_t(std::ranges::count_if(function.parts, holdsFloats));
  for (uint32_t i = 0, place = 0; i < parts.size(); ++i)
    if (holdsFloats(function.parts[i]))
      parts[i] = given == 1 ? gone : out.project(gone, place++);
  WithRespectTo wrt = withRespectTo(derivative, parts.size());
  std::vector<Atom> wanted;
  for (size_t i : wrt.parameters)
    wanted.push_back(code_.types.given(out, parts[i], values[i], function.parts[i]));
  return wrt.isTuple ? out.tuple(wanted) : wanted.front();
}

/// A pull-back as people call it, which carries an idle derivative as all functions do.
Atom Adjoint::pullBackOf(const Call& derivative, const Type& function, Atom back,
                         const std::vector<Atom>& values, BlockBuilder& out) {
  if (flow_->isDifferentiated(derivative))
    code_.failOf(derivative.range, *derivative.arguments[0].value, insideOfOthers);
  BlockBuilder way(code_.make), idle(code_.make);
  Var* incoming = incomingOf(function.result, Form::Given);
  Atom taken = code_.types.taken(way, incoming, function.result);
  Atom gone = way.let("g", code_.make.call(back, {taken}));
  WithRespectTo wrt = withRespectTo(derivative, function.parts.size());
  std::vector<const Type*> types;
  for (size_t i : wrt.parameters)
    types.push_back(function.parts[i]);
  const Type* given = wrt.isTuple ? code_.make.types.tuple(types) : types.front();
  const Block* zero = finish(idle, code_.types.zero(idle, incoming, function.result));
  Atom made = way.bind(code_.make.function({incomingOf(given)}, zero));
  Atom chosen = chosenOf(derivative, function, gone, values, way);
  return out.bind(code_.make.function({incoming}, finish(way, way.tuple({chosen, made}))));
}

/// Calls a derivative of what carries one; null for any other callee.
const Expr* Adjoint::gradientCall(const Call& call, BlockBuilder& out) {
  auto waiting = gradients_.find(call.callee.value);
  if (waiting == gradients_.end())
    return nullptr;
  auto [derivative, row] = waiting->second;
  if (!isCarrying_)
    code_.failOf(call.range, *derivative->arguments[0].value, insideOfOthers);
  return gradientAt(*derivative, *row, code_.mapped(call.arguments), out);
}

/// The derivative of what carries one, at values.
const Expr* Adjoint::gradientAt(const Call& derivative, const OperatorRow& row,
                                const std::vector<Atom>& values, BlockBuilder& out) {
  const Expr& differentiated = *derivative.arguments[0].value;
  const Type* type = code_.typeOf(differentiated);
  Atom both = out.call(code_.mapped(differentiated), values);
  Atom value = out.project(both, 0), back = out.project(both, 1);
  if (row.derivative == Derivative::Vjp)
    return code_.make.tuple({value, pullBackOf(derivative, *type, back, values, out)});
  Atom one = code_.types.one(out, value, type->result);
  Atom gone = out.let("g", code_.make.call(back, {one}));
  Atom chosen = chosenOf(derivative, *type, gone, values, out);
  return row.derivative == Derivative::Grad ? chosen : code_.make.tuple({value, chosen});
}

} // namespace transform

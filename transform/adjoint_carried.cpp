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
// A function carries one derivative and not that of its derivative, so where what is computed may
// be differentiated itself, in closures and all that they call, such a derivative is refused. So is
// a closure over references to floats: what one evaluation gathers for them another one would find.
#include "transform/adjoint.h"

#include "lang/differentiable.h"
#include "lang/walk.h"

#include <algorithm>
#include <unordered_set>

#include <fmt/format.h>

namespace transform {

using namespace lang;

namespace {

constexpr std::string_view insideOfOthers = ", in a function that may be differentiated itself,";

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

bool Adjoint::canCarry(const Global& global) const {
  const Function& function = *global.function;
  return !isGeneric(function, code_.typing) && !holdsFunctions(code_.typing.result(function)) &&
         std::ranges::none_of(function.parameters, [&](const Var* parameter) {
           return holdsFunctions(code_.typing.of(*parameter));
         });
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

void Adjoint::writeCarried(const PendingDerivatives::Item& pending) {
  reset();
  const Function& function = *pending.source->function;
  if (isGeneric(function, code_.typing))
    return code_.fail(function.range,
                      fmt::format("`@{}`, which is generic,", pending.source->name));
  SourceRange outer = std::exchange(code_.make.range, function.range);
  std::vector<const Var*> parameters;
  for (const Var* old : function.parameters) {
    const Type* type = code_.typing.of(*old);
    parameters.push_back(code_.parameter(*old, code_.types.dual(type)));
    code_.known(*old) = parameters.back();
    code_.varied[old] = holdsFunctions(type);
  }
  const Type* result = code_.types.dual(code_.typing.result(function));
  code_.make.define(pending.target, code_.make.function(parameters, carriedBody(function), result));
  code_.make.range = outer;
}

/// Of a closure that is made among what carries derivatives.
void Adjoint::checkCaptures(const Binding& binding) {
  forEachOperandWithin(*binding.value, [&](const Expr& atom) {
    const auto* var = atom.as<Var>();
    if (var && code_.isKnown(*var) && holdsFloatCells(code_.typing.of(*var)))
      code_.fail(binding.value->range, "a function that captures a reference to floats");
  });
}

/// A gradient waits for its call.
void Adjoint::forwardGradient(const Binding& binding, const Call& call, const OperatorRow& row) {
  const Expr& differentiated = *call.arguments[0].value;
  const Type* function = code_.typeOf(differentiated);
  bool isGradient =
      row.derivative == Derivative::Grad || row.derivative == Derivative::ValueAndGrad;
  code_.known(*binding.var) = nullptr;
  std::string_view obstacle = !isGradient    ? ", other than its gradient,"
                              : !isCarrying_ ? insideOfOthers
                              : std::ranges::any_of(function->parts, holdsFunctions)
                                  ? ", which takes functions or references,"
                                  : "";
  if (!obstacle.empty()) {
    code_.failOf(call.range, differentiated, obstacle);
    code_.known(*binding.var) = binding.var;
  }
  gradients_[binding.var] = {&call, &row};
}

/// Calls a gradient of what carries its derivative; null for any other callee.
const Expr* Adjoint::gradientCall(const Call& call, BlockBuilder& out) {
  auto waiting = gradients_.find(call.callee.value);
  if (waiting == gradients_.end())
    return nullptr;
  auto [gradient, row] = waiting->second;
  const Expr& differentiated = *gradient->arguments[0].value;
  if (!isCarrying_)
    code_.failOf(call.range, differentiated, insideOfOthers);
  const Type* type = code_.typeOf(differentiated);
  std::vector<Atom> values = code_.mapped(call.arguments);
  Atom both = out.call(code_.mapped(differentiated), values);
  Atom value = out.project(both, 0);
  Atom one = code_.types.one(out, value, type->result);
  Atom gone = out.let("g", code_.make.call(out.project(both, 1), {one}));
  std::vector<Atom> parts(type->parts.size(), nullptr);
  size_t given = size_t(std::ranges::count_if(type->parts, holdsFloats));
  for (uint32_t i = 0, place = 0; i < parts.size(); ++i)
    if (holdsFloats(type->parts[i]))
      parts[i] = given == 1 ? gone : out.project(gone, place++);
  WithRespectTo wrt = withRespectTo(*gradient, parts.size());
  std::vector<Atom> wanted;
  for (size_t i : wrt.parameters)
    wanted.push_back(code_.types.given(out, parts[i], values[i], type->parts[i]));
  const Expr* answer = wrt.isTuple ? code_.make.tuple(wanted) : wanted.front();
  if (row->derivative == Derivative::Grad)
    return answer;
  return code_.make.tuple({value, wrt.isTuple ? out.bind(answer) : answer});
}

} // namespace transform

// Derivatives of functions that only a run knows, by forward mode: in what a run begins with, all
// functions are made such that they take tangents and give them, and all tangents but those that a
// derivative asks for are zero (adjoint_carried.cpp has the same for reverse mode).
//
//   def @slopes(%fs: List[fn (float32) -> float32], %x: float32) { ... jvp(%f)(%x, 1f) ... }
// =>
//   def @slopes_carried(%fs: List[fn (float32, float32) -> (float32, float32)], %x: float32) {
//     ... %f(%x, 1f) ...
//   }
#include "transform/differentiate/push_forward.h"

#include "lang/ir/differentiable.h"
#include "lang/op/op.h"
#include "transform/differentiate/carried_values.h"

#include <algorithm>

namespace transform {

using namespace lang;

void PushForward::carryFor(std::unordered_set<const Call*> derivatives) {
  flow_.emplace(code_.make.module, code_.typing, std::move(derivatives));
}

const Function* PushForward::carried(const Global& global) {
  reset();
  const Function& function = *global.function;
  SourceRange outer = std::exchange(code_.make.range, function.range);
  std::vector<const Var*> parameters = code_.primalParameters(function);
  BlockBuilder body(code_.make);
  code_.root = &body;
  const Block* block = carriedBody(function, body);
  code_.make.range = outer;
  return code_.make.function(parameters, block, code_.typing.result(function));
}

/// The values of a body, none of which is differentiated by what is around.
const Block* PushForward::carriedBody(const Function& function, BlockBuilder& body) {
  isCarrying_ = true;
  Atom value = write(*function.body, body);
  isCarrying_ = false;
  return body.finish(value);
}

/// A global as it is called there.
void PushForward::writeCarried(const PendingDerivatives::Item& pending) {
  const Function& function = *pending.source->function;
  std::vector<const Var*> parameters;
  for (const Var* old : function.parameters) {
    const Type* type = code_.typing.of(*old);
    parameters.push_back(code_.parameter(*old, code_.types.dual(type)));
    code_.known(*old) = parameters.back();
    code_.varied[old] = holdsFunctions(type);
  }
  BlockBuilder body(code_.make);
  code_.root = &body;
  const Block* block = carriedBody(function, body);
  const Type* result = code_.types.dual(code_.typing.result(function));
  code_.make.define(pending.target, code_.make.function(parameters, block, result));
}

/// `jvp` of a function that carries its tangents, as a function of the program.
void PushForward::writeDerivative(const Binding& binding, const Call& call, BlockBuilder& out) {
  if (isCarrying_ && !flow_->isAsked(call)) {
    code_.known(*binding.var) = leftForLater(code_, Mode::Forward, binding, out);
    return;
  }
  const Expr& differentiated = *call.arguments[0].value;
  const Type& function = *code_.typeOf(differentiated);
  std::string_view obstacle =
      !isCarrying_ || flow_->isDifferentiated(call) ? insideOfOthers
      : holdsFunctions(function.result) || std::ranges::any_of(function.parts, holdsFunctions)
          ? overFunctions
          : "";
  code_.known(*binding.var) = binding.var;
  if (!obstacle.empty())
    return code_.failOf(call.range, differentiated, obstacle);
  BlockBuilder body(code_.make);
  std::vector<const Var*> parameters = parametersFor(code_.make, function.parts);
  std::vector<Atom> arguments = atomsOf(parameters), tangents(parameters.size(), nullptr);
  for (size_t i : withRespectTo(call, parameters.size()).parameters)
    tangents[i] = parameters.emplace_back(
        code_.make.var(VarOrigin::Parameter, "dx", code_.types.cotangent(function.parts[i])));
  for (size_t i = 0; i < tangents.size(); ++i)
    if (holdsFloats(function.parts[i]))
      arguments.push_back(tangents[i] ? tangents[i]
                                      : code_.types.zero(body, arguments[i], function.parts[i]));
  Atom both = body.call(code_.mapped(differentiated), arguments);
  if (!holdsFloats(function.result))
    both = body.tuple({both, code_.types.zero(body, both, function.result)});
  Atom made = out.bind(code_.make.function(parameters, body.finish(both)));
  code_.known(*binding.var) =
      withIdleDerivatives(code_, Mode::Forward, made, code_.typing.of(*binding.var), out);
}

} // namespace transform

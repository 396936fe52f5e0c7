// Forward mode through functions with rules of their own.
#include "transform/differentiate/push_forward.h"

#include "lang/ir/differentiable.h"

namespace transform {

using namespace lang;

/// A function that is handed on takes tangents of all arguments that hold floats.
void PushForward::writeCustom(const Binding& binding, const Call& call, BlockBuilder& out) {
  code_.known(*binding.var) = nullptr;
  const CustomRule& rule = custom_.add(*binding.var, call, out);
  if (!code_.isPassedOn(*binding.var))
    return;
  custom_.checkCaptures(rule);
  std::vector<const Var*> parameters = custom_.parameters(rule);
  std::vector<Atom> arguments(parameters.begin(), parameters.end()), tangents;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Type* type = rule.type->parts[i];
    if (!holdsFloats(type))
      continue;
    parameters.push_back(code_.make.var(VarOrigin::Parameter, "dx", type));
    if (std::ranges::count(rule.differentiated, i))
      tangents.push_back(parameters.back());
  }
  BlockBuilder body(code_.make);
  Atom value = body.call(rule.function, arguments);
  if (holdsFloats(rule.type->result))
    value = body.tuple({value, custom_.tangent(rule, arguments, value, tangents, body)});
  code_.bindAs(binding, code_.make.function(parameters, body.finish(value)), out);
}

void PushForward::writeRuled(const Binding& binding, const Call& call, const CustomRule& rule,
                             BlockBuilder& out) {
  std::vector<Atom> arguments = custom_.arguments(call, out);
  code_.bindAs(binding, code_.make.call(rule.function, arguments), out);
  custom_.checkCaptures(rule);
  custom_.checkArguments(rule, call);
  bool isZero = true;
  for (size_t i : rule.differentiated)
    isZero = isZero && tangent(*call.arguments[i].value).isZero();
  const Type* type = code_.typing.of(*binding.var);
  if (isZero || !holdsFloats(type))
    return;
  std::vector<Atom> tangents;
  for (size_t i : rule.differentiated)
    tangents.push_back(wholeTangent(*call.arguments[i].value, out));
  Atom value = code_.known(*binding.var);
  tangents_[binding.var] = split(out, custom_.tangent(rule, arguments, value, tangents, out), type);
}

} // namespace transform

// Functions that say how they are differentiated: by a rule of their own, or by computing again
// what they did. The way there calls them as they were, so nothing is kept for their way back, and
// what is differentiated again finds them as they are.
#include "transform/differentiate/adjoint.h"

#include "lang/ir/differentiable.h"
#include "lang/op/op.h"

#include <algorithm>

#include <fmt/format.h>

namespace transform {

using namespace lang;

void Adjoint::forwardCustom(const Binding& binding, const Call& call, BlockBuilder& out) {
  code_.known(*binding.var) = nullptr;
  const CustomRule& rule = custom_.add(*binding.var, call, out);
  if (!code_.isPassedOn(*binding.var))
    return;
  custom_.checkCaptures(rule);
  std::vector<const Var*> parameters = custom_.parameters(rule);
  std::vector<Atom> arguments = atomsOf(parameters), pack;
  BlockBuilder body(code_.make), way(code_.make);
  Atom value = body.call(rule.function, arguments);
  SourceRange outer = turnBack();
  Var* incoming = incomingOf(rule.type->result);
  Atom given = code_.types.given(way, incoming, value, rule.type->result);
  std::vector<Atom> parts = custom_.cotangents(rule, arguments, value, given, way);
  for (size_t i = 0, next = 0; i < parameters.size(); ++i) {
    const Type* type = rule.type->parts[i];
    bool isDifferentiated = next < parts.size() && rule.differentiated[next] == i;
    if (holdsFloats(type))
      pack.push_back(isDifferentiated ? code_.types.taken(way, parts[next++], type)
                                      : code_.types.zero(way, arguments[i], type));
  }
  Atom back = body.bind(code_.make.function({incoming}, way.finish(packOf(pack, way))));
  code_.make.range = outer;
  const Block* block = body.finish(body.tuple({value, back}));
  code_.bindAs(binding, code_.make.function(parameters, block), out);
}

void Adjoint::forwardRuled(const Binding& binding, const Call& call, const CustomRule& rule,
                           BlockBuilder& out) {
  Step& step = steps_[binding.var];
  step.rule = &rule;
  step.parts = custom_.arguments(call, out);
  code_.bindAs(binding, code_.make.call(rule.function, step.parts), out);
}

void Adjoint::backwardRuled(const Binding& binding, const Call& call, const Cotangent& incoming,
                            Way& way) {
  const Step& step = steps_[binding.var];
  if (incoming.isZero())
    return;
  custom_.checkCaptures(*step.rule);
  custom_.checkArguments(*step.rule, call);
  auto isVaried = [&](size_t i) { return code_.isVaried(*call.arguments[i].value); };
  if (std::ranges::none_of(step.rule->differentiated, isVaried))
    return;
  const Type* type = code_.typing.of(*binding.var);
  Atom value = code_.mapped(*binding.var);
  Atom given =
      code_.types.given(way.out, whole(code_.types, way.out, incoming, value, type), value, type);
  std::vector<Atom> gone = custom_.cotangents(*step.rule, step.parts, value, given, way.out);
  for (size_t i = 0; i < gone.size(); ++i) {
    const Expr& argument = *call.arguments[step.rule->differentiated[i]].value;
    const Type* held = code_.typeOf(argument);
    if (code_.isVaried(argument))
      give(argument, split(way.out, code_.types.taken(way.out, gone[i], held), held), way);
  }
}

/// A function whose pull-back computes the values again, behind a barrier: else passes would find
/// that they were computed before.
void Adjoint::forwardCheckpoint(const Binding& binding, const Call& call, BlockBuilder& out) {
  const Expr& function = *call.arguments[0].value;
  const Type* type = code_.typing.of(*binding.var);
  checkRepeats(call);
  bool takesFunctions = std::ranges::any_of(type->parts, holdsFunctions);
  Atom plain = takesFunctions ? nullptr : code_.plain(function, out);
  Atom differentiated = code_.mapped(function);
  if (plain) {
    Call* marked = code_.make.arena.make<Call>(call);
    marked->arguments = code_.make.operands({plain});
    plain = out.bind(marked);
  }
  std::vector<const Var*> parameters;
  for (const Type* each : type->parts)
    parameters.push_back(code_.make.var(VarOrigin::Parameter, "x", code_.types.dual(each)));
  std::vector<Atom> arguments = atomsOf(parameters);
  BlockBuilder body(code_.make), way(code_.make);
  Atom value = plain ? Atom(body.call(plain, arguments))
                     : body.project(body.call(differentiated, arguments), 0);
  SourceRange outer = turnBack();
  const OperatorRow& barrier = code_.make.operators.withRole(Role::Barrier);
  for (Atom& argument : arguments)
    argument = way.call(barrier, {argument});
  Var* incoming = incomingOf(type->result);
  Atom gone = way.call(way.project(way.call(differentiated, arguments), 1), {incoming});
  Atom back = body.bind(code_.make.function({incoming}, way.finish(gone)));
  code_.make.range = outer;
  const Block* block = body.finish(body.tuple({value, back}));
  code_.bindAs(binding, code_.make.function(parameters, block), out);
}

/// Reports what would not do the same again on the way back.
void Adjoint::checkRepeats(const Call& call) {
  if (isCarrying_)
    return;
  const Type* type = code_.typeOf(*call.arguments[0].value);
  Origin origin = code_.deepOriginOf(*call.arguments[0].value);
  Words obstacle;
  auto named = [](const Var& var) {
    return var.name.empty() ? "" : words(" `{}`", localName(var.name));
  };
  bool isOpen = std::ranges::any_of(type->parts, holdsFunctions);
  if (holdsFunctions(type->result))
    obstacle = "it gives functions or references, which the way back would make anew";
  else if (code_.writesReferences() && origin.unknown)
    obstacle = words("the function{} in it may read or write references", named(*origin.unknown));
  else if (code_.writesReferences() && isOpen)
    obstacle = "it takes functions or references, and the content of references may change";
  for (const Var* captured : origin.captured)
    if (code_.typing.of(*captured)->kind == TypeKind::Reference && code_.writesReferences())
      obstacle =
          words("the content of the reference{} that it captures may change", named(*captured));
  if (!obstacle.empty())
    code_.findings.report(Message::WithoutGradient, call.range, code_.rowOf(call)->name,
                          words("the way back calls the function again, and {}", obstacle));
}

} // namespace transform

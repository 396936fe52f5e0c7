// The gradient of the entry, one order after the other.
#include "transform/entry_gradient.h"

#include "lang/copy.h"
#include "lang/differentiable.h"
#include "transform/placement.h"

#include <fmt/format.h>

namespace transform {

using namespace lang;

namespace {

/// With `last`, a function that gives what `callee` gives of its parameters, and field 1 of what
/// `last` gives; without it, field 1 of what `callee` gives.
struct Combination {
  const Global* callee;
  const Global* last = nullptr;
};

const Function* combined(Builder& make, const Typing& typing, const Function& like,
                         const Combination& how) {
  std::vector<const Var*> parameters;
  std::vector<Atom> arguments;
  for (const Var* old : like.parameters) {
    parameters.push_back(make.var(VarOrigin::Parameter, old->name, typing.of(*old)));
    arguments.push_back(parameters.back());
  }
  BlockBuilder body(make);
  Atom result = body.call(how.callee, arguments);
  result = how.last ? body.tuple({result, body.project(body.call(how.last, arguments), 1)})
                    : Atom(body.project(result, 1));
  return make.function(parameters, body.finish(result), nullptr, typing.generics(like));
}

/// The derivative of a global, with what it calls in the module.
const Function* derivativeIn(Builder& make, const Typing& typing, Diagnostics& findings,
                             const Global& global, Reverse kind, const WithRespectTo& wrt) {
  SymbolicZeros zeros;
  const Function* made = nullptr;
  zeros.writeInto(make.module, [&] {
    Adjoint adjoint(make, typing, findings, zeros);
    made = adjoint.derivative(global, kind, wrt);
    adjoint.finish();
    return !findings.hasErrors();
  });
  return made;
}

Typing checked(const Module& module, const PassContext& context) {
  Diagnostics diagnostics;
  Typing typing = context.check(module, diagnostics);
  if (diagnostics.hasErrors())
    throw std::logic_error(
        fmt::format("a gradient is ill-typed: {}", diagnostics.all().front().text));
  return typing;
}

} // namespace

std::vector<size_t> parametersWithGradient(const Function& function, const Typing& typing) {
  std::vector<size_t> found;
  for (size_t i = 0; i < function.parameters.size(); ++i) {
    const Type* type = typing.of(*function.parameters[i]);
    if (holdsFloats(type) && !holdsFunctions(type))
      found.push_back(i);
  }
  return found;
}

std::unique_ptr<Module> withDerivative(const Module& module, const PassContext& context,
                                       std::string_view global, Reverse kind,
                                       const WithRespectTo& wrt) {
  std::unique_ptr<Module> current = copyDeclared(module, context.typing);
  Typing typing = checked(*current, context);
  Builder make(*current, context.operators);
  const Function* made =
      derivativeIn(make, typing, context.findings, *current->find(global), kind, wrt);
  Derivative derivative = kind == Reverse::PullBack ? Derivative::Vjp : Derivative::Grad;
  std::string_view suffix = rowOf(context.operators, derivative).name;
  make.define(freshGlobalName(*current, fmt::format("{}_{}", global, suffix)), made);
  return place(*current, context.operators);
}

std::unique_ptr<Module> withEntryGradient(const Module& module, const PassContext& context,
                                          std::string_view entry, unsigned order) {
  std::unique_ptr<Module> current = copyDeclared(module, context.typing);
  std::string target(entry);
  for (unsigned i = 0; i < order; ++i) {
    Typing typing = checked(*current, context);
    Builder make(*current, context.operators);
    const Global& differentiated = *current->find(target);
    const Function& function = *differentiated.function;
    const Function* made =
        derivativeIn(make, typing, context.findings, differentiated, Reverse::ValueAndSumGradient,
                     {parametersWithGradient(function, typing), /*isTuple=*/true});
    if (context.findings.hasErrors())
      return current;
    const Global* gradient =
        make.define(freshGlobalName(*current, fmt::format("{}_grad", entry)), made);
    bool isLast = i + 1 == order;
    if (i > 0 && isLast)
      gradient = make.define(freshGlobalName(*current, fmt::format("{}_grad", entry)),
                             combined(make, typing, function, {current->find(entry), gradient}));
    else if (!isLast)
      gradient = make.define(freshGlobalName(*current, fmt::format("{}_gradients", entry)),
                             combined(make, typing, function, {gradient}));
    target = gradient->name;
    current = place(*current, context.operators);
  }
  return current;
}

} // namespace transform

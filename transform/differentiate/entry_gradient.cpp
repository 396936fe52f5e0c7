// The gradient of the entry, one order after the other.
#include "transform/differentiate/entry_gradient.h"

#include "lang/ir/copy.h"
#include "lang/ir/differentiable.h"
#include "lang/ir/walk.h"
#include "lang/op/op.h"
#include "transform/analysis/placement.h"
#include "transform/differentiate/pending_derivatives.h"
#include "transform/differentiate/push_forward.h"

#include <algorithm>

#include <fmt/format.h>

namespace transform {

using namespace lang;

namespace {

/// What a function gives of its parameters.
using Result = std::function<Atom(BlockBuilder&, const std::vector<Atom>& parameters)>;

const Function* functionLike(const Function& like, Builder& make, const Typing& typing,
                             const Result& result) {
  std::vector<const Var*> parameters;
  for (const Var* old : like.parameters)
    parameters.push_back(make.var(VarOrigin::Parameter, old->name, typing.of(*old)));
  BlockBuilder body(make);
  Atom given = result(body, {parameters.begin(), parameters.end()});
  return make.function(parameters, body.finish(given), nullptr, typing.generics(like));
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
    throw std::logic_error(fmt::format("a gradient is ill-typed: {}",
                                       diagnostics.all().front().text.plain()));
  return typing;
}

/// A module with all derivatives written out, also those that rules of functions led to, and the
/// global of that name at its end.
std::unique_ptr<Module> finished(const Module& module, const PassContext& context,
                                 std::string_view last) {
  auto made = place(module, context.operators);
  if (context.findings.hasErrors() || !hasUnwritten(*made))
    return made;
  made = findPass("derivatives")->run(*made, context);
  auto found = std::ranges::find(made->globals, last, &Global::name);
  if (found != made->globals.end())
    std::rotate(found, found + 1, made->globals.end());
  return made;
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
  std::string name = freshGlobalName(*current, fmt::format("{}_{}", global, suffix));
  make.define(name, made);
  return finished(*current, context, name);
}

std::unique_ptr<Module> withTangent(const Module& module, const PassContext& context,
                                    std::string_view global, const std::vector<size_t>& along) {
  std::unique_ptr<Module> current = copyDeclared(module, context.typing);
  Typing typing = checked(*current, context);
  Builder make(*current, context.operators);
  PushForward pushForward(make, typing, context.findings);
  const Function* made = pushForward.derivative(*current->find(global), {along, /*isTuple=*/true});
  pushForward.finish();
  std::string_view suffix = rowOf(context.operators, Derivative::Jvp).name;
  std::string name = freshGlobalName(*current, fmt::format("{}_{}", global, suffix));
  make.define(name, made);
  return finished(*current, context, name);
}

namespace {

/// The module with one more global, which is last: what `result` makes of the value of `global` and
/// its tangent along all ones. Null when forward mode does not know the way.
std::unique_ptr<Module> alongOnes(const Module& module, const PassContext& context,
                                  std::string_view global, std::string_view name,
                                  Atom (*result)(BlockBuilder& body, Atom value, Atom tangent)) {
  Diagnostics refused;
  std::vector<size_t> along =
      parametersWithGradient(*module.find(global)->function, context.typing);
  std::unique_ptr<Module> current =
      withTangent(module,
                  {context.operators, context.typing, context.check, refused, context.engine,
                   context.entries, context.keepsSteps},
                  global, along);
  // A rule of one's own that is not linear serves reverse mode alone.
  if (refused.hasErrors())
    return nullptr;
  Typing typing = checked(*current, context);
  Builder make(*current, context.operators);
  const Global& both = *current->globals.back();
  const Function& function = *current->find(global)->function;
  DerivativeTypes types(make, Mode::Forward);
  auto call = [&](BlockBuilder& body, std::vector<Atom> arguments) {
    for (size_t i : along)
      arguments.push_back(types.one(body, arguments[i], typing.of(*function.parameters[i])));
    Atom pair = body.call(&both, arguments);
    return result(body, body.project(pair, 0), body.project(pair, 1));
  };
  make.define(freshGlobalName(*current, name), functionLike(function, make, typing, call));
  return place(*current, context.operators);
}

/// Of what `gradient` gives, which is a value and its gradients, the value and their tangents.
std::unique_ptr<Module> oneStepForward(const Module& module, const PassContext& context,
                                       std::string_view gradient) {
  return alongOnes(module, context, gradient, gradient,
                   [](BlockBuilder& body, Atom value, Atom tangent) -> Atom {
                     return body.tuple({body.project(value, 0), body.project(tangent, 1)});
                   });
}

/// Of what `tangent` gives, which is a tangent beside a value in a tuple, the value and its
/// tangent.
std::unique_ptr<Module> tangentForward(const Module& module, const PassContext& context,
                                       std::string_view tangent) {
  return alongOnes(
      module, context, tangent, tangent, [](BlockBuilder& body, Atom value, Atom next) -> Atom {
        Atom first = body.project(body.project(value, 0), 0);
        return body.tuple({body.tuple({first, body.project(body.project(next, 0), 1)})});
      });
}

bool givesTangent(const Global& global, const Typing& typing) {
  return typing.result(*global.function)->parts.size() == 1;
}

/// Whether a function gives a float, and takes one besides what has no gradient.
bool isOfNumbers(const Function& function, const Typing& typing) {
  auto isNumber = [](const Type* type) {
    return type->isTensor() && type->dtype.isFloat() && type->shape.empty();
  };
  std::vector<size_t> along = parametersWithGradient(function, typing);
  const Type* result = typing.result(function);
  return along.size() == 1 && isNumber(typing.of(*function.parameters[along[0]])) &&
         typing.of(*function.parameters[along[0]]) == result;
}

/// The module with one more global, the value and the gradient of the sum of what `global` gives.
std::unique_ptr<Module> oneStepBackwards(const Module& module, const PassContext& context,
                                         std::string_view global) {
  std::unique_ptr<Module> current = copyDeclared(module, context.typing);
  Typing typing = checked(*current, context);
  Builder make(*current, context.operators);
  const Global& known = *current->find(global);
  const Function* made =
      derivativeIn(make, typing, context.findings, known, Reverse::ValueAndSumGradient,
                   {parametersWithGradient(*known.function, typing), /*isTuple=*/true});
  std::string name = freshGlobalName(*current, fmt::format("{}_grad", global));
  make.define(name, made);
  return context.findings.hasErrors() ? std::move(current) : finished(*current, context, name);
}

} // namespace

std::unique_ptr<Module> withEntryGradient(const Module& module, const PassContext& context,
                                          std::string_view entry, bool mayGoForward) {
  const Function& function = *module.find(entry)->function;
  const Type* result = context.typing.result(function);
  if (!mayGoForward || parametersWithGradient(function, context.typing).empty() ||
      !holdsFloats(result) || holdsFunctions(result))
    return oneStepBackwards(module, context, entry);
  auto made = isOfNumbers(function, context.typing)
                  ? alongOnes(module, context, entry, fmt::format("{}_grad", entry),
                              [](BlockBuilder& body, Atom value, Atom tangent) -> Atom {
                                return body.tuple({value, body.tuple({tangent})});
                              })
                  : alongOnes(module, context, entry, fmt::format("{}_grad", entry),
                              [](BlockBuilder& body, Atom value, Atom tangent) -> Atom {
                                return body.tuple({body.tuple({value, tangent})});
                              });
  return made ? std::move(made) : oneStepBackwards(module, context, entry);
}

bool hasOwnRules(const Module& module) {
  bool has = false;
  walk(
      module, [](const Binding&) {},
      [&](const Operand& operand) {
        const auto* op = operand.value->as<OperatorRef>();
        has |= op && op->row->derivative != Derivative::None;
      });
  return has;
}

std::unique_ptr<Module> withNextGradient(const Module& module, const PassContext& context,
                                         std::string_view gradient, bool mayGoForward,
                                         bool isLast) {
  const bool isOfTangent = givesTangent(*module.find(gradient), context.typing);
  auto forward = !mayGoForward || (isOfTangent && isLast) ? nullptr
                 : isOfTangent ? tangentForward(module, context, gradient)
                               : oneStepForward(module, context, gradient);
  if (forward)
    return forward;
  const auto pairOf = [isOfTangent](BlockBuilder& body, Atom given) {
    return isOfTangent ? body.project(given, 0) : given;
  };
  const auto combined = [&](std::unique_ptr<Module> current, const auto& result) {
    Typing typing = checked(*current, context);
    Builder make(*current, context.operators);
    const Global& first = *current->find(gradient);
    const Global& last = *current->globals.back();
    make.define(freshGlobalName(*current, gradient),
                functionLike(*first.function, make, typing,
                             [&](BlockBuilder& body, const std::vector<Atom>& parameters) {
                               return result(body, body.call(&first, parameters),
                                             body.call(&last, parameters));
                             }));
    return current;
  };
  auto alone =
      combined(copyDeclared(module, context.typing), [&](BlockBuilder& body, Atom first, Atom) {
        return body.project(pairOf(body, first), 1);
      });
  Typing typing = checked(*alone, context);
  auto current = oneStepBackwards(
      *alone,
      {context.operators, typing, context.check, context.findings, context.engine, context.entries},
      std::string(alone->globals.back()->name));
  if (context.findings.hasErrors())
    return current;
  current = combined(std::move(current), [&](BlockBuilder& body, Atom first, Atom last) {
    return body.tuple({body.project(pairOf(body, first), 0), body.project(last, 1)});
  });
  return place(*current, context.operators);
}

} // namespace transform

// Functions: closures with their pull-backs, derivatives of globals, and the derivative that was
// asked for.
#include "transform/adjoint.h"

#include "lang/differentiable.h"

#include <algorithm>

#include <fmt/format.h>

namespace transform {

using namespace lang;

/// Cotangents of variables, each as one atom; they are gathered no further.
std::vector<Atom> Adjoint::packed(std::span<const Var* const> vars, Way& way) {
  std::vector<Atom> parts;
  for (const Var* var : vars) {
    Cotangent sum = take(*var, way);
    parts.push_back(whole(code_.types, way.out, sum, code_.mapped(*var), code_.typing.of(*var)));
  }
  return parts;
}

Atom Adjoint::packOf(const std::vector<Atom>& parts, BlockBuilder& out) const {
  return parts.size() == 1 ? parts.front() : out.tuple(parts);
}

Function* Adjoint::pullBack(Var* incoming, Atom pack, Way& way) {
  return code_.make.function({incoming}, way.out.finish(pack));
}

/// A closure gives its value and its pull-back, which adds to the cells of what is captured.
void Adjoint::forwardFunction(const Binding& binding, const Function& function, BlockBuilder& out) {
  if (isGeneric(function, code_.typing))
    return;
  Var* self = code_.make.var(VarOrigin::Let, binding.var->name.empty() ? "f" : binding.var->name);
  code_.known(*binding.var) = self;
  std::vector<const Var*> parameters, given;
  for (const Var* old : function.parameters) {
    const Type* type = code_.typing.of(*old);
    parameters.push_back(code_.parameter(*old, code_.types.dual(type)));
    code_.known(*old) = parameters.back();
    code_.varied[old] = holdsFloats(type) || holdsFunctions(type);
    if (holdsFloats(type))
      given.push_back(old);
  }
  const Type* result = code_.typing.result(function);
  BlockBuilder body(code_.make);
  Atom value = forward(*function.body, body);
  Var* incoming = code_.make.var(VarOrigin::Parameter, "d", code_.types.cotangent(result));
  Way way{BlockBuilder(code_.make)};
  give(*function.body->result.value, split(way.out, incoming, result), way);
  backward(*function.body, way);
  std::vector<Atom> parts = packed(given, way);
  Step& step = steps_[binding.var];
  for (const auto& [number, gathered] : way.cotangents) {
    const Var& captured = *gathered.first;
    const Type* type = code_.typing.of(captured);
    Atom cell = out.bind(code_.make.refNew(code_.types.zero(out, code_.mapped(captured), type)));
    Atom sum = way.out.let("g", code_.make.refRead(cell));
    Atom more = whole(code_.types, way.out, gathered.second, code_.mapped(captured), type);
    way.out.let("", code_.make.refWrite(cell, code_.types.sum(way.out, sum, more, type)));
    step.cells.emplace_back(&captured, cell);
  }
  Atom pack = packOf(parts, way.out);
  Atom back = body.bind(pullBack(incoming, pack, way));
  const Block* block = body.finish(body.tuple({value, back}));
  out.bind(self, code_.make.function(parameters, block, nullptr, function.generics));
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

Adjoint::Adjoint(Builder& make, const Typing& typing, Diagnostics& findings)
    : code_(make, typing, findings, Mode::Reverse),
      pending_(rowOf(make.operators, Derivative::Vjp).name) {
  code_.writeAtRoot = [this](const Binding& binding) { forward(binding, *code_.root); };
  code_.derivativeOf = [this](const Global& global, std::vector<bool> mask) {
    return pending_.derivativeOf(code_, global, std::move(mask));
  };
}

void Adjoint::reset() {
  code_.reset();
  steps_.clear();
}

void Adjoint::finish() {
  while (auto next = pending_.next())
    if (!code_.findings.hasErrors())
      write(*next);
}

void Adjoint::write(const PendingDerivatives::Item& pending) {
  reset();
  const Function& function = *pending.source->function;
  const Type* result = code_.typing.result(function);
  SourceRange outer = std::exchange(code_.make.range, function.range);
  std::vector<const Var*> parameters, given;
  std::vector<const Type*> givenTypes;
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
  }
  if (isGeneric(function, code_.typing))
    return code_.fail(function.range,
                      fmt::format("`@{}`, which is generic,", pending.source->name));
  BlockBuilder body(code_.make);
  code_.root = &body;
  Atom value = forward(*function.body, body);
  Var* incoming = code_.make.var(VarOrigin::Parameter, "d", code_.types.cotangent(result));
  Way way{BlockBuilder(code_.make)};
  give(*function.body->result.value, split(way.out, incoming, result), way);
  backward(*function.body, way);
  Atom pack = packOf(packed(given, way), way.out);
  Atom back = body.bind(pullBack(incoming, pack, way));
  const Block* block = body.finish(body.tuple({value, back}));
  code_.make.define(pending.target,
                    code_.make.function(parameters, block, code_.types.answer(result, givenTypes),
                                        code_.typing.generics(function)));
  code_.make.range = outer;
}

const Function* Adjoint::derivative(const Function& function, Reverse kind,
                                    const WithRespectTo& wrt) {
  reset();
  std::vector<const Var*> parameters = code_.primalParameters(function), given;
  for (size_t i : wrt.parameters) {
    given.push_back(function.parameters[i]);
    code_.varied[given.back()] = true;
  }
  const Type* type = code_.typing.result(function);
  BlockBuilder body(code_.make);
  code_.root = &body;
  SourceRange outer = std::exchange(code_.make.range, function.range);
  Atom value = forward(*function.body, body);
  if (holdsFunctions(type))
    code_.fail(function.range, "a function that gives functions or references");
  const Expr& result = *function.body->result.value;
  auto pack = [&](Way& way) {
    std::vector<Atom> parts = packed(given, way);
    return wrt.isTuple ? way.out.tuple(parts) : parts.front();
  };
  const Block* block = nullptr;
  if (kind == Reverse::PullBack) {
    Var* incoming = code_.make.var(VarOrigin::Parameter, "d", code_.types.cotangent(type));
    Way way{BlockBuilder(code_.make)};
    give(result, split(way.out, incoming, type), way);
    backward(*function.body, way);
    Atom back = body.bind(pullBack(incoming, pack(way), way));
    block = body.finish(body.tuple({value, back}));
  } else {
    Way way{std::move(body)};
    code_.root = &way.out;
    give(result, split(way.out, code_.types.one(way.out, value, type), type), way);
    backward(*function.body, way);
    Atom gradient = pack(way);
    block = way.out.finish(kind == Reverse::Gradient ? gradient : way.out.tuple({value, gradient}));
  }
  code_.make.range = outer;
  return code_.make.function(parameters, block, nullptr, code_.typing.generics(function));
}

} // namespace transform

// Each function backwards, again and again until no parameter of a global turns out to be useful
// that was not before.
#include "transform/differentiate/usefulness.h"

#include "lang/ir/differentiable.h"
#include "lang/ir/walk.h"
#include "lang/op/op.h"

#include <algorithm>
#include <deque>

namespace transform {

using namespace lang;

const OperatorRow* calledOperator(const Call& call, const Typing& typing) {
  const Expr& callee = *call.callee.value;
  if (const auto* op = callee.as<OperatorRef>())
    return op->row;
  const auto* var = callee.as<Var>();
  const Type* type = var ? typing.of(*var) : nullptr;
  return type && type->kind == TypeKind::Operator ? type->op : nullptr;
}

Usefulness::Usefulness(const Module& module, const Typing& typing)
    : typing_(typing), functions_(functionSearch()) {
  std::unordered_map<const Global*, std::vector<const Global*>> callers;
  std::deque<const Global*> waiting;
  std::unordered_set<const Global*> isWaiting;
  for (const Global* global : module.globals) {
    if (!global->function)
      continue;
    waiting.push_back(global);
    isWaiting.insert(global);
    walk(
        *global->function->body, [](const Binding&) {},
        [&](const Operand& operand) {
          const auto* called = operand.value->as<Global>();
          if (called && (callers[called].empty() || callers[called].back() != global))
            callers[called].push_back(global);
        });
  }
  // Callees first, as most programs define them first.
  auto usefulParameters = [this](const Global& global) {
    return std::ranges::count_if(global.function->parameters,
                                 [this](const Var* each) { return isUseful(*each); });
  };
  while (!waiting.empty()) {
    const Global* global = waiting.front();
    waiting.pop_front();
    isWaiting.erase(global);
    auto before = usefulParameters(*global);
    addFunction(*global->function);
    if (usefulParameters(*global) != before)
      for (const Global* caller : callers[global])
        if (isWaiting.insert(caller).second)
          waiting.push_back(caller);
  }
}

bool Usefulness::passes(const Call& call, size_t argument) const {
  if (const OperatorRow* row = calledOperator(call, typing_)) {
    const auto* none = std::get_if<NoGradient>(&row->gradient);
    bool isIdentity = row->action == Action::Pass || row->action == Action::Show;
    return !none || row->derivative != Derivative::None || !(none->isZero || isIdentity);
  }
  const auto* global = call.callee.value->as<Global>();
  return !global || isParameter(*global, argument);
}

bool Usefulness::isParameter(const Global& global, size_t parameter) const {
  return !global.function || isUseful(*global.function->parameters[parameter]);
}

void Usefulness::add(const Expr& atom) {
  if (atom.as<Var>())
    useful_.insert(&atom);
}

void Usefulness::addFunction(const Function& function) {
  addBlock(*function.body, /*isResultUseful=*/true);
}

void Usefulness::addBlock(const Block& block, bool isResultUseful) {
  if (isResultUseful)
    add(*block.result.value);
  for (size_t i = block.bindings.size(); i-- > 0;)
    addBinding(block.bindings[i]);
}

void Usefulness::addBinding(const Binding& binding) {
  bool isIn = isUseful(*binding.var);
  auto addIf = [&](bool isPart, const Operand& operand) {
    if (isPart)
      add(*operand.value);
  };
  match(
      *binding.value, [&](const Expr& atom) { isIn ? add(atom) : void(); },
      [&](const TupleExpr& tuple) {
        for (const Operand& field : tuple.fields)
          addIf(isIn, field);
      },
      [&](const Project& project) { addIf(isIn, project.tuple); },
      [&](const Call& call) { addCall(call, isIn); },
      [&](const If& branch) {
        addBlock(*branch.thenBlock, isIn);
        addBlock(*branch.elseBlock, isIn);
      },
      [&](const Match& choice) {
        for (const Arm& arm : choice.arms) {
          addBlock(*arm.body, isIn);
          forEachPatternVar(*arm.pattern,
                            [&](const Var& var) { addIf(isUseful(var), choice.scrutinee); });
        }
      },
      [&](const Function& function) { addFunction(function); },
      [&](const RefNew& made) { addIf(true, made.content); },
      [&](const RefRead& read) { addIf(true, read.reference); },
      [&](const RefWrite& write) {
        addIf(true, write.reference);
        addIf(true, write.value);
      },
      [&](const BlockExpr& block) { addBlock(*block.block, isIn); });
}

void Usefulness::addCall(const Call& call, bool isResultUseful) {
  add(*call.callee.value);
  // What is a function or a reference, or gets one, may put its arguments into others.
  auto leadsAnywhere = [&](const Operand& operand) {
    const Type* type = typing_.of(*operand.value);
    return type ? functions_.leadsToLeaf(type) : operand.value->kind == ExprKind::Global;
  };
  bool isUnknown = call.callee.value->as<Var>() && !calledOperator(call, typing_);
  bool isAnyUseful =
      isResultUseful || isUnknown || std::ranges::any_of(call.arguments, leadsAnywhere);
  for (size_t i = 0; i < call.arguments.size(); ++i)
    if (isAnyUseful && passes(call, i))
      add(*call.arguments[i].value);
}

} // namespace transform

// Each kind has its compiler.
#include "vm/bytecode/value_compiler.h"

namespace bytecode {

using namespace lang;

void ValueCompiler::value(Scope& scope, const Binding& binding, bool isLast) {
  lang::match(
      *binding.value, [&](const Expr&) { objects_.atom(scope, binding, *binding.value); },
      [&](const TupleExpr& tuple) {
        objects_.construct(scope, binding, state_.layoutMade(binding), tuple.fields,
                           state_.typeOf(*binding.var)->parts, state_.environment);
      },
      [&](const Project& value) { tuples_.project(scope, binding, value); },
      [&](const Call& value) { call(scope, binding, value, isLast); },
      [&](const If& value) { branches_.branch(scope, binding, value, isLast); },
      [&](const Match& value) { matches_.match(scope, binding, value, isLast); },
      [&](const Function& value) {
        if (!groups_.keep(binding, value))
          objects_.closure(scope, binding, value);
      },
      [&](const RefNew& value) {
        const Type* content = state_.typeOf(*binding.var)->parts[0];
        objects_.construct(scope, binding, state_.made.layouts.cell(state_.rep(content)),
                           {&value.content, 1}, {&content, 1}, state_.environment);
      },
      [&](const RefRead& value) { objects_.readCell(scope, binding, value); },
      [&](const RefWrite& value) { objects_.writeCell(scope, binding, value); },
      [&](const BlockExpr& value) {
        uint16_t target = branches_.targetFor(scope, isLast);
        branches_.inner(scope, binding, *value.block, isLast, target);
        branches_.finish(scope, binding, isLast, target);
      });
}

void ValueCompiler::call(Scope& scope, const Binding& binding, const Call& call, bool isLast) {
  if (const auto* op = call.callee.value->as<OperatorRef>())
    return operators_.call(scope, binding, call, *op->row);
  if (const auto* constructor = call.callee.value->as<Constructor>()) {
    std::vector<const Type*> given, wanted;
    for (size_t i = 0; i < call.arguments.size(); ++i) {
      given.push_back(state_.givenType(*call.arguments[i].value));
      wanted.push_back(fieldType(state_.instances.module.types, constructor->fields[i],
                                 state_.typeOf(*binding.var)));
    }
    calls_.seeFunctions(given, wanted);
    Environment arguments =
        state_.made.layouts.argumentsOf(state_.typeOf(*binding.var), state_.environment);
    return objects_.construct(scope, binding, state_.layoutMade(binding), call.arguments,
                              constructor->fields, arguments);
  }
  const Type* type = state_.typeOf(*call.callee.value);
  if (type && type->op) {
    operators_.call(scope, binding, call, *type->op);
    return holding_.giveUpDying(scope, {&call.callee, 1});
  }
  if (!groups_.call(scope, binding, call))
    calls_.call(scope, binding, call.callee, call.arguments, isLast);
}

} // namespace bytecode

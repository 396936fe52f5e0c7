// Which calls are scalar code, and how their operands come to it.
#include "vm/bytecode/scalar_calls.h"

#include "lang/calls/call_function.h"
#include "lang/op/op.h"

namespace bytecode {

using namespace lang;

/// The tensor expression of a call whose operands and result are scalars, if the machine has its
/// steps.
std::optional<TensorFunction> ScalarCalls::codeOf(const Binding& binding, const Call& call,
                                                  const OperatorRow& row) {
  const Type* result = state_.typeOf(*binding.var);
  if (!isTensorFunction(row) || !state_.rep(result).isScalar() || !result->isTensor() ||
      (state_.made.watching == Watching::Results && result->dtype.isFloat()))
    return std::nullopt;
  std::vector<const Type*> operands;
  for (const Operand& argument : call.arguments) {
    const Type* type = state_.typeOf(*argument.value);
    if (!type || !type->isTensor() || !state_.rep(type).isScalar())
      return std::nullopt;
    operands.push_back(type);
  }
  Attributes defaults{row.attributes, state_.instances.table.defaults(&row)};
  auto function =
      tensorFunctionOf(row, operands, result, call.attributes ? *call.attributes : defaults);
  if (!function || !isScalarCode(*function))
    return std::nullopt;
  return *std::move(function);
}

ScalarOperand ScalarCalls::operandOf(const Operand& operand) const {
  if (const auto* var = operand.value->as<Var>())
    return {std::nullopt, holding_.find(*var)->reg};
  return {scalarBits(constantTensor(*operand.value->as<Constant>())), vm::none};
}

ScalarOperand ScalarCalls::inRegister(const ScalarOperand& operand) {
  if (!operand.bits)
    return operand;
  uint16_t reg = state_.registers.take();
  state_.code.emitLoad(reg, *operand.bits, state_.made.literals);
  holding_.addTemporary(reg);
  return {std::nullopt, reg};
}

bool ScalarCalls::call(Scope& scope, const Binding& binding, const Call& call,
                       const OperatorRow& row) {
  auto function = codeOf(binding, call, row);
  if (!function)
    return false;
  std::vector<ScalarOperand> operands;
  for (const Operand& argument : call.arguments)
    operands.push_back(operandOf(argument));
  ScalarCompiler compiler(state_.code, state_.registers, state_.made.literals, *function,
                          std::move(operands));
  compiler.prepare();
  holding_.freeDying(scope, call.arguments);
  uint16_t reg = holding_.registerFor(scope, binding);
  compiler.finish(reg);
  holding_.define(scope, binding, state_.rep(state_.typeOf(*binding.var)), reg);
  return true;
}

/// What the binding compares, if it is a comparison of scalars and nothing else.
const Comparison* ScalarCalls::comparison(const Binding& binding) {
  auto [found, isNew] = comparisons_.try_emplace(&binding);
  const auto* call = binding.value->as<Call>();
  const auto* op = call ? call->callee.value->as<OperatorRef>() : nullptr;
  if (isNew && op)
    if (auto function = codeOf(binding, *call, *op->row))
      found->second = comparisonOf(*function);
  return found->second ? &*found->second : nullptr;
}

} // namespace bytecode

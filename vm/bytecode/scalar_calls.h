// Calls of operators on scalars, as scalar code.
#pragma once

#include "vm/bytecode/holding.h"
#include "vm/bytecode/scalar_compiler.h"

#include <unordered_map>

namespace bytecode {

class ScalarCalls {
public:
  ScalarCalls(FunctionState& state, Holding& holding) : state_(state), holding_(holding) {}

  /// Compiles the call if it is scalar code; false if it is not.
  bool call(Scope& scope, const Binding& binding, const lang::Call& call,
            const lang::OperatorRow& row);
  const Comparison* comparison(const Binding& binding);
  ScalarOperand operandOf(const Operand& operand) const;
  ScalarOperand inRegister(const ScalarOperand& operand);

private:
  std::optional<tensor::TensorFunction> codeOf(const Binding& binding, const lang::Call& call,
                                               const lang::OperatorRow& row);

  FunctionState& state_;
  Holding& holding_;
  std::unordered_map<const Binding*, std::optional<Comparison>> comparisons_;
};

} // namespace bytecode

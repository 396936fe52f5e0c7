// Operators: those on scalars as scalar code, others by the host, and what some do besides
// computing.
#pragma once

#include "vm/bytecode/parts.h"

namespace bytecode {

class OperatorCompiler {
public:
  explicit OperatorCompiler(Parts& parts)
      : state_(parts.state), holding_(parts.holding), objects_(parts.objects), calls_(parts.calls),
        scalars_(parts.scalars) {}

  void call(Scope& scope, const Binding& binding, const lang::Call& call,
            const lang::OperatorRow& row);
  void callSite(Scope& scope, const Binding& binding, const lang::Call& call, vm::HostSite site,
                std::optional<vm::KernelSite> kernel);

private:
  void showValue(const lang::Call& call, const lang::OperatorRow& row);
  std::vector<uint16_t> givenTo(const Scope& scope, std::span<const Operand> operands) const;
  void callHost(Scope& scope, const Binding& binding, const lang::Call& call,
                const lang::OperatorRow& row);
  void callWithFields(Scope& scope, const Binding& binding, const lang::Call& call,
                      const lang::OperatorRow& row);

  FunctionState& state_;
  Holding& holding_;
  ObjectCompiler& objects_;
  CallCompiler& calls_;
  ScalarCalls& scalars_;
};

} // namespace bytecode

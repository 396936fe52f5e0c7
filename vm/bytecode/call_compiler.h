// Calls of functions and the ends of calls, through registers.
#pragma once

#include "vm/bytecode/argument_passer.h"
#include "vm/bytecode/memory_reuse.h"
#include "vm/bytecode/tuple_fields.h"

namespace bytecode {

class CallCompiler {
public:
  CallCompiler(FunctionState& state, Holding& holding, MemoryReuse& memory, TupleFields& tuples)
      : state_(state), holding_(holding), memory_(memory), tuples_(tuples),
        passer_(state, holding) {}

  void call(Scope& scope, const Binding& binding, const Operand& called,
            std::span<const Operand> arguments, bool isLast);
  bool mayBeTail(const Binding& binding, const lang::Call& call);
  void seeFunctions(lang::Types given, lang::Types wanted);
  void returnValue(Scope& scope, const Operand& result);
  void returnTuple(Scope& scope, const lang::TupleExpr& tuple);

private:
  Callee calleeOf(const Operand& operand, std::span<const Operand> arguments,
                  const Binding& binding);
  void receive(Scope& scope, const Binding& binding, uint16_t reg);
  std::vector<Passing> flatPassings(uint16_t base, std::span<const Rep> fields) const;
  void returnFields(std::vector<Passing> passings, std::span<const Operand> operands,
                    const Callee& callee);

  FunctionState& state_;
  Holding& holding_;
  MemoryReuse& memory_;
  TupleFields& tuples_;
  ArgumentPasser passer_;
};

} // namespace bytecode

// Arguments on their way to a callee, and fields on their way to a caller.
#pragma once

#include "vm/bytecode/holding.h"
#include "vm/bytecode/passing.h"

namespace bytecode {

class ArgumentPasser {
public:
  ArgumentPasser(FunctionState& state, Holding& holding) : state_(state), holding_(holding) {}

  bool isLentByCaller(const Operand& operand);
  std::vector<Passing> passAll(Scope& scope, std::span<const Operand> operands,
                               const Callee& callee);
  uint16_t windowFor(std::span<const Passing> passings);
  void fillWindow(uint16_t base, std::span<const Passing> passings,
                  std::span<const Operand> operands, const Callee& callee);
  void fillFirst(std::vector<Passing> passings, std::span<const Operand> operands,
                 const Callee& callee);
  void freePassed(std::span<const Passing> passings, std::span<const Operand> operands);

private:
  Passing pass(Scope& scope, const Operand& operand, bool isOwned, bool isUsedAgain);
  void putArgument(uint16_t place, const Passing& passing, const Operand& operand,
                   const Callee& callee, size_t i);
  static std::vector<bool> usedAgain(std::span<const Operand> operands, const Callee& callee);

  FunctionState& state_;
  Holding& holding_;
};

} // namespace bytecode

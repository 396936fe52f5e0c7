// Registers and references: who holds what, and when it is given up.
//
// A variable is held in a register: as a scalar, or as a reference that is owned or borrowed. What
// is taken out of an object is borrowed from it until the object is given up; then `open` makes the
// fields that are still needed owned, and the others go with it. A last use that keeps a reference
// moves it, an earlier one retains it (Reinking and others, Perceus).
#pragma once

#include "vm/bytecode/function_state.h"
#include "vm/bytecode/held.h"

namespace bytecode {

class Holding {
public:
  /// What branches start from.
  struct Snapshot {
    HeldVars held;
    std::vector<bool> used;
    size_t firstFree;
    std::vector<const Var*> hidden;
  };

  explicit Holding(FunctionState& state) : state_(state) {}

  const Held* find(const Var& var) const { return held_.find(var); }
  Held& held(const Var& var) { return held_.at(var); }
  Held& hold(const Var& var, Rep rep, uint16_t reg, uint32_t level);
  void holdField(const Var& var, Rep rep, uint16_t reg, const Var& object, size_t field,
                 uint32_t level);
  void copyTo(const Var& var, const Var& value, uint32_t level);
  const Var& scrutinee(Scope& scope, const Operand& operand);
  bool diesAt(const Scope& scope, const Var& var) const;
  std::vector<const Var*> dyingWithBranches(const Scope& outer);
  bool isResult(const Scope& scope, const Binding& binding) const;

  /// A register with the operand, which may be looked at until the instruction is done.
  uint16_t look(const Operand& operand);
  /// A register with a reference that the instruction takes over, or a scalar. `isUsedAgain`: by a
  /// later operand of the same instruction.
  uint16_t take(Scope& scope, const Operand& operand, const lang::Type* wanted,
                const Environment& environment, bool isUsedAgain);
  std::vector<uint16_t> takeAll(Scope& scope, std::span<const Operand> operands, lang::Types types,
                                const Environment& environment);
  /// A register to be free after the operands of the instruction are read.
  void addTemporary(uint16_t reg) { temporaries_.push_back(reg); }
  void freeTemporaries();
  /// Registers of scalars that this instruction uses last may hold its result.
  void freeDying(Scope& scope, std::span<const Operand> operands);
  /// Gives up what the instruction used last and did not take.
  void giveUpDying(Scope& scope, std::span<const Operand> operands);
  void giveUp(const Var& var, std::optional<uint16_t> token = {});
  void keepFields(const Var& var);
  void forget(const Var& var);

  uint16_t registerFor(Scope& scope, const Binding& binding);
  void define(Scope& scope, const Binding& binding, Rep rep, uint16_t reg);
  void checkVar(const Var& var, lang::SourceRange range);

  Snapshot snapshot() const {
    return {held_, state_.registers.used, state_.registers.firstFree, hiddenHeld_};
  }
  void restore(const Snapshot& snapshot);

private:
  std::vector<const Var*> usedLastBy(const Scope& outer) const;

  FunctionState& state_;
  HeldVars held_;
  /// Of variables that nobody wrote, those that are taken apart and may still be held.
  std::vector<const Var*> hiddenHeld_;
  std::vector<uint16_t> temporaries_;
};

} // namespace bytecode

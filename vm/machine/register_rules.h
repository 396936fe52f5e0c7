// What code may do with the registers of a call, for the verifier: each change of what they hold is
// asked here, and what must not be is refused. Registers beyond those of the function are refused,
// too.
#pragma once

#include "vm/machine/register_states.h"

namespace vm {

/// What a register holds that has a value of this representation.
RegisterState stateOf(Rep rep);
/// The representation of what is given and not lent.
Rep owned(Rep rep);

/// Throws runtime::Refused where code does what it may not.
class RegisterRules {
public:
  /// The function must outlive this.
  explicit RegisterRules(const Function& function)
      : function_(function), states_(function.registers) {}

  const RegisterStates& states() const { return states_; }
  void enter(RegisterStates states) { states_ = std::move(states); }

  RegisterState at(uint16_t reg) const;
  /// Whether what a register borrows is alive when this call is over.
  bool isFromOutside(uint16_t reg) const;
  /// What is borrowed from a register, or a field of it. What comes from outside stays so.
  RegisterState lent(uint16_t from, uint16_t field = none) const;

  void scalar(uint16_t reg) const;
  void reference(uint16_t reg) const;
  void demandNothingHeld() const;

  void take(uint16_t reg);
  void takeAs(Rep rep, uint16_t reg);
  /// What is borrowed from a register is gone with what it held. If that is where the new content
  /// was found, it is borrowed from where that was.
  void put(uint16_t reg, RegisterState state);
  void moveTo(uint16_t to, uint16_t from);
  void retain(uint16_t to, uint16_t from);
  void lend(uint16_t to, uint16_t from);

  // Of what was looked at.

  void set(uint16_t reg, RegisterState state) { states_.set(reg, state); }
  void clear(uint16_t reg) { states_.clear(reg); }

private:
  uint16_t sourceOf(uint16_t reg);

  const Function& function_;
  RegisterStates states_;
  /// How often a register was asked from where it borrows.
  size_t steps_ = 0;
};

} // namespace vm

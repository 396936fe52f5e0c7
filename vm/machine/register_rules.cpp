// How often registers are asked from where they borrow is bounded, as somebody may have made up
// code in which each borrows by way of all others.
#include "vm/machine/register_rules.h"

#include "runtime/refused.h"

namespace vm {

using runtime::demand;

RegisterState stateOf(Rep rep) {
  return {rep.isScalar()            ? Holding::Scalar
          : rep.hold == Hold::Owned ? Holding::Owned
                                    : Holding::Borrowed};
}

Rep owned(Rep rep) {
  if (!rep.isScalar())
    rep.hold = Hold::Owned;
  return rep;
}

RegisterState RegisterRules::at(uint16_t reg) const {
  demand(reg < function_.registers, "a register is beyond those of the function");
  return states_.at(reg);
}

bool RegisterRules::isFromOutside(uint16_t reg) const {
  return at(reg).holding == Holding::Borrowed && at(reg).owner == none;
}

RegisterState RegisterRules::lent(uint16_t from, uint16_t field) const {
  if (isFromOutside(from))
    return {Holding::Borrowed};
  return {Holding::Borrowed, from, field};
}

void RegisterRules::scalar(uint16_t reg) const {
  demand(at(reg).holding == Holding::Scalar, "a register holds no scalar");
}

void RegisterRules::reference(uint16_t reg) const {
  demand(at(reg).isReference(), "a register holds no reference");
}

void RegisterRules::demandNothingHeld() const {
  demand(states_.held() == 0, "a call ends with a reference");
}

void RegisterRules::take(uint16_t reg) {
  demand(at(reg).holding == Holding::Owned, "a register owns no reference");
  states_.clear(reg);
}

void RegisterRules::takeAs(Rep rep, uint16_t reg) {
  if (rep.isScalar())
    scalar(reg);
  else
    rep.hold == Hold::Owned ? take(reg) : reference(reg);
}

void RegisterRules::put(uint16_t reg, RegisterState state) {
  demand(!at(reg).mustStay(), "a reference is overwritten");
  bool isFound = state.holding == Holding::Borrowed && state.owner != none;
  uint16_t source = isFound && states_.isLent(reg) ? sourceOf(state.owner) : none;
  states_.clear(reg);
  if (isFound && !states_.at(state.owner).isReference())
    state = {Holding::Borrowed, source};
  states_.set(reg, state);
}

void RegisterRules::moveTo(uint16_t to, uint16_t from) {
  RegisterState moved = at(from);
  demand(moved.holding != Holding::Nothing && moved.holding != Holding::Memory,
         "a register holds nothing");
  if (moved.holding == Holding::Owned)
    take(from);
  else if (moved.holding == Holding::Borrowed)
    moved = lent(from);
  put(to, moved);
}

void RegisterRules::retain(uint16_t to, uint16_t from) {
  reference(from);
  if (to == from) {
    demand(at(to).holding == Holding::Borrowed, "a reference is counted twice in one register");
    states_.set(to, {Holding::Owned});
    return;
  }
  put(to, {Holding::Owned});
}

void RegisterRules::lend(uint16_t to, uint16_t from) {
  reference(from);
  demand(to != from, "a reference is lent to its holder");
  put(to, lent(from));
}

/// The register that owns what is borrowed by way of this one; none when that is outside.
uint16_t RegisterRules::sourceOf(uint16_t reg) {
  constexpr size_t mostSteps = 256;
  for (; reg != none && states_.at(reg).holding == Holding::Borrowed; reg = states_.at(reg).owner)
    demand(++steps_ <= mostSteps * function_.size, "registers borrow by way of too many others");
  return reg;
}

} // namespace vm

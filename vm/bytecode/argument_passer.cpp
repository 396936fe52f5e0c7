// Arguments are moved, lent, retained or loaded into a window of registers.
#include "vm/bytecode/argument_passer.h"
#include "vm/bytecode/atoms.h"

#include <algorithm>

namespace bytecode {

using namespace lang;

/// Says how the argument is passed, and lets go of a variable that is moved.
Passing ArgumentPasser::pass(Scope& scope, const Operand& operand, bool isOwned, bool isUsedAgain) {
  const auto* var = operand.value->as<Var>();
  if (!var)
    return {Passing::Load};
  Held& source = holding_.held(*var);
  bool dies = !isUsedAgain && holding_.diesAt(scope, *var);
  if (source.rep.isScalar())
    return {Passing::Move, source.reg, dies};
  if (!isOwned)
    return {Passing::Lend, source.reg,
            dies && source.rep.hold == Hold::Borrowed && source.fields.empty()};
  bool isMoved = dies && source.rep.hold == Hold::Owned && source.fields.empty();
  if (!isMoved)
    return {Passing::Retain, source.reg, false};
  uint16_t reg = source.reg;
  holding_.forget(*var);
  state_.registers.used[reg] = true;
  return {Passing::Move, reg, true, true};
}

/// The first register of the window: above all that stay in use, and where arguments that are in
/// their places already need not move.
uint16_t ArgumentPasser::windowFor(std::span<const Passing> passings) {
  std::vector<bool> before = state_.registers.used;
  for (const Passing& passing : passings)
    if (passing.isFreed)
      state_.registers.used[passing.from] = false;
  uint16_t base = state_.registers.top();
  std::swap(before, state_.registers.used);
  for (size_t i = 0; i < passings.size(); ++i) {
    size_t place = base + i;
    bool isTaken = place < state_.registers.used.size() && state_.registers.used[place];
    if (isTaken && !(passings[i].isFreed && passings[i].from == place))
      return state_.registers.top();
  }
  for (const Passing& passing : passings)
    if (passing.isFreed && passing.from >= base + passings.size())
      return state_.registers.top();
  return base;
}

/// Puts argument `i` into its place.
void ArgumentPasser::putArgument(uint16_t place, const Passing& passing, const Operand& operand,
                                 const Callee& callee, size_t i) {
  switch (passing.kind) {
  case Passing::Move:
  case Passing::Lend:
    if (passing.from != place)
      state_.code.emit(passing.kind == Passing::Move ? Op::Move : Op::Lend, place, passing.from);
    return;
  case Passing::Retain:
    state_.code.emit(Op::Retain, place, passing.from);
    return;
  case Passing::Load:
    loadAtomTo(state_, place, *operand.value, i < callee.types.size() ? callee.types[i] : nullptr,
               state_.environment);
    bool isScalar =
        operand.value->as<Constant>() && state_.rep(state_.typeOf(*operand.value)).isScalar();
    if (callee.owns(i) && !isScalar)
      state_.code.emit(Op::Retain, place, place);
  }
}

void ArgumentPasser::fillWindow(uint16_t base, std::span<const Passing> passings,
                                std::span<const Operand> operands, const Callee& callee) {
  state_.registers.reserve(base + passings.size());
  for (size_t i = 0; i < passings.size(); ++i)
    putArgument(uint16_t(base + i), passings[i], operands[i], callee, i);
}

/// Puts the arguments of a tail call into the first registers, each when nothing else needs what
/// is there; where they wait for one another in a ring, one of them steps aside.
void ArgumentPasser::fillFirst(std::vector<Passing> passings, std::span<const Operand> operands,
                               const Callee& callee) {
  state_.registers.reserve(passings.size());
  PassingOrder order(passings);
  while (!order.isDone()) {
    if (auto next = order.next()) {
      putArgument(uint16_t(*next), passings[*next], operands[*next], callee, *next);
      continue;
    }
    uint16_t place = order.source();
    uint16_t aside = state_.registers.takeFrom(passings.size());
    state_.code.emit(Op::Move, aside, place);
    order.redirect(place, aside);
  }
}

/// Whether what is lent to the callee outlives this call, so that it may take its place.
bool ArgumentPasser::isLentByCaller(const Operand& operand) {
  const auto* var = operand.value->as<Var>();
  const Held* source = var ? holding_.find(*var) : nullptr;
  while (source && source->rep.hold == Hold::Borrowed && source->parent)
    source = holding_.find(*source->parent);
  return !source || source->rep.hold != Hold::Owned;
}

/// Of each operand, whether it is needed by another one when it is passed: what is lent to the
/// callee stays here until it is done, also if it is given to it as well.
std::vector<bool> ArgumentPasser::usedAgain(std::span<const Operand> operands,
                                            const Callee& callee) {
  struct Uses {
    size_t last;
    bool isLent;
  };
  std::unordered_map<const Expr*, Uses> uses;
  for (size_t i = 0; i < operands.size(); ++i) {
    Uses& own = uses[operands[i].value];
    own = {i, own.isLent || !callee.owns(i)};
  }
  std::vector<bool> isUsedAgain;
  for (size_t i = 0; i < operands.size(); ++i) {
    const Uses& own = uses[operands[i].value];
    isUsedAgain.push_back(own.last > i || (callee.owns(i) && own.isLent));
  }
  return isUsedAgain;
}

std::vector<Passing> ArgumentPasser::passAll(Scope& scope, std::span<const Operand> operands,
                                             const Callee& callee) {
  std::vector<bool> isUsedAgain = usedAgain(operands, callee);
  // What is moved leaves its fields here; they may be moved themselves then.
  auto leavesFields = [&](size_t i) {
    const auto* var = operands[i].value->as<Var>();
    return var && callee.owns(i) && !isUsedAgain[i] && holding_.diesAt(scope, *var) &&
           holding_.held(*var).rep.hold == Hold::Owned && !holding_.held(*var).fields.empty();
  };
  for (bool changes = true; changes;) {
    changes = false;
    for (size_t i = 0; i < operands.size(); ++i)
      if (leavesFields(i)) {
        holding_.keepFields(*operands[i].value->as<Var>());
        changes = true;
      }
  }
  std::vector<Passing> passings;
  for (size_t i = 0; i < operands.size(); ++i)
    passings.push_back(pass(scope, operands[i], callee.owns(i), isUsedAgain[i]));
  return passings;
}

void ArgumentPasser::freePassed(std::span<const Passing> passings,
                                std::span<const Operand> operands) {
  for (size_t i = 0; i < passings.size(); ++i) {
    if (!passings[i].isFreed)
      continue;
    const auto* var = operands[i].value->as<Var>();
    if (var && holding_.find(*var))
      holding_.forget(*var);
    else
      state_.registers.free(passings[i].from);
  }
}

} // namespace bytecode

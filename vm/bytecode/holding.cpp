// How variables come into registers and go again.
#include "vm/bytecode/holding.h"
#include "vm/bytecode/atoms.h"

#include <algorithm>

namespace bytecode {

using namespace lang;

/// Variables that may be held and that the binding of branches uses last in its block, or the one
/// before it: a comparison that the branch does itself used its operands where it stands. They are
/// found among those that are held or among the uses in the branches, of which nests have many,
/// whichever are fewer.
std::vector<const Var*> Holding::usedLastBy(const Scope& outer) const {
  size_t first = outer.at > 0 ? outer.at - 1 : 0;
  size_t most = state_.usage.usesIn(outer.block, first, outer.at);
  std::vector<const Var*> dying;
  const Held* each = held_.from(0);
  for (size_t i = 0; each && i < most; ++i, each = held_.from(each->var->number + size_t(1)))
    if (auto last = state_.usage.last(outer.block, *each->var); last && *last >= first)
      dying.push_back(each->var);
  if (!each)
    return dying;
  dying = state_.usage.dyingAt(outer.block, outer.at);
  if (first < outer.at)
    std::ranges::copy(state_.usage.dyingAt(outer.block, first), std::back_inserter(dying));
  return dying;
}

/// The object that is taken apart, as a variable.
const Var& Holding::scrutinee(Scope& scope, const Operand& operand) {
  if (const auto* var = operand.value->as<Var>())
    return *var;
  const Type* type = state_.typeOf(*operand.value);
  const Var& hidden = state_.hiddenVar(type);
  uint16_t reg = loadAtom(state_, *operand.value, type, state_.environment);
  Rep rep = state_.rep(type);
  if (!rep.isScalar())
    rep.hold = Hold::Borrowed;
  hold(hidden, rep, reg, scope.level);
  hiddenHeld_.push_back(&hidden);
  return hidden;
}

/// A variable for what a field holds, which is borrowed from the object.
void Holding::holdField(const Var& var, Rep rep, uint16_t reg, const Var& object, size_t field,
                        uint32_t level) {
  if (!rep.isScalar())
    rep.hold = Hold::Borrowed;
  Held& made = hold(var, rep, reg, level);
  if (rep.isScalar())
    return;
  made.parent = &object;
  made.field = uint16_t(field);
  held(object).fields.push_back(&var);
}

/// A second name for a value.
void Holding::copyTo(const Var& var, const Var& value, uint32_t level) {
  const Held source = held(value);
  uint16_t reg = state_.registers.take();
  state_.code.emit(source.rep.isScalar() ? Op::Move : Op::Retain, reg, source.reg);
  hold(var, source.rep.isScalar() ? source.rep : reference, reg, level);
  checkVar(var, {});
  if (state_.usage.count(var) == 0)
    giveUp(var);
}

Held& Holding::hold(const Var& var, Rep rep, uint16_t reg, uint32_t level) {
  return held_.at(var) = Held{.var = &var, .rep = rep, .reg = reg, .level = level};
}

/// Whether the binding that is being compiled is the last one that needs the variable.
bool Holding::diesAt(const Scope& scope, const Var& var) const {
  const Held* found = find(var);
  if (!found || found->level != scope.level)
    return false;
  auto last = state_.usage.last(scope.block, var);
  return !last || *last <= scope.at;
}

uint16_t Holding::look(const Operand& operand) {
  if (const auto* var = operand.value->as<Var>())
    return held(*var).reg;
  uint16_t reg =
      loadAtom(state_, *operand.value, state_.typeOf(*operand.value), state_.environment);
  temporaries_.push_back(reg);
  return reg;
}

uint16_t Holding::take(Scope& scope, const Operand& operand, const Type* wanted,
                       const Environment& environment, bool isUsedAgain) {
  const auto* var = operand.value->as<Var>();
  if (!var) {
    uint16_t reg = loadAtom(state_, *operand.value, wanted, environment);
    if (!state_.instances
             .rep(state_.typeOf(*operand.value) ? state_.typeOf(*operand.value) : wanted,
                  environment)
             .isScalar())
      state_.code.emit(Op::Retain, reg, reg);
    temporaries_.push_back(reg);
    return reg;
  }
  Held& source = held(*var);
  if (source.rep.isScalar())
    return source.reg;
  if (source.rep.hold == Hold::Owned && !isUsedAgain && diesAt(scope, *var)) {
    keepFields(*var);
    uint16_t reg = source.reg;
    forget(*var);
    state_.registers.used[reg] = true;
    temporaries_.push_back(reg);
    return reg;
  }
  if (!isUsedAgain && source.fields.empty() && diesAt(scope, *var)) {
    uint16_t reg = source.reg;
    state_.code.emit(Op::Retain, reg, reg);
    forget(*var);
    state_.registers.used[reg] = true;
    temporaries_.push_back(reg);
    return reg;
  }
  uint16_t reg = state_.registers.take();
  temporaries_.push_back(reg);
  state_.code.emit(Op::Retain, reg, source.reg);
  return reg;
}

std::vector<uint16_t> Holding::takeAll(Scope& scope, std::span<const Operand> operands, Types types,
                                       const Environment& environment) {
  std::unordered_map<const Expr*, size_t> lastUses;
  for (size_t i = 0; i < operands.size(); ++i)
    lastUses[operands[i].value] = i;
  std::vector<uint16_t> taken;
  for (size_t i = 0; i < operands.size(); ++i)
    taken.push_back(take(scope, operands[i], i < types.size() ? types[i] : nullptr, environment,
                         lastUses[operands[i].value] > i));
  return taken;
}

void Holding::freeTemporaries() {
  for (uint16_t reg : temporaries_)
    state_.registers.free(reg);
  temporaries_.clear();
}

void Holding::freeDying(Scope& scope, std::span<const Operand> operands) {
  for (const Operand& operand : operands) {
    const auto* var = operand.value->as<Var>();
    if (!var || !diesAt(scope, *var))
      continue;
    if (const Held& source = held(*var); source.rep.isScalar())
      forget(*var);
  }
  freeTemporaries();
}

void Holding::giveUpDying(Scope& scope, std::span<const Operand> operands) {
  for (const Operand& operand : operands)
    if (const auto* var = operand.value->as<Var>(); var && diesAt(scope, *var))
      giveUp(*var);
}

void Holding::forget(const Var& var) {
  Held& gone = held(var);
  const Var* parent = gone.parent;
  state_.registers.free(gone.reg);
  held_.erase(var);
  if (!parent || !find(*parent))
    return;
  Held& owner = held(*parent);
  std::erase(owner.fields, &var);
  if (owner.isOver && owner.fields.empty())
    giveUp(*parent);
}

/// Makes the fields that are borrowed from an object owned, because the object goes elsewhere.
void Holding::keepFields(const Var& var) {
  for (const Var* field : std::vector<const Var*>(held(var).fields)) {
    Held& kept = held(*field);
    kept.parent = nullptr;
    if (!kept.rep.isScalar()) {
      kept.rep.hold = Hold::Owned;
      state_.code.emit(Op::Retain, kept.reg, kept.reg);
    }
    if (kept.isOver)
      giveUp(*field);
  }
  held(var).fields.clear();
}

/// Nothing needs the variable any more. An object whose fields are still borrowed from it is
/// opened, if it is owned, and else stays until they are not.
void Holding::giveUp(const Var& var, std::optional<uint16_t> token) {
  Held& gone = held(var);
  if (gone.rep.hold != Hold::Owned) {
    gone.isOver = true;
    if (gone.fields.empty())
      forget(var);
    return;
  }
  if (gone.fields.empty() && !token) {
    state_.code.emit(Op::Release, gone.reg);
    return forget(var);
  }
  std::vector<uint16_t> kept(state_.made.program.layouts[gone.layout].fields.size(), vm::none);
  std::vector<const Var*> fields = std::move(gone.fields), again;
  gone.fields.clear();
  for (const Var* field : fields) {
    Held& each = held(*field);
    each.parent = nullptr;
    if (each.rep.isScalar())
      continue;
    each.rep.hold = Hold::Owned;
    if (kept[each.field] == vm::none)
      kept[each.field] = each.reg;
    else
      again.push_back(field);
  }
  for (const Var* field : again)
    state_.code.emit(Op::Retain, held(*field).reg, held(*field).reg);
  uint16_t reg = gone.reg, layout = gone.layout;
  if (!state_.code.fuseOpen(reg, layout, token.value_or(vm::none),
                            state_.made.program.layouts[layout].fields, kept))
    state_.code.emitFields(Op::Open, reg, layout, token.value_or(vm::none), kept);
  forget(var);
  if (token)
    state_.registers.take(*token);
  for (const Var* field : fields)
    if (held(*field).isOver)
      giveUp(*field);
}

bool Holding::isResult(const Scope& scope, const Binding& binding) const {
  return scope.at + 1 == scope.block.bindings.size() && scope.block.result.value == binding.var;
}

/// The register for a new variable: where the block's result goes, if it is that.
uint16_t Holding::registerFor(Scope& scope, const Binding& binding) {
  if (isResult(scope, binding) && scope.target != vm::none)
    return scope.target;
  const Usage::Argument* argument = state_.usage.argument(*binding.var);
  if (!argument)
    return state_.registers.take();
  if (argument->isTail && argument->place < state_.registers.used.size() &&
      !state_.registers.used[argument->place]) {
    state_.registers.take(uint16_t(argument->place));
    return uint16_t(argument->place);
  }
  return state_.registers.takeTop();
}

/// The variable is in the register from now on. It goes at once if nothing uses it.
void Holding::define(Scope& scope, const Binding& binding, Rep rep, uint16_t reg) {
  hold(*binding.var, rep, reg, scope.level);
  checkVar(*binding.var, binding.place.isValid() ? binding.place : binding.value->range);
  if (reg != scope.target && !state_.isHidden(*binding.var) && diesAt(scope, *binding.var))
    giveUp(*binding.var);
}

void Holding::checkVar(const Var& var, SourceRange range) {
  const Type* type = state_.isHidden(var) ? nullptr : state_.made.boundaries->typeOf(var);
  if (!type)
    return;
  vm::HostSite site{.kind = SiteKind::Value,
                    .range = range,
                    .check = state_.made.checks->value(state_.function, var)};
  std::vector<uint16_t> operands{held(var).reg};
  std::vector<Rep> reps{held(var).rep};
  if (state_.sizes) {
    operands.push_back(*state_.sizes);
    reps.push_back(reference);
  }
  state_.hostCall(std::move(site), operands, std::move(reps), std::nullopt);
}

/// Variables that are held and that nothing needs behind the binding of branches.
std::vector<const Var*> Holding::dyingWithBranches(const Scope& outer) {
  std::vector<const Var*> dying = usedLastBy(outer);
  std::erase_if(hiddenHeld_, [&](const Var* var) { return !find(*var); });
  std::ranges::copy(hiddenHeld_, std::back_inserter(dying));
  std::erase_if(dying, [&](const Var* var) {
    const Held* each = find(*var);
    return !each || each->isOver || !diesAt(outer, *var);
  });
  std::ranges::sort(dying, {}, &Var::number);
  return dying;
}

void Holding::restore(const Snapshot& snapshot) {
  held_ = snapshot.held;
  state_.registers.used = snapshot.used;
  state_.registers.firstFree = snapshot.firstFree;
  hiddenHeld_ = snapshot.hidden;
}

} // namespace bytecode

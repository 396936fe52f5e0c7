// Registers and references: who holds what, and when it is given up.
#include "vm/bytecode/function_compiler.h"

namespace bytecode {

using namespace lang;

Held& FunctionCompiler::hold(const Var& var, Rep rep, uint16_t reg, uint32_t level) {
  return held_.at(var) = Held{.var = &var, .rep = rep, .reg = reg, .level = level};
}

const Type* FunctionCompiler::typeOf(const Expr& atom) const {
  const auto* var = atom.as<Var>();
  return var && isHidden(*var) ? var->annotation : instances_.typing.of(atom);
}

/// Whether the binding that is being compiled is the last one that needs the variable.
bool FunctionCompiler::diesAt(const Scope& scope, const Var& var) const {
  const Held* found = find(var);
  if (!found || found->level != scope.level)
    return false;
  auto last = usage_.last(scope.block, var);
  return !last || *last <= scope.at;
}

uint16_t FunctionCompiler::look(const Operand& operand) {
  if (const auto* var = operand.value->as<Var>())
    return held(*var).reg;
  uint16_t reg = loadAtom(*operand.value, typeOf(*operand.value), environment_);
  temporaries_.push_back(reg);
  return reg;
}

uint16_t FunctionCompiler::take(Scope& scope, const Operand& operand, const Type* wanted,
                                const Environment& environment, bool isUsedAgain) {
  const auto* var = operand.value->as<Var>();
  if (!var) {
    uint16_t reg = loadAtom(*operand.value, wanted, environment);
    if (!instances_.rep(typeOf(*operand.value) ? typeOf(*operand.value) : wanted, environment)
             .isScalar())
      code_.emit(Op::Retain, reg, reg);
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
    registers_.used[reg] = true;
    temporaries_.push_back(reg);
    return reg;
  }
  if (!isUsedAgain && source.fields.empty() && diesAt(scope, *var)) {
    uint16_t reg = source.reg;
    code_.emit(Op::Retain, reg, reg);
    forget(*var);
    registers_.used[reg] = true;
    temporaries_.push_back(reg);
    return reg;
  }
  uint16_t reg = registers_.take();
  temporaries_.push_back(reg);
  code_.emit(Op::Retain, reg, source.reg);
  return reg;
}

std::vector<uint16_t> FunctionCompiler::takeAll(Scope& scope, std::span<const Operand> operands,
                                                Types types, const Environment& environment) {
  std::unordered_map<const Expr*, size_t> lastUses;
  for (size_t i = 0; i < operands.size(); ++i)
    lastUses[operands[i].value] = i;
  std::vector<uint16_t> taken;
  for (size_t i = 0; i < operands.size(); ++i)
    taken.push_back(take(scope, operands[i], i < types.size() ? types[i] : nullptr, environment,
                         lastUses[operands[i].value] > i));
  return taken;
}

void FunctionCompiler::freeTemporaries() {
  for (uint16_t reg : temporaries_)
    registers_.free(reg);
  temporaries_.clear();
}

void FunctionCompiler::freeDying(Scope& scope, std::span<const Operand> operands) {
  for (const Operand& operand : operands) {
    const auto* var = operand.value->as<Var>();
    if (!var || !diesAt(scope, *var))
      continue;
    if (const Held& source = held(*var); source.rep.isScalar())
      forget(*var);
  }
  freeTemporaries();
}

void FunctionCompiler::giveUpDying(Scope& scope, std::span<const Operand> operands) {
  for (const Operand& operand : operands)
    if (const auto* var = operand.value->as<Var>(); var && diesAt(scope, *var))
      giveUp(*var);
}

void FunctionCompiler::forget(const Var& var) {
  Held& gone = held(var);
  const Var* parent = gone.parent;
  registers_.free(gone.reg);
  held_.erase(var);
  if (!parent || !find(*parent))
    return;
  Held& owner = held(*parent);
  std::erase(owner.fields, &var);
  if (owner.isOver && owner.fields.empty())
    giveUp(*parent);
}

/// Makes the fields that are borrowed from an object owned, because the object goes elsewhere.
void FunctionCompiler::keepFields(const Var& var) {
  for (const Var* field : std::vector<const Var*>(held(var).fields)) {
    Held& kept = held(*field);
    kept.parent = nullptr;
    if (!kept.rep.isScalar()) {
      kept.rep.hold = Hold::Owned;
      code_.emit(Op::Retain, kept.reg, kept.reg);
    }
    if (kept.isOver)
      giveUp(*field);
  }
  held(var).fields.clear();
}

/// Nothing needs the variable any more. An object whose fields are still borrowed from it is
/// opened, if it is owned, and else stays until they are not.
void FunctionCompiler::giveUp(const Var& var, std::optional<uint16_t> token) {
  Held& gone = held(var);
  if (gone.rep.hold != Hold::Owned) {
    gone.isOver = true;
    if (gone.fields.empty())
      forget(var);
    return;
  }
  if (gone.fields.empty() && !token) {
    code_.emit(Op::Release, gone.reg);
    return forget(var);
  }
  std::vector<uint16_t> kept(made_.program.layouts[gone.layout].fields.size(), vm::none);
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
    code_.emit(Op::Retain, held(*field).reg, held(*field).reg);
  uint16_t reg = gone.reg, layout = gone.layout;
  if (!code_.fuseOpen(reg, layout, token.value_or(vm::none), made_.program.layouts[layout].fields,
                      kept))
    code_.emitFields(Op::Open, reg, layout, token.value_or(vm::none), kept);
  forget(var);
  if (token)
    registers_.take(*token);
  for (const Var* field : fields)
    if (held(*field).isOver)
      giveUp(*field);
}

/// Memory that waits for the object which a binding makes.
std::optional<uint16_t> FunctionCompiler::memoryFor(const Scope& scope, size_t binding,
                                                    size_t fields) {
  for (size_t i = 0; i < memory_.size(); ++i)
    if (memory_[i].block == &scope.block && memory_[i].binding == binding &&
        memory_[i].fields == fields) {
      uint16_t reg = memory_[i].reg;
      memory_.erase(memory_.begin() + ptrdiff_t(i));
      return reg;
    }
  return std::nullopt;
}

bool FunctionCompiler::isResult(const Scope& scope, const Binding& binding) const {
  return scope.at + 1 == scope.block.bindings.size() && scope.block.result.value == binding.var;
}

/// The register for a new variable: where the block's result goes, if it is that.
uint16_t FunctionCompiler::registerFor(Scope& scope, const Binding& binding) {
  if (isResult(scope, binding) && scope.target != vm::none)
    return scope.target;
  const Usage::Argument* argument = usage_.argument(*binding.var);
  if (!argument)
    return registers_.take();
  if (argument->isTail && argument->place < registers_.used.size() &&
      !registers_.used[argument->place]) {
    registers_.take(uint16_t(argument->place));
    return uint16_t(argument->place);
  }
  return registers_.takeTop();
}

/// The variable is in the register from now on. It goes at once if nothing uses it.
void FunctionCompiler::define(Scope& scope, const Binding& binding, Rep rep, uint16_t reg) {
  hold(*binding.var, rep, reg, scope.level);
  checkVar(*binding.var, binding.place.isValid() ? binding.place : binding.value->range);
  if (reg != scope.target && !isHidden(*binding.var) && diesAt(scope, *binding.var))
    giveUp(*binding.var);
}

void FunctionCompiler::checkVar(const Var& var, SourceRange range) {
  const Type* type = isHidden(var) ? nullptr : made_.boundaries->typeOf(var);
  if (!type)
    return;
  vm::HostSite site{
      .kind = SiteKind::Value, .range = range, .check = made_.checks->value(function_, var)};
  std::vector<uint16_t> operands{held(var).reg};
  std::vector<Rep> reps{held(var).rep};
  if (sizes_) {
    operands.push_back(*sizes_);
    reps.push_back(reference);
  }
  hostCall(std::move(site), operands, std::move(reps), std::nullopt);
}

uint16_t FunctionCompiler::hostCall(vm::HostSite site, std::span<const uint16_t> operands,
                                    std::vector<Rep> reps, std::optional<Rep> result,
                                    uint16_t reg) {
  auto number = uint32_t(made_.program.sites.size());
  site.operands = std::move(reps);
  site.hasResult = result.has_value();
  site.result = result.value_or(Rep());
  made_.program.sites.push_back(std::move(site));
  if (result && reg == vm::none)
    reg = registers_.take();
  code_.emitList(Op::Host, reg, uint16_t(number), uint16_t(number >> 16), operands);
  return reg;
}

void FunctionCompiler::kernelCall(vm::HostSite site, vm::KernelSite kernel,
                                  std::span<const uint16_t> operands, std::vector<Rep> reps,
                                  Rep result, uint16_t reg) {
  auto number = uint32_t(made_.program.sites.size());
  site.operands = std::move(reps);
  site.result = result;
  site.kernel = uint32_t(made_.program.kernels.size());
  made_.program.kernels.push_back(std::move(kernel));
  made_.program.sites.push_back(std::move(site));
  code_.emitList(Op::Kernel, reg, uint16_t(number), uint16_t(number >> 16), operands);
}

} // namespace bytecode

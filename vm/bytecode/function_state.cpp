// Types, layouts, and what the host is asked for.
#include "vm/bytecode/function_state.h"
#include "lang/op/op.h"
#include "vm/bytecode/type_arguments.h"

namespace bytecode {

using namespace lang;

namespace {

/// Blocks of more bindings than this may be too long for short jumps.
constexpr size_t mostNearBindings = 1500;

} // namespace

FunctionState::FunctionState(Instances& all, const Instance& compiled)
    : instances(all), made(all.made), instance(compiled), environment(compiled.environment),
      function(*compiled.function), checks(made.boundaries->of(function)),
      usage(function, itself(), instances.freeVariables),
      code(usage.bindings() > mostNearBindings) {}

void FunctionState::origin(SourceRange range, const OperatorRow* row, const Call* call) {
  std::vector<vm::Origin>& origins = made.program.origins;
  code.comesFrom(uint32_t(origins.size()));
  const Global* callee = call ? call->callee.value->as<Global>() : nullptr;
  bool isCompared = callee && callee->function && made.boundaries->of(*callee->function);
  origins.push_back({range, row ? operatorNumber(*row) : checks::none,
                     isCompared ? caller(*call) : checks::none});
}

/// The number of an operator's name in the program.
uint32_t FunctionState::operatorNumber(const OperatorRow& row) {
  std::vector<std::string>& names = made.program.operators;
  auto [found, isNew] = made.operators.try_emplace(&row, uint32_t(names.size()));
  if (isNew)
    names.emplace_back(row.name);
  return found->second;
}

/// The number of a call in the program.
uint32_t FunctionState::caller(const Call& call) {
  const auto* callee = call.callee.value->as<Global>();
  uint32_t check = callee ? made.checks->function(*callee->function) : checks::none;
  made.program.callers.push_back({calledFrom(call), check});
  return uint32_t(made.program.callers.size() - 1);
}

const Var& FunctionState::hiddenVar(const Type* type) {
  Var& var = hidden.emplace_back();
  var.kind = ExprKind::Var;
  var.origin = VarOrigin::Temporary;
  var.number = instances.module.varCount + uint32_t(hidden.size());
  var.annotation = type;
  return var;
}

/// The layout of the object that a binding makes, of a constructor or a tuple.
uint16_t FunctionState::layoutMade(const Binding& binding) {
  const Type* type = typeOf(*binding.var);
  if (const auto* call = binding.value->as<Call>())
    return made.layouts.data(*call->callee.value->as<Constructor>(),
                             made.layouts.argumentsOf(type, environment));
  std::vector<Rep> reps;
  for (const Type* part : type->parts)
    reps.push_back(rep(part));
  return made.layouts.tuple(std::move(reps));
}

bool FunctionState::isFlat() const {
  return !instance.isClosure && instance.global && instances.isFlat(*instance.global);
}

const Type* FunctionState::typeOf(const Expr& atom) const {
  const auto* var = atom.as<Var>();
  return var && isHidden(*var) ? var->annotation : instances.typing.of(atom);
}

uint16_t FunctionState::hostCall(vm::HostSite site, std::span<const uint16_t> operands,
                                 std::vector<Rep> reps, std::optional<Rep> result, uint16_t reg) {
  auto number = uint32_t(made.program.sites.size());
  site.operands = std::move(reps);
  site.hasResult = result.has_value();
  site.result = result.value_or(Rep());
  made.program.sites.push_back(std::move(site));
  if (result && reg == vm::none)
    reg = registers.take();
  code.emitList(Op::Host, reg, uint16_t(number), uint16_t(number >> 16), operands);
  return reg;
}

void FunctionState::kernelCall(vm::HostSite site, vm::KernelSite kernel,
                               std::span<const uint16_t> operands, std::vector<Rep> reps,
                               Rep result, uint16_t reg) {
  auto number = uint32_t(made.program.sites.size());
  site.operands = std::move(reps);
  site.result = result;
  site.kernel = uint32_t(made.program.kernels.size());
  made.program.kernels.push_back(std::move(kernel));
  made.program.sites.push_back(std::move(site));
  code.emitList(Op::Kernel, reg, uint16_t(number), uint16_t(number >> 16), operands);
}

const Type* FunctionState::givenType(const Expr& atom) const {
  if (const auto* global = atom.as<Global>())
    return instances.declaredType(*global->function);
  const auto* constructor = atom.as<Constructor>();
  return constructor && !constructor->fields.empty()
             ? constructorType(instances.module.types, *constructor)
             : typeOf(atom);
}

} // namespace bytecode

// Operators: those on scalars as scalar code, others by the host, and what some do besides
// computing.
#include "lang/ir/shown.h"
#include "vm/bytecode/function_compiler.h"
#include "vm/bytecode/kernel_sites.h"

namespace bytecode {

using namespace lang;

void FunctionCompiler::callOperator(Scope& scope, const Binding& binding, const Call& call,
                                    const OperatorRow& row) {
  origin(call.range, &row, &call);
  switch (row.action) {
  case Action::Show:
    showValue(call);
    [[fallthrough]];
  case Action::Pass:
    atom(scope, binding, *call.arguments[0].value);
    giveUpDying(scope, call.arguments);
    return;
  case Action::Nothing:
    giveUpDying(scope, call.arguments);
    return unit(scope, binding);
  case Action::Call:
  case Action::CallInto:
    return callWithFields(scope, binding, call, row);
  case Action::Expand:
    throw std::logic_error("a derivative was not expanded before the run");
  default:
    if (!scalarCall(scope, binding, call, row))
      callHost(scope, binding, call, row);
  }
}

void FunctionCompiler::showValue(const Call& call) {
  uint16_t shown = look(call.arguments[0]);
  runtime::Shown how = shownBy(call);
  vm::HostSite site{.kind = SiteKind::Show, .range = call.range};
  if (how.every > 1)
    site.check = uint32_t(std::min<int64_t>(how.every, checks::none - 1));
  if (!how.label.empty()) {
    site.op = uint32_t(made_.program.operators.size());
    made_.program.operators.emplace_back(how.label);
  }
  hostCall(std::move(site), {&shown, 1}, {rep(typeOf(*call.arguments[0].value))}, std::nullopt);
  freeTemporaries();
}

/// The operands that a call may give up, because nothing needs them behind it.
std::vector<uint16_t> FunctionCompiler::givenTo(const Scope& scope,
                                                std::span<const Operand> operands) const {
  std::vector<uint16_t> given;
  for (size_t i = 0; i < operands.size(); ++i) {
    const auto* var = operands[i].value->as<Var>();
    bool isTwice = std::ranges::count(operands, var, &Operand::value) > 1;
    if (const Held* source = var && !isTwice && diesAt(scope, *var) ? find(*var) : nullptr)
      if (source->rep.hold == Hold::Owned && source->fields.empty())
        given.push_back(uint16_t(i));
  }
  return given;
}

void FunctionCompiler::callHost(Scope& scope, const Binding& binding, const Call& call,
                                const OperatorRow& row) {
  vm::HostSite site{.range = call.range, .op = operatorNumber(row)};
  made_.sites.resize(made_.program.sites.size() + 1);
  made_.sites.back() = {&binding, &row, typeOf(*binding.var)};
  std::vector<const Type*> types;
  for (const Operand& argument : call.arguments)
    types.push_back(typeOf(*argument.value));
  Attributes defaults{row.attributes, instances_.table.defaults(&row)};
  const Attributes& attributes = call.attributes ? *call.attributes : defaults;
  auto kernel = kernelSite(made_.layouts, row, types, typeOf(*binding.var), attributes);
  if (auto native = nativeSite(made_.layouts, row, types, typeOf(*binding.var), attributes)) {
    site.native = uint32_t(made_.program.natives.size());
    made_.program.natives.push_back(*std::move(native));
    made_.sites.back().isNeeded = needsWords(row, types, typeOf(*binding.var));
  }
  callSite(scope, binding, call, std::move(site), std::move(kernel));
}

/// Calls what a site says with operands that it borrows, but for those that nothing needs any more,
/// which it gives up.
void FunctionCompiler::callSite(Scope& scope, const Binding& binding, const Call& call,
                                vm::HostSite site, std::optional<vm::KernelSite> kernel) {
  std::vector<uint16_t> operands;
  std::vector<Rep> reps;
  for (const Operand& argument : call.arguments) {
    operands.push_back(look(argument));
    reps.push_back(rep(typeOf(*argument.value)));
  }
  Rep result = rep(typeOf(*binding.var));
  freeDying(scope, call.arguments);
  uint16_t reg = registerFor(scope, binding);
  site.given = givenTo(scope, call.arguments);
  std::vector<uint16_t> given = site.given;
  if (kernel)
    kernelCall(std::move(site), *std::move(kernel), operands, std::move(reps), result, reg);
  else
    hostCall(std::move(site), operands, std::move(reps), result, reg);
  for (uint16_t i : given)
    forget(*call.arguments[i].value->as<Var>());
  giveUpDying(scope, call.arguments);
  define(scope, binding, result, reg);
}

/// Calls a function with the fields of a tuple, and writes what it gives where the operator says
/// so.
void FunctionCompiler::callWithFields(Scope& scope, const Binding& binding, const Call& call,
                                      const OperatorRow& row) {
  bool writes = row.action == Action::CallInto;
  const Var& tuple = scrutinee(scope, call.arguments[1]);
  const Type* type = typeOf(*call.arguments[1].value);
  std::vector<Rep> reps;
  for (const Type* part : type->parts)
    reps.push_back(rep(part));
  uint16_t layout = made_.layouts.tuple(reps);
  if (held(tuple).layout != layout)
    keepFields(tuple);
  held(tuple).layout = layout;
  std::vector<uint16_t> loaded;
  std::vector<Operand> arguments;
  for (size_t i = 0; i < reps.size(); ++i) {
    const Var& field = hiddenVar(type->parts[i]);
    loaded.push_back(registers_.take());
    holdField(field, reps[i], loaded.back(), tuple, i, scope.level);
    arguments.push_back({&field, call.range});
  }
  if (!loaded.empty())
    code_.emitFields(Op::Fields, held(tuple).reg, layout, 0, loaded);
  if (!writes) {
    callFunction(scope, binding, call.arguments[0], arguments, false);
    return giveUpDying(scope, {&call.arguments[1], 1});
  }
  const Type* function = typeOf(*call.arguments[0].value);
  const Var& result = hiddenVar(function->result);
  Binding inner{&result, binding.value, {}};
  callFunction(scope, inner, call.arguments[0], arguments, false);
  std::vector<uint16_t> operands{held(result).reg, look(call.arguments[2])};
  hostCall({.kind = SiteKind::Deliver, .range = call.range, .op = operatorNumber(row)}, operands,
           {rep(function->result), reference}, std::nullopt);
  giveUp(result);
  giveUpDying(scope, call.arguments);
  freeTemporaries();
  unit(scope, binding);
}

/// The tensor expression of a call whose operands and result are scalars, if the machine has its
/// steps.
std::optional<TensorFunction> FunctionCompiler::scalarCode(const Binding& binding, const Call& call,
                                                           const OperatorRow& row) {
  const Type* result = typeOf(*binding.var);
  if (!row.compute || row.action != Action::Compute || row.shapeNeeds != ShapeNeeds::Shapes ||
      !rep(result).isScalar() || !result->isTensor() ||
      (made_.watching == Watching::Results && result->dtype.isFloat()))
    return std::nullopt;
  std::vector<const Type*> operands;
  for (const Operand& argument : call.arguments) {
    const Type* type = typeOf(*argument.value);
    if (!type || !type->isTensor() || !rep(type).isScalar())
      return std::nullopt;
    operands.push_back(type);
  }
  Attributes defaults{row.attributes, instances_.table.defaults(&row)};
  auto function =
      tensorFunctionOf(row, operands, result, call.attributes ? *call.attributes : defaults);
  if (!function || !isScalarCode(*function))
    return std::nullopt;
  return *std::move(function);
}

ScalarOperand FunctionCompiler::scalarOperand(const Operand& operand) const {
  if (const auto* var = operand.value->as<Var>())
    return {std::nullopt, find(*var)->reg};
  return {scalarBits(constantTensor(*operand.value->as<Constant>())), vm::none};
}

ScalarOperand FunctionCompiler::inRegister(const ScalarOperand& operand) {
  if (!operand.bits)
    return operand;
  uint16_t reg = registers_.take();
  code_.emitLoad(reg, *operand.bits, made_.literals);
  temporaries_.push_back(reg);
  return {std::nullopt, reg};
}

bool FunctionCompiler::scalarCall(Scope& scope, const Binding& binding, const Call& call,
                                  const OperatorRow& row) {
  auto function = scalarCode(binding, call, row);
  if (!function)
    return false;
  std::vector<ScalarOperand> operands;
  for (const Operand& argument : call.arguments)
    operands.push_back(scalarOperand(argument));
  ScalarCompiler compiler(code_, registers_, made_.literals, *function, std::move(operands));
  compiler.prepare();
  freeDying(scope, call.arguments);
  uint16_t reg = registerFor(scope, binding);
  compiler.finish(reg);
  define(scope, binding, rep(typeOf(*binding.var)), reg);
  return true;
}

/// What the binding compares, if it is a comparison of scalars and nothing else.
const Comparison* FunctionCompiler::comparison(const Binding& binding) {
  auto [found, isNew] = comparisons_.try_emplace(&binding);
  const auto* call = binding.value->as<Call>();
  const auto* op = call ? call->callee.value->as<OperatorRef>() : nullptr;
  if (isNew && op)
    if (auto function = scalarCode(binding, *call, *op->row))
      found->second = comparisonOf(*function);
  return found->second ? &*found->second : nullptr;
}

} // namespace bytecode

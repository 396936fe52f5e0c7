// What an operator does is said by the action in its row.
#include "vm/bytecode/operator_compiler.h"
#include "lang/ir/shown.h"
#include "lang/op/op.h"
#include "vm/bytecode/kernel_sites.h"

#include <algorithm>

namespace bytecode {

using namespace lang;

void OperatorCompiler::call(Scope& scope, const Binding& binding, const Call& call,
                            const OperatorRow& row) {
  state_.origin(call.range, &row, &call);
  switch (row.action) {
  case Action::Show:
    showValue(call, row);
    [[fallthrough]];
  case Action::Pass:
    objects_.atom(scope, binding, *call.arguments[0].value);
    holding_.giveUpDying(scope, call.arguments);
    return;
  case Action::Nothing:
    holding_.giveUpDying(scope, call.arguments);
    return objects_.unit(scope, binding);
  case Action::Call:
  case Action::CallInto:
    return callWithFields(scope, binding, call, row);
  case Action::Expand:
    throw std::logic_error("a derivative was not expanded before the run");
  default:
    if (!scalars_.call(scope, binding, call, row))
      callHost(scope, binding, call, row);
  }
}

void OperatorCompiler::showValue(const Call& call, const OperatorRow& row) {
  uint16_t shown = holding_.look(call.arguments[0]);
  runtime::Shown how = shownBy(call, row);
  vm::HostSite site{.kind = how.ends ? SiteKind::Unmatched : SiteKind::Show, .range = call.range};
  if (how.every > 1)
    site.check = uint32_t(std::min<int64_t>(how.every, checks::none - 1));
  if (!how.label.empty()) {
    site.op = uint32_t(state_.made.program.operators.size());
    state_.made.program.operators.emplace_back(how.label);
  }
  state_.hostCall(std::move(site), {&shown, 1},
                  {state_.rep(state_.typeOf(*call.arguments[0].value))}, std::nullopt);
  holding_.freeTemporaries();
}

/// The operands that a call may give up, because nothing needs them behind it.
std::vector<uint16_t> OperatorCompiler::givenTo(const Scope& scope,
                                                std::span<const Operand> operands) const {
  std::vector<uint16_t> given;
  for (size_t i = 0; i < operands.size(); ++i) {
    const auto* var = operands[i].value->as<Var>();
    bool isTwice = std::ranges::count(operands, var, &Operand::value) > 1;
    if (const Held* source =
            var && !isTwice && holding_.diesAt(scope, *var) ? holding_.find(*var) : nullptr)
      if (source->rep.hold == Hold::Owned && source->fields.empty())
        given.push_back(uint16_t(i));
  }
  return given;
}

void OperatorCompiler::callHost(Scope& scope, const Binding& binding, const Call& call,
                                const OperatorRow& row) {
  vm::HostSite site{.range = call.range, .op = state_.operatorNumber(row)};
  state_.made.sites.resize(state_.made.program.sites.size() + 1);
  state_.made.sites.back() = {&binding, &row, state_.typeOf(*binding.var)};
  std::vector<const Type*> types;
  for (const Operand& argument : call.arguments)
    types.push_back(state_.typeOf(*argument.value));
  Attributes defaults{row.attributes, state_.instances.table.defaults(&row)};
  const Attributes& attributes = call.attributes ? *call.attributes : defaults;
  auto kernel =
      kernelSite(state_.made.layouts, row, types, state_.typeOf(*binding.var), attributes);
  if (auto native =
          nativeSite(state_.made.layouts, row, types, state_.typeOf(*binding.var), attributes)) {
    site.native = uint32_t(state_.made.program.natives.size());
    state_.made.program.natives.push_back(*std::move(native));
    state_.made.sites.back().isNeeded = needsWords(row, types, state_.typeOf(*binding.var));
  }
  callSite(scope, binding, call, std::move(site), std::move(kernel));
}

/// Calls what a site says with operands that it borrows, but for those that nothing needs any more,
/// which it gives up.
void OperatorCompiler::callSite(Scope& scope, const Binding& binding, const Call& call,
                                vm::HostSite site, std::optional<vm::KernelSite> kernel) {
  std::vector<uint16_t> operands;
  std::vector<Rep> reps;
  for (const Operand& argument : call.arguments) {
    operands.push_back(holding_.look(argument));
    reps.push_back(state_.rep(state_.typeOf(*argument.value)));
  }
  Rep result = state_.rep(state_.typeOf(*binding.var));
  holding_.freeDying(scope, call.arguments);
  uint16_t reg = holding_.registerFor(scope, binding);
  site.given = givenTo(scope, call.arguments);
  std::vector<uint16_t> given = site.given;
  if (kernel)
    state_.kernelCall(std::move(site), *std::move(kernel), operands, std::move(reps), result, reg);
  else
    state_.hostCall(std::move(site), operands, std::move(reps), result, reg);
  for (uint16_t i : given)
    holding_.forget(*call.arguments[i].value->as<Var>());
  holding_.giveUpDying(scope, call.arguments);
  holding_.define(scope, binding, result, reg);
}

/// Calls a function with the fields of a tuple, and writes what it gives where the operator says
/// so.
void OperatorCompiler::callWithFields(Scope& scope, const Binding& binding, const Call& call,
                                      const OperatorRow& row) {
  bool writes = row.action == Action::CallInto;
  const Var& tuple = holding_.scrutinee(scope, call.arguments[1]);
  const Type* type = state_.typeOf(*call.arguments[1].value);
  std::vector<Rep> reps;
  for (const Type* part : type->parts)
    reps.push_back(state_.rep(part));
  uint16_t layout = state_.made.layouts.tuple(reps);
  if (holding_.held(tuple).layout != layout)
    holding_.keepFields(tuple);
  holding_.held(tuple).layout = layout;
  std::vector<uint16_t> loaded;
  std::vector<Operand> arguments;
  for (size_t i = 0; i < reps.size(); ++i) {
    const Var& field = state_.hiddenVar(type->parts[i]);
    loaded.push_back(state_.registers.take());
    holding_.holdField(field, reps[i], loaded.back(), tuple, i, scope.level);
    arguments.push_back({&field, call.range});
  }
  if (!loaded.empty())
    state_.code.emitFields(Op::Fields, holding_.held(tuple).reg, layout, 0, loaded);
  if (!writes) {
    calls_.call(scope, binding, call.arguments[0], arguments, false);
    return holding_.giveUpDying(scope, {&call.arguments[1], 1});
  }
  const Type* function = state_.typeOf(*call.arguments[0].value);
  const Var& result = state_.hiddenVar(function->result);
  Binding inner{&result, binding.value, {}};
  calls_.call(scope, inner, call.arguments[0], arguments, false);
  std::vector<uint16_t> operands{holding_.held(result).reg, holding_.look(call.arguments[2])};
  state_.hostCall(
      {.kind = SiteKind::Deliver, .range = call.range, .op = state_.operatorNumber(row)}, operands,
      {state_.rep(function->result), reference}, std::nullopt);
  holding_.giveUp(result);
  holding_.giveUpDying(scope, call.arguments);
  holding_.freeTemporaries();
  objects_.unit(scope, binding);
}

} // namespace bytecode

// A group is kept by the variable that names it, or called by its global name.
#include "vm/bytecode/group_compiler.h"
#include "lang/calls/group.h"
#include "lang/op/op.h"

namespace bytecode {

using namespace lang;

namespace {

/// The operators of a group, as the name of its kernel.
std::string nameOf(const Function& group) {
  constexpr size_t longest = 120;
  std::string name;
  for (const Binding& binding : group.body->bindings)
    if (const auto* call = binding.value->as<Call>())
      if (const auto* op = call->callee.value->as<OperatorRef>(); op && name.size() < longest)
        name += (name.empty() ? "" : "+") + std::string(op->row->name);
  return name;
}

} // namespace

/// Notes a literal that is only called, so that it needs no closure.
bool GroupCompiler::keep(const Binding& binding, const Function& function) {
  if (!isGroup(function) || !state_.usage.isOnlyCalled(*binding.var) ||
      !state_.instances.freeVariables[function.number].empty() ||
      !state_.instances.groupKernel(function))
    return false;
  groups_.emplace(binding.var, &function);
  return true;
}

bool GroupCompiler::call(Scope& scope, const Binding& binding, const Call& call) {
  const auto* global = call.callee.value->as<Global>();
  auto kept = groups_.find(call.callee.value);
  const Function* function = kept != groups_.end() ? kept->second
                             : global              ? global->function
                                                   : nullptr;
  const vm::KernelSite* kernel =
      function && isGroup(*function) ? state_.instances.groupKernel(*function) : nullptr;
  if (!kernel)
    return false;
  vm::HostSite site{.range = call.range, .op = uint32_t(state_.made.program.operators.size())};
  state_.made.program.operators.push_back(nameOf(*function));
  state_.made.program.origins.push_back({call.range, site.op, checks::none});
  state_.code.comesFrom(uint32_t(state_.made.program.origins.size() - 1));
  state_.made.sites.resize(state_.made.program.sites.size() + 1);
  operators_.callSite(scope, binding, call, std::move(site), *kernel);
  return true;
}

} // namespace bytecode

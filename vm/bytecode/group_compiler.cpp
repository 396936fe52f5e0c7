// Functions that are marked `Primitive=1`: one kernel each, where their operators make one tensor
// function and what calls them has nothing to compare. Others are functions as any.
#include "lang/calls/group.h"
#include "vm/bytecode/function_compiler.h"
#include "vm/bytecode/kernel_sites.h"

#include <algorithm>

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
bool FunctionCompiler::keepGroup(const Binding& binding, const Function& function) {
  if (!isGroup(function) || !usage_.isOnlyCalled(*binding.var) ||
      !instances_.freeVariables[function.number].empty() || !instances_.groupKernel(function))
    return false;
  groups_.emplace(binding.var, &function);
  return true;
}

bool FunctionCompiler::callGroup(Scope& scope, const Binding& binding, const Call& call) {
  const auto* global = call.callee.value->as<Global>();
  auto kept = groups_.find(call.callee.value);
  const Function* function = kept != groups_.end() ? kept->second
                             : global              ? global->function
                                                   : nullptr;
  const vm::KernelSite* kernel =
      function && isGroup(*function) ? instances_.groupKernel(*function) : nullptr;
  if (!kernel)
    return false;
  vm::HostSite site{.range = call.range, .op = uint32_t(made_.program.operators.size())};
  made_.program.operators.push_back(nameOf(*function));
  made_.program.origins.push_back({call.range, site.op, checks::none});
  code_.comesFrom(uint32_t(made_.program.origins.size() - 1));
  made_.sites.resize(made_.program.sites.size() + 1);
  callSite(scope, binding, call, std::move(site), *kernel);
  return true;
}

} // namespace bytecode

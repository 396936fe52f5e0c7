// The order of checking: strongly connected groups of globals, callees first.
#include "typecheck/check.h"

#include "lang/ir/components.h"
#include "lang/ir/walk.h"
#include "typecheck/infer.h"

namespace typecheck {

using lang::Global;

namespace {

/// Globals that mention each other, those that others mention before them.
std::vector<std::vector<const Global*>> groupsOf(const lang::Module& module) {
  const auto& globals = module.globals;
  std::vector<uint32_t> nodes(globals.size());
  for (uint32_t node = 0; node < globals.size(); ++node)
    nodes[globals[node]->number] = node;
  std::vector<std::vector<uint32_t>> mentions(globals.size());
  for (uint32_t node = 0; node < globals.size(); ++node)
    lang::walk(
        *globals[node]->function->body, [](const lang::Binding&) {},
        [&](const lang::Operand& operand) {
          if (const auto* mentioned = operand.value->as<Global>())
            mentions[node].push_back(nodes[mentioned->number]);
        });
  std::vector<std::vector<const Global*>> groups;
  for (const std::vector<uint32_t>& component : lang::componentsOf(mentions)) {
    groups.emplace_back();
    for (uint32_t node : component)
      groups.back().push_back(globals[node]);
  }
  return groups;
}

} // namespace

lang::Typing checkModule(const lang::Module& module, const lang::OperatorTable& operators,
                         lang::Diagnostics& diagnostics) {
  Inference inference(module, operators, diagnostics);
  for (const auto& group : groupsOf(module))
    inference.inferGroup(group);
  return std::move(inference.typing);
}

} // namespace typecheck

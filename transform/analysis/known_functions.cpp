// Recursion of globals is a circle of mentions; a literal is recursive when its body mentions the
// name that it is bound to.
#include "transform/analysis/known_functions.h"

#include "lang/ir/walk.h"

#include <algorithm>
#include <unordered_map>

namespace transform {

using namespace lang;

void forEachAtom(const Block& block, const std::function<void(const Expr&)>& visit) {
  walk(
      block, [&](const Binding& binding) { forEachAttributeAtom(*binding.value, visit); },
      [&](const Operand& operand) { visit(*operand.value); });
}

size_t bodySize(const Function& function) {
  size_t size = 0;
  walk(
      *function.body, [&](const Binding&) { ++size; }, [](const Operand&) {});
  return size;
}

KnownFunctions::KnownFunctions(const Module& module)
    : bindings_(module.varCount), origins_(module.varCount) {
  walk(
      module, [&](const Binding& binding) { findOrigin(binding); }, [](const Operand&) {});
  findRecursiveGlobals(module);
  findRecursiveLiterals(module);
}

/// What a binding's atoms stand for is known, since they are bound before.
void KnownFunctions::findOrigin(const Binding& binding) {
  bindings_[binding.var->number] = &binding;
  const Expr*& found = origins_[binding.var->number];
  if (binding.value->isAtom())
    found = &origin(*binding.value);
  const auto* project = binding.value->as<Project>();
  const auto* tuple = project ? origin(*project->tuple.value).as<Var>() : nullptr;
  const Binding* made = tuple ? bindings_[tuple->number] : nullptr;
  const auto* fields = made ? made->value->as<TupleExpr>() : nullptr;
  if (fields && project->index < fields->fields.size())
    found = &origin(*fields->fields[project->index].value);
}

KnownFunction KnownFunctions::of(const Expr& atom) const {
  const Expr& known = origin(atom);
  if (const auto* global = known.as<Global>())
    return {global->function, global, nullptr};
  const auto* var = known.as<Var>();
  const Binding* binding = var ? bindings_[var->number] : nullptr;
  const auto* literal = binding ? binding->value->as<Function>() : nullptr;
  return {literal, nullptr, literal ? binding : nullptr};
}

void KnownFunctions::findRecursiveGlobals(const Module& module) {
  // Tarjan's strongly connected components over mentions, on an explicit stack.
  struct Node {
    std::vector<const Global*> mentions = {};
    uint32_t index = 0;
    uint32_t low = 0;
    bool isOpen = false;
    bool isOnPath = false;
  };
  struct Frame {
    const Global* global;
    size_t next = 0;
  };
  std::unordered_map<const Global*, Node> nodes;
  std::vector<const Global*> open;
  std::vector<Frame> path;
  uint32_t count = 0;
  auto enter = [&](const Global* global) {
    Node& node = nodes[global];
    node.index = node.low = ++count;
    node.isOpen = node.isOnPath = true;
    open.push_back(global);
    path.push_back({global});
    std::unordered_set<const Global*> seen;
    forEachAtom(*global->function->body, [&](const Expr& atom) {
      const auto* mentioned = atom.as<Global>();
      if (mentioned && mentioned->function && seen.insert(mentioned).second)
        node.mentions.push_back(mentioned);
    });
    if (seen.contains(global))
      recursive_.insert(global->function);
  };
  auto leave = [&](const Global* global) {
    const Node& node = nodes[global];
    if (node.low != node.index)
      return;
    bool isAlone = open.back() == global;
    for (const Global* member = nullptr; member != global;) {
      member = open.back();
      open.pop_back();
      nodes[member].isOpen = false;
      if (!isAlone)
        recursive_.insert(member->function);
    }
  };
  for (const Global* root : module.globals) {
    if (root->function && !nodes.contains(root))
      enter(root);
    while (!path.empty()) {
      Frame& frame = path.back();
      Node& node = nodes[frame.global];
      if (frame.next < node.mentions.size()) {
        const Global* mentioned = node.mentions[frame.next++];
        if (!nodes.contains(mentioned)) {
          enter(mentioned);
          continue;
        }
        if (nodes[mentioned].isOpen)
          node.low = std::min(node.low, nodes[mentioned].index);
        if (nodes[mentioned].isOnPath)
          closing_.insert(mentioned->function);
        continue;
      }
      const Global* done = frame.global;
      nodes[done].isOnPath = false;
      path.pop_back();
      leave(done);
      if (!path.empty())
        nodes[path.back().global].low = std::min(nodes[path.back().global].low, nodes[done].low);
    }
  }
}

void KnownFunctions::findRecursiveLiterals(const Module& module) {
  // The bodies around an atom are on a stack while the walk is inside of them: a literal is
  // recursive when its variable is mentioned while its binding is open.
  struct Frame {
    const Block* block;
    const Binding* owner;
    size_t next = 0;
  };
  std::vector<Frame> stack;
  std::unordered_set<const Expr*> openVars;
  auto look = [&](const Expr& atom) {
    if (!openVars.contains(&atom))
      return;
    const Expr* value = bindings_[static_cast<const Var&>(atom).number]->value;
    recursive_.insert(static_cast<const Function*>(value));
    closing_.insert(static_cast<const Function*>(value));
  };
  for (const Global* global : module.globals) {
    if (global->function)
      stack.push_back({global->function->body, nullptr});
    while (!stack.empty()) {
      Frame& frame = stack.back();
      if (frame.next == frame.block->bindings.size()) {
        look(*frame.block->result.value);
        if (frame.owner)
          openVars.erase(frame.owner->var);
        stack.pop_back();
        continue;
      }
      const Binding& binding = frame.block->bindings[frame.next++];
      if (binding.value->isAtom())
        look(*binding.value);
      forEachOperand(*binding.value, [&](const Operand& operand) { look(*operand.value); });
      forEachAttributeAtom(*binding.value, look);
      bool isLiteral = binding.value->kind == ExprKind::Function;
      if (isLiteral)
        openVars.insert(binding.var);
      forEachBlock(*binding.value, [&](const Block& block) {
        stack.push_back({&block, isLiteral ? &binding : nullptr});
      });
    }
  }
}

std::unordered_set<const Global*> onlyCalled(const Module& module,
                                             std::span<const Global* const> entries) {
  std::unordered_map<const Expr*, size_t> mentions, calls;
  for (const Global* entry : entries)
    ++mentions[entry];
  for (const Global* global : module.globals)
    if (global->function)
      forEachAtom(*global->function->body, [&](const Expr& atom) { ++mentions[&atom]; });
  walk(
      module,
      [&](const Binding& binding) {
        const auto* call = binding.value->as<Call>();
        const auto* global = call ? call->callee.value->as<Global>() : nullptr;
        if (global && global->function && call->named.empty() &&
            global->function->parameters.size() == call->arguments.size())
          ++calls[global];
      },
      [](const Operand&) {});
  std::unordered_set<const Global*> found;
  for (const Global* global : module.globals)
    if (global->function && mentions[global] == calls[global])
      found.insert(global);
  return found;
}

} // namespace transform

// Globals are looked at callees first, so that a call of one that is not yet known closes a circle.
#include "transform/analysis/effects.h"

#include "lang/ir/walk.h"
#include "lang/op/op.h"

#include <unordered_set>

namespace transform {

using namespace lang;

Effect& Effect::operator|=(const Effect& other) {
  writes |= other.writes;
  reads |= other.reads;
  isUnknown |= other.isUnknown;
  allocates |= other.allocates;
  return *this;
}

namespace {

/// The globals that have functions, callees before callers where there is such an order.
std::vector<const Global*> calleesFirst(const Module& module) {
  struct Frame {
    const Global* global;
    std::vector<const Global*> callees = {};
    size_t next = 0;
  };
  std::vector<const Global*> order;
  std::unordered_set<const Global*> seen;
  std::vector<Frame> path;
  auto enter = [&](const Global* global) {
    if (!global->function || !seen.insert(global).second)
      return;
    path.push_back({global});
    walk(
        *global->function->body, [](const Binding&) {},
        [&](const Operand& operand) {
          if (const auto* callee = operand.value->as<Global>())
            path.back().callees.push_back(callee);
        });
  };
  for (const Global* root : module.globals) {
    enter(root);
    while (!path.empty()) {
      Frame& frame = path.back();
      if (frame.next < frame.callees.size()) {
        enter(frame.callees[frame.next++]);
        continue;
      }
      order.push_back(frame.global);
      path.pop_back();
    }
  }
  return order;
}

} // namespace

Effect effectOf(Action action) {
  switch (action) {
  case Action::Allocate:
    return {.allocates = true};
  case Action::Show:
  case Action::CallInto:
    return {.writes = true};
  default:
    return {};
  }
}

bool writesTensors(const Module& module) {
  bool found = false;
  for (const Global* global : module.globals)
    if (global->function)
      walk(
          *global->function->body, [](const Binding&) {},
          [&](const Operand& operand) {
            const auto* op = operand.value->as<OperatorRef>();
            found |= op && op->row->action == Action::CallInto;
          });
  return found;
}

Effects::Effects(const Module& module)
    : tensorsChange_(writesTensors(module)), bindings_(module.varCount) {
  for (const Global* global : calleesFirst(module)) {
    Effect effect;
    addFunction(*global->function, effect);
    globals_[global] = effect;
  }
}

Effect Effects::of(const Global& global) const {
  auto found = globals_.find(&global);
  return found == globals_.end() ? Effect{.isUnknown = true} : found->second;
}

Effect Effects::ofCall(const Call& call) const {
  const Expr* callee = call.callee.value;
  Effect effect;
  if (const auto* op = callee->as<OperatorRef>()) {
    effect = effectOf(op->row->action);
    effect.reads |= tensorsChange_;
    if (op->row->action != Action::Call && op->row->action != Action::CallInto)
      return effect;
    callee = call.arguments[0].value;
  }
  return effect |= ofCalling(*callee);
}

Effect Effects::ofCalling(const Expr& callee) const {
  if (const auto* global = callee.as<Global>())
    return of(*global);
  if (auto local = locals_.find(&callee); local != locals_.end() && local->second.isKnown)
    return local->second.effect;
  return {.isUnknown = callee.kind != ExprKind::Constructor};
}

/// A variable that is bound to what another function is.
void Effects::addLocal(const Binding& binding) {
  const Expr* same = binding.value->isAtom() ? binding.value : nullptr;
  if (const auto* call = binding.value->as<Call>()) {
    const auto* op = call->callee.value->as<OperatorRef>();
    if (op && op->row->action == Action::Pass)
      same = call->arguments[0].value;
  }
  if (same && (same->kind == ExprKind::Global || locals_.contains(same)))
    locals_[binding.var] = {ofCalling(*same), true};
}

/// What a value does itself, apart from the blocks inside.
Effect Effects::own(const Expr& value) const {
  switch (value.kind) {
  case ExprKind::RefNew:
    return {.allocates = true};
  case ExprKind::RefRead:
    return {.reads = true};
  case ExprKind::RefWrite:
    return {.writes = true};
  case ExprKind::If:
    return {.reads = tensorsChange_};
  case ExprKind::Call:
    return ofCall(static_cast<const Call&>(value));
  default:
    return {};
  }
}

void Effects::addFunction(const Function& root, Effect& result) {
  /// A block in progress, and where what happens in it is added up.
  struct Frame {
    const Block* block;
    Effect* sum;
    /// Whose body the block is, if it is a function literal's.
    Local* local = nullptr;
    size_t next = 0;
  };
  std::vector<Frame> frames{{root.body, &result}};
  while (!frames.empty()) {
    Frame& frame = frames.back();
    Effect* sum = frame.sum;
    if (frame.next > 0)
      *sum |= bindings_[frame.block->bindings[frame.next - 1].var->number];
    if (frame.next == frame.block->bindings.size()) {
      if (frame.local)
        frame.local->isKnown = true;
      frames.pop_back();
      continue;
    }
    const Binding& binding = frame.block->bindings[frame.next++];
    Effect& effect = bindings_[binding.var->number];
    effect = own(*binding.value);
    addLocal(binding);
    // What happens in a function literal happens to those who call it.
    bool isLiteral = binding.value->kind == ExprKind::Function;
    Local* local = isLiteral ? &locals_[binding.var] : nullptr;
    Effect* inner = local ? &local->effect : &effect;
    forEachBlock(*binding.value, [&](const Block& block) {
      frames.push_back({&block, inner, local});
    });
  }
}

} // namespace transform

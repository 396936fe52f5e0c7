// Sizes and uses first, then decisions, then what they leave over.
#include "transform/passes/inlining_plan.h"

#include "lang/ir/walk.h"
#include "transform/analysis/type_parts.h"

#include <algorithm>
#include <functional>

namespace transform {

using namespace lang;

namespace {

/// Bodies that lie in each other's branches, of each round, so that what is printed can be read.
constexpr size_t mostLevels = 100;

/// Whether a binding stands in a block itself, in no block inside of it.
bool standsIn(const Block& block, const Binding& binding) {
  std::less<> isBefore;
  const Binding* first = block.bindings.data();
  return !isBefore(&binding, first) && isBefore(&binding, first + block.bindings.size());
}

/// Whether a body computes numbers and makes data. Where tensors are computed, a call costs nothing
/// beside that, and a trace that memory is short should tell of it.
bool isScalarCode(const Function& function, const Typing& typing) {
  bool isScalar = true;
  walk(
      *function.body,
      [&](const Binding& binding) {
        const auto* call = binding.value->as<Call>();
        const Type* type = typing.of(*binding.var);
        bool isOperator = call && call->callee.value->kind == ExprKind::Operator;
        isScalar &= !isOperator || (type && type->isTensor() && type->shape.empty());
        isScalar &= binding.value->kind != ExprKind::Function;
      },
      [](const Operand&) {});
  return isScalar;
}

} // namespace

InliningPlan::InliningPlan(const Module& module, const Typing& typing,
                           std::span<const Global* const> entries, const InliningRules& rules)
    : known_(module), rules_(rules), uses_(module.varCount) {
  if (rules.quietOnly)
    quiet_.emplace(module, typing);
  for (const Global* global : entries.empty() ? std::span(module.globals) : entries)
    roots_.insert(global);
  size_t size = 0;
  for (const Global* global : module.globals)
    if (global->function) {
      addBody(*global->function);
      size += bodies_[global->function].size;
    }
  countUses(module);
  room_ = rules.mostSize > size ? rules.mostSize - size : 0;
  for (const Global* global : module.globals)
    if (global->function)
      decide(*global->function);
  findDefinitions(module);
  if (!quiet_)
    findUnused(module);
}

KnownFunction InliningPlan::callee(const Binding& binding) {
  const auto* call = binding.value->as<Call>();
  KnownFunction known = call ? known_.of(*call->callee.value) : KnownFunction();
  bool fits = known && known.function->parameters.size() == call->arguments.size() &&
              isTakeable(known) && (!quiet_ || isPlain(binding, *call));
  return fits ? known : KnownFunction();
}

/// Whether nothing that the call takes or gives is compared with its type.
bool InliningPlan::isPlain(const Binding& binding, const Call& call) {
  return quiet_->isPlain(quiet_->typing().of(*binding.var)) &&
         std::ranges::all_of(call.arguments, [&](const Operand& argument) {
           return quiet_->isPlain(quiet_->typing().of(*argument.value));
         });
}

bool InliningPlan::isTakeable(const KnownFunction& known) {
  if (!quiet_)
    return !known_.isRecursive(known);
  auto [found, isNew] = takeable_.try_emplace(known.function, false);
  if (isNew)
    found->second = !known_.closesCircle(known) && bodySize(*known.function) <= rules_.smallBody &&
                    isScalarCode(*known.function, quiet_->typing()) &&
                    quiet_->isQuiet(*known.function);
  return found->second;
}

/// Looks at a function and at the literals inside of it.
void InliningPlan::addBody(const Function& root) {
  bool mayChange = !quiet_ || isSettled(root, quiet_->typing());
  std::vector<const Function*> open{&root};
  while (!open.empty()) {
    const Function& function = *open.back();
    open.pop_back();
    Body& body = bodies_[&function];
    walk(
        *function.body,
        [&](const Binding& binding) {
          ++body.size;
          if (mayChange && callee(binding))
            body.calls.push_back(&binding);
          const auto* literal = binding.value->as<Function>();
          if (literal && &function == &root)
            open.push_back(literal);
        },
        [](const Operand&) {});
  }
}

/// Counts what mentions globals and variables; in a program, in what it may run.
void InliningPlan::countUses(const Module& module) {
  std::vector<const Global*> open;
  std::unordered_set<const Global*> seen;
  auto reach = [&](const Global* global) {
    if (global->function && seen.insert(global).second)
      open.push_back(global);
  };
  for (const Global* global : module.globals) {
    if (!roots_.contains(global))
      continue;
    ++globalUses_[global];
    reach(global);
  }
  while (!open.empty()) {
    const Global* global = open.back();
    open.pop_back();
    forEachAtom(*global->function->body, [&](const Expr& atom) {
      if (const auto* var = atom.as<Var>())
        ++uses_[var->number];
      if (const auto* mentioned = atom.as<Global>()) {
        ++globalUses_[mentioned];
        reach(mentioned);
      }
    });
  }
}

bool InliningPlan::hasOneUse(const KnownFunction& known) const {
  if (known.binding)
    return uses_[known.binding->var->number] <= 1;
  auto count = globalUses_.find(known.global);
  return count == globalUses_.end() || count->second <= 1;
}

void InliningPlan::decide(const Function& root) {
  struct Frame {
    const Function* function;
    size_t next = 0;
  };
  std::vector<Frame> path;
  if (decided_.insert(&root).second)
    path.push_back({&root});
  while (!path.empty()) {
    Frame& frame = path.back();
    Body& body = bodies_[frame.function];
    if (frame.next == body.calls.size()) {
      path.pop_back();
      continue;
    }
    const Binding& call = *body.calls[frame.next];
    KnownFunction known = callee(call);
    if (decided_.insert(known.function).second) {
      path.push_back({known.function});
      continue;
    }
    ++frame.next;
    take(call, known, *frame.function);
  }
}

/// Decides on a call, once: one inside of a literal is also one of the function around it.
void InliningPlan::take(const Binding& call, const KnownFunction& known, const Function& caller) {
  Body& around = bodies_[&caller];
  const Body& body = bodies_[known.function];
  const size_t levels = body.levels + !standsIn(*caller.body, call);
  size_t size = body.size;
  bool isDecided = inlined_.contains(&call) || refused_.contains(&call);
  bool isOnlyUse = hasOneUse(known);
  bool isSmall = size <= rules_.smallBody && size <= room_;
  if (!isDecided && levels <= mostLevels && (isSmall || (isOnlyUse && !quiet_))) {
    room_ -= isOnlyUse ? 0 : size;
    inlined_[&call] = known;
  }
  if (inlined_.contains(&call)) {
    around.size += size;
    around.levels = std::max(around.levels, levels);
  } else {
    refused_.insert(&call);
  }
}

/// The globals that a body mentions other than in calls that go, and the bodies of those calls.
std::vector<const Global*> InliningPlan::mentions(const Block& body,
                                                  std::vector<const Block*>& opened) const {
  std::vector<const Global*> found;
  const Expr* gone = nullptr;
  auto look = [&](const Expr& atom) {
    const auto* global = atom.as<Global>();
    if (&atom == gone)
      gone = nullptr;
    else if (global && global->function)
      found.push_back(global);
  };
  walk(
      body,
      [&](const Binding& binding) {
        forEachAttributeAtom(*binding.value, look);
        const KnownFunction* known = of(binding);
        // The callee is the first operand of its call.
        gone = known ? static_cast<const Call&>(*binding.value).callee.value : nullptr;
        if (known)
          opened.push_back(known->function->body);
      },
      [&](const Operand& operand) { look(*operand.value); });
  return found;
}

/// The functions that are reached other than by calls that go; the others need not be opened.
void InliningPlan::findDefinitions(const Module& module) {
  std::vector<const Block*> open;
  for (const Global* global : module.globals)
    if (global->function && roots_.contains(global)) {
      expanded_.insert(global->function->body);
      open.push_back(global->function->body);
    }
  std::unordered_set<const Block*> seen;
  while (!open.empty()) {
    const Block& body = *open.back();
    open.pop_back();
    if (!seen.insert(&body).second)
      continue;
    for (const Global* global : mentions(body, open)) {
      expanded_.insert(global->function->body);
      open.push_back(global->function->body);
    }
  }
}

/// Lets that only calls used that go. Those that only they use go in the next round.
void InliningPlan::findUnused(const Module& module) {
  std::vector<bool> isUsed(uses_.size());
  std::vector<const Binding*> candidates;
  for (const Global* global : module.globals) {
    if (!global->function)
      continue;
    bool isExpanding = isExpanded(*global->function->body);
    const Expr* gone = nullptr;
    auto use = [&](const Expr& atom) {
      if (&atom == gone)
        gone = nullptr;
      else if (const auto* var = atom.as<Var>())
        isUsed[var->number] = true;
    };
    walk(
        *global->function->body,
        [&](const Binding& binding) {
          forEachAttributeAtom(*binding.value, use);
          gone = of(binding) ? static_cast<const Call&>(*binding.value).callee.value : nullptr;
          bool isFunction =
              binding.value->kind == ExprKind::Function || bool(known_.of(*binding.value));
          if (isExpanding && isFunction && binding.isLet())
            candidates.push_back(&binding);
        },
        [&](const Operand& operand) { use(*operand.value); });
  }
  for (const Binding* binding : candidates)
    if (!isUsed[binding->var->number])
      unused_.insert(binding->var);
}

} // namespace transform

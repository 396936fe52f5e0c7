// The greatest set that satisfies both conditions: all candidates at first, and those that break
// one leave it until none does.
#include "bytecode/flat_results.h"

#include "lang/walk.h"

#include <algorithm>

namespace bytecode {

using namespace lang;

namespace {

/// How a function ends.
struct Ends {
  /// Each way with a new tuple or a call of a global function.
  bool areKnown = true;
  std::vector<const Global*> calls;
};

class FlatResultFinder {
public:
  FlatResultFinder(const Module& module, const Typing& typing, const Boundaries& boundaries)
      : module_(module), typing_(typing), boundaries_(boundaries) {
    size_t count = 0;
    for (const Global* global : module.globals)
      count = std::max(count, global->number + size_t(1));
    ends_.resize(count);
    callees_.resize(count);
    callsUnknown_.resize(count);
    flat_.resize(count);
  }

  std::vector<bool> find(std::span<const Global* const> entries) {
    for (const Global* global : module_.globals)
      if (global->function)
        look(*global);
    for (const Global* global : module_.globals)
      flat_[global->number] =
          std::ranges::count(entries, global) == 0 && global->function && mayBeFlat(*global);
    while (std::ranges::any_of(module_.globals, [&](const Global* global) {
      return global->function && leaves(*global);
    })) {
    }
    return std::move(flat_);
  }

private:
  void look(const Global& global) {
    std::vector<const Global*>& callees = callees_[global.number];
    walk(
        *global.function->body,
        [&](const Binding& binding) {
          const auto* call = binding.value->as<Call>();
          if (call && !call->callee.value->as<Global>() && !call->callee.value->as<Constructor>() &&
              !call->callee.value->as<OperatorRef>())
            callsUnknown_[global.number] = true;
          if (const auto* function = binding.value->as<Function>())
            std::ranges::copy(endsOf(*function).calls, std::back_inserter(closureEnds_));
        },
        [&](const Operand& operand) {
          if (const auto* callee = operand.value->as<Global>())
            callees.push_back(callee);
        });
    std::ranges::sort(callees, {}, &Global::number);
    callees.erase(std::ranges::unique(callees).begin(), callees.end());
    ends_[global.number] = endsOf(*global.function);
  }

  Ends endsOf(const Function& function) const {
    Ends ends;
    std::vector<const Block*> open{function.body};
    while (!open.empty()) {
      const Block& block = *open.back();
      open.pop_back();
      const Binding* last = block.bindings.empty() ? nullptr : &block.bindings.back();
      if (!last || block.result.value != last->var || boundaries_.typeOf(*last->var)) {
        ends.areKnown = false;
        continue;
      }
      const Expr& value = *last->value;
      const auto* call = value.as<Call>();
      const auto* callee = call ? call->callee.value->as<Global>() : nullptr;
      if (callee)
        ends.calls.push_back(callee);
      else if (value.as<If>() || value.as<Match>() || value.as<BlockExpr>())
        forEachBlock(value, [&](const Block& inner) { open.push_back(&inner); });
      else
        ends.areKnown &= value.as<TupleExpr>() != nullptr;
    }
    return ends;
  }

  bool mayBeFlat(const Global& global) const {
    const Type* type = typing_.result(*global.function);
    const FunctionChecks* checks = boundaries_.of(*global.function);
    return type->isTuple() && !type->parts.empty() && type->parts.size() <= mostFlatFields &&
           !(checks && checks->result) && ends_[global.number].areKnown;
  }

  /// Whether a flat function breaks a condition; then it is none any more.
  bool leaves(const Global& global) {
    const std::vector<const Global*>& calls = ends_[global.number].calls;
    if (flat_[global.number]) {
      bool endsFlat =
          std::ranges::all_of(calls, [&](const Global* callee) { return flat_[callee->number]; });
      bool isCycle = std::ranges::find(closureEnds_, &global) != closureEnds_.end() &&
                     reaches(global, nullptr);
      if (!endsFlat || isCycle)
        return flat_[global.number] = false, true;
      return false;
    }
    for (const Global* callee : calls)
      if (flat_[callee->number] && reaches(*callee, &global))
        return flat_[callee->number] = false, true;
    return false;
  }

  /// Whether a call of one function may end up in another, or in a closure.
  bool reaches(const Global& from, const Global* to) const {
    std::vector<bool> seen(flat_.size());
    std::vector<const Global*> open{&from};
    seen[from.number] = true;
    while (!open.empty()) {
      const Global* next = open.back();
      open.pop_back();
      if (next == to || callsUnknown_[next->number])
        return true;
      for (const Global* callee : callees_[next->number])
        if (!seen[callee->number]) {
          seen[callee->number] = true;
          open.push_back(callee);
        }
    }
    return false;
  }

  const Module& module_;
  const Typing& typing_;
  const Boundaries& boundaries_;
  std::vector<Ends> ends_;
  std::vector<std::vector<const Global*>> callees_;
  std::vector<bool> callsUnknown_;
  /// What closures end with a call of.
  std::vector<const Global*> closureEnds_;
  std::vector<bool> flat_;
};

} // namespace

std::vector<bool> findFlatResults(const Module& module, const Typing& typing,
                                  const Boundaries& boundaries,
                                  std::span<const Global* const> entries) {
  return FlatResultFinder(module, typing, boundaries).find(entries);
}

} // namespace bytecode

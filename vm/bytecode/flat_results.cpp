// The greatest set that satisfies both conditions: all candidates at first, and those that break
// one leave it until none does.
#include "vm/bytecode/flat_results.h"

#include "lang/ir/components.h"
#include "lang/ir/walk.h"

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
    endCallers_.resize(count);
    callsUnknown_.resize(count);
    flat_.resize(count);
  }

  std::vector<bool> find(std::span<const Global* const> entries) {
    for (const Global* global : module_.globals)
      if (global->function)
        look(*global);
    findReach();
    for (const Global* global : module_.globals)
      flat_[global->number] =
          std::ranges::count(entries, global) == 0 && global->function && mayBeFlat(*global);
    for (const Global* global : closureEnds_)
      if (reachesUnknown_[global->number])
        flat_[global->number] = false;
    for (const Global* global : module_.globals)
      if (!flat_[global->number])
        open_.push_back(global);
    while (!open_.empty()) {
      const Global& global = *open_.back();
      open_.pop_back();
      leave(global);
    }
    return std::move(flat_);
  }

private:
  void look(const Global& global) {
    std::vector<uint32_t>& callees = callees_[global.number];
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
            callees.push_back(callee->number);
        });
    std::ranges::sort(callees);
    callees.erase(std::ranges::unique(callees).begin(), callees.end());
    ends_[global.number] = endsOf(*global.function);
    for (const Global* callee : ends_[global.number].calls)
      endCallers_[callee->number].push_back(&global);
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

  /// Finds out what calls may end up in each other, or in a closure.
  void findReach() {
    std::vector<uint32_t> open;
    std::vector<std::vector<uint32_t>> callers(callees_.size());
    for (uint32_t number = 0; number < callees_.size(); ++number) {
      for (uint32_t callee : callees_[number])
        callers[callee].push_back(number);
      if (callsUnknown_[number])
        open.push_back(number);
    }
    reachesUnknown_ = callsUnknown_;
    while (!open.empty()) {
      uint32_t number = open.back();
      open.pop_back();
      for (uint32_t caller : callers[number])
        if (!reachesUnknown_[caller]) {
          reachesUnknown_[caller] = true;
          open.push_back(caller);
        }
    }
    component_.resize(callees_.size());
    uint32_t component = 0;
    for (const std::vector<uint32_t>& members : componentsOf(callees_)) {
      for (uint32_t member : members)
        component_[member] = component;
      ++component;
    }
  }

  /// What a function that is not flat means for others: those that end with a call of it are not
  /// flat either, nor is what it ends with a call of, if that may come back to it.
  void leave(const Global& global) {
    auto drop = [&](const Global* other) {
      if (flat_[other->number])
        open_.push_back(other);
      flat_[other->number] = false;
    };
    std::ranges::for_each(endCallers_[global.number], drop);
    for (const Global* callee : ends_[global.number].calls)
      if (reachesUnknown_[callee->number] ||
          component_[callee->number] == component_[global.number])
        drop(callee);
  }

  const Module& module_;
  const Typing& typing_;
  const Boundaries& boundaries_;
  std::vector<Ends> ends_;
  /// By Global::number: what is mentioned, and who ends with a call of it.
  std::vector<std::vector<uint32_t>> callees_;
  std::vector<std::vector<const Global*>> endCallers_;
  std::vector<bool> callsUnknown_, reachesUnknown_;
  std::vector<uint32_t> component_;
  /// What closures end with a call of.
  std::vector<const Global*> closureEnds_;
  std::vector<bool> flat_;
  /// Functions that are not flat, and for which `leave` is still to be done.
  std::vector<const Global*> open_;
};

} // namespace

std::vector<bool> findFlatResults(const Module& module, const Typing& typing,
                                  const Boundaries& boundaries,
                                  std::span<const Global* const> entries) {
  return FlatResultFinder(module, typing, boundaries).find(entries);
}

} // namespace bytecode

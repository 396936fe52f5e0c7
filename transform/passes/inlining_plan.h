// Which calls inlining opens, decided for callees before callers: a body is taken with all that was
// taken into it.
#pragma once

#include "transform/analysis/known_functions.h"
#include "transform/analysis/quiet_code.h"

#include <optional>
#include <unordered_map>

namespace transform {

struct InliningRules {
  /// The most bindings of a body that is taken into several calls.
  size_t smallBody;
  /// A module that has more bindings takes only bodies that have no other call.
  size_t mostSize;
  /// Takes only small bodies of scalar code that is quiet, also of functions that call each other
  /// in a circle, of which one is left.
  bool quietOnly = false;
};

class InliningPlan {
public:
  /// `entries` are called from outside; where there are none, everything is.
  InliningPlan(const lang::Module& module, const lang::Typing& typing,
               std::span<const lang::Global* const> entries, const InliningRules& rules);

  bool isEmpty() const { return inlined_.empty() && unused_.empty(); }
  /// Whether all that is taken is quiet.
  bool isQuiet() const { return quiet_.has_value(); }
  /// The function whose body takes the place of a call, or null.
  const KnownFunction* of(const lang::Binding& binding) const {
    auto found = inlined_.find(&binding);
    return found == inlined_.end() ? nullptr : &found->second;
  }
  /// Whether calls in the definition with that body are opened.
  bool isExpanded(const lang::Block& body) const { return expanded_.contains(&body); }
  /// Whether a let is a name for a function that nothing calls by it any more.
  bool isUnused(const lang::Var& var) const { return unused_.contains(&var); }

private:
  /// The calls of one function body that could be opened, and with those that are, how large it is
  /// and how many bodies lie in each other's branches.
  struct Body {
    std::vector<const lang::Binding*> calls = {};
    size_t size = 0;
    size_t levels = 0;
  };

  KnownFunction callee(const lang::Binding& binding);
  bool isTakeable(const KnownFunction& known);
  bool isPlain(const lang::Binding& binding, const lang::Call& call);
  void addBody(const lang::Function& root);
  void countUses(const lang::Module& module);
  bool hasOneUse(const KnownFunction& known) const;
  void decide(const lang::Function& root);
  void take(const lang::Binding& call, const KnownFunction& known, const lang::Function& caller);
  void findDefinitions(const lang::Module& module);
  std::vector<const lang::Global*> mentions(const lang::Block& body,
                                            std::vector<const lang::Block*>& opened) const;
  void findUnused(const lang::Module& module);

  KnownFunctions known_;
  const InliningRules rules_;
  std::optional<QuietCode> quiet_;
  /// By callee.
  std::unordered_map<const lang::Function*, bool> takeable_;
  std::unordered_set<const lang::Global*> roots_;
  /// By Var::number.
  std::vector<size_t> uses_;
  std::unordered_map<const lang::Global*, size_t> globalUses_;
  std::unordered_map<const lang::Function*, Body> bodies_;
  std::unordered_set<const lang::Function*> decided_;
  /// How many bindings the module may still get.
  size_t room_ = 0;
  std::unordered_map<const lang::Binding*, KnownFunction> inlined_;
  std::unordered_set<const lang::Binding*> refused_;
  std::unordered_set<const lang::Block*> expanded_;
  std::unordered_set<const lang::Var*> unused_;
};

} // namespace transform

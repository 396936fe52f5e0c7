// Deforestation: chains of functions over data run without the data between them.
//
//   def @main(%n: int32) {                    def @main(%n: int32) {
//     @sum(@map(fn (%x: int32) { %x * %n },     @sum_map_filter(%xs, %n)
//          @filter(@isOdd, %xs)))           =>  }
//   }                                         def @foldl_map_filter(%total, %xs, %n) {
//                                               match (%xs) {
//                                                 Cons(%x, %rest) =>
//                                                   if (@isOdd(%x)) {
//                                                     @foldl_map_filter(%total + %x * %n, %rest,
//                                                     %n)
//                                                   } else { @foldl_map_filter(%total, %rest, %n)
//                                                   },
//                                                 Nil => %total,
//                                               }
//                                             }
//
// No function is known by its name: a chain is a call whose argument, which nothing else uses, is
// the value of another call, where the callee matches on that parameter at once (chain_facts.h).
// What comes of it, driving finds out (driving.h); it is kept if some constructor need not be made.
//
// Evaluation is strict, so fusing two functions lets their steps alternate, and leaves out those of
// the producer whose results are not wanted. Nobody can tell, because all code of both, functions
// that they are given included, is quiet (transform/analysis/quiet_code.h): it has no effects, it
// has no faults, and what it is given hides no code. Quiet code may run forever: then the program
// without the fusion never gave a value. But nothing may come before that in the new one that did
// not in the old one: so what stands between the producer and the call must have no effect that
// keeps its place.
//
// Producers that build their result in a parameter, as reversing does, give nothing to match on
// before they are done; they stay.
#include "lang/ir/rewrite.h"
#include "transform/analysis/effects.h"
#include "transform/analysis/placement.h"
#include "transform/analysis/type_parts.h"
#include "transform/deforest/driving.h"
#include "transform/passes.h"

#include <unordered_set>

namespace transform {

using namespace lang;

namespace {

/// How many calls one chain joins.
constexpr size_t longestChain = 8;

const Call* globalCall(const Binding& binding) {
  const auto* call = binding.value->as<Call>();
  const auto* callee = call ? call->callee.value->as<Global>() : nullptr;
  bool isWhole =
      callee && callee->function && callee->function->parameters.size() == call->arguments.size();
  return isWhole && call->named.empty() ? call : nullptr;
}

/// Finds the chains of a module, and writes what they become, in the old module's words.
class Chains {
public:
  Chains(const Module& module, const Typing& typing, Builder& scratch)
      : module_(module), facts_(module, typing), effects_(module), driving_(facts_, scratch) {}

  void find() {
    for (const Global* global : module_.globals)
      if (global->function && isSettled(*global->function, facts_.typing)) {
        lookAt(*global->function->body);
        walk(
            *global->function->body,
            [&](const Binding& binding) {
              forEachBlock(*binding.value, [&](const Block& block) { lookAt(block); });
            },
            [](const Operand&) {});
      }
    for (const Residual& residual : residuals())
      names_.insert(residual.name);
  }

  std::span<const Residual> residuals() const { return driving_.residuals(); }
  bool isResidual(const Global& global) const { return names_.contains(&global); }
  /// The call in the place of what a variable is bound to, or null.
  const Expr* changed(const Var& var) const {
    auto found = changed_.find(&var);
    return found == changed_.end() ? nullptr : found->second;
  }
  bool isGone(const Var& var) const { return gone_.contains(&var); }

private:
  /// The block at hand, and where its variables are bound.
  struct Place {
    const Block& block;
    std::unordered_map<const Expr*, size_t> index = {};
    /// How many bindings before each keep their place among others.
    std::vector<size_t> ordered = {};
  };

  void lookAt(const Block& block) {
    Place place{block};
    bool isChained = false;
    for (size_t i = 0; i < block.bindings.size(); ++i) {
      place.index[block.bindings[i].var] = i;
      if (const Call* call = globalCall(block.bindings[i]))
        isChained |= std::ranges::any_of(call->arguments, [&](const Operand& argument) {
          auto found = place.index.find(argument.value);
          return found != place.index.end() && globalCall(block.bindings[found->second]);
        });
    }
    if (!isChained)
      return;
    size_t ordered = 0;
    for (const Binding& binding : block.bindings) {
      place.ordered.push_back(ordered);
      ordered += isOrdered(binding);
    }
    for (size_t i = block.bindings.size(); i-- > 0;) {
      const Binding& binding = block.bindings[i];
      if (globalCall(binding) && !gone_.contains(binding.var))
        tryChain(place, i);
    }
  }

  /// Calls that may not end are ordered; quiet ones among them do nothing that could be missed.
  bool isOrdered(const Binding& binding) {
    const Call* call = globalCall(binding);
    bool isQuiet = call && facts_.quiet.isQuiet(*call->callee.value->as<Global>());
    return effects_.of(*binding.var).isOrdered() && !isQuiet;
  }

  void tryChain(const Place& place, size_t index) {
    std::vector<const Binding*> producers;
    const Term* term = nullptr;
    try {
      term = chainAt(place, index, index, producers, 0);
    } catch (const GaveUp&) {
      return;
    }
    const Call* fused = term && !producers.empty() ? driving_.fused(*term) : nullptr;
    if (!fused)
      return;
    changed_[place.block.bindings[index].var] = fused;
    for (const Binding* producer : producers)
      gone_.insert(producer->var);
  }

  /// The call that a binding is, with those that make its arguments.
  const Term* chainAt(const Place& place, size_t index, size_t consumer,
                      std::vector<const Binding*>& producers, size_t level) {
    const Binding& binding = place.block.bindings[index];
    const CodePlace here{nullptr, &facts_.plain};
    const Term* known = driving_.callOf(binding, here);
    if (!known || known->kind != TermKind::Call)
      throw GaveUp();
    Term whole = *known;
    const auto& call = static_cast<const Call&>(*binding.value);
    for (size_t i = 0; i < whole.parts.size() && level < longestChain; ++i) {
      size_t made = producer(place, *call.arguments[i].value, consumer);
      if (made == place.block.bindings.size() || !facts_.isTakenApart(*whole.callee, i))
        continue;
      whole.parts[i] = chainAt(place, made, consumer, producers, level + 1);
      producers.push_back(&place.block.bindings[made]);
    }
    return facts_.keep(std::move(whole));
  }

  /// Which binding makes an argument by a call for this use alone; the size of the block if none.
  size_t producer(const Place& place, const Expr& argument, size_t consumer) const {
    const size_t none = place.block.bindings.size();
    const auto* var = argument.as<Var>();
    auto found = var ? place.index.find(var) : place.index.end();
    if (found == place.index.end() || facts_.mentions(*var) != 1 ||
        !globalCall(place.block.bindings[found->second]))
      return none;
    bool isNear = place.ordered[found->second] == place.ordered[consumer];
    const Type* type = facts_.typing.of(*var);
    return isNear && type && type->kind == TypeKind::Data ? found->second : none;
  }

  const Module& module_;
  ChainFacts facts_;
  Effects effects_;
  Driving driving_;
  std::unordered_map<const Var*, const Call*> changed_;
  std::unordered_set<const Var*> gone_;
  std::unordered_set<const Global*> names_;
};

class Deforester : public Rewriter {
public:
  Deforester(const Module& from, Builder& into, const Chains& chains)
      : Rewriter(from, into), chains_(chains) {}

  /// Writes the functions of chains behind the others.
  void addResiduals() {
    for (const Residual& residual : chains_.residuals())
      make.define(globalOf(*residual.name), function(*residual.function));
  }

  /// How `place` may change what was written: all code of chains is quiet.
  PlacementRules placementRules() const {
    PlacementRules rules{.keepsFaults = true};
    for (const auto& [name, global] : globals_)
      rules.faultless.insert(global->name);
    return rules;
  }

private:
  std::span<const Binding> bindingsOf(const Block& block) override {
    auto isOther = [&](const Binding& binding) {
      return chains_.isGone(*binding.var) || chains_.changed(*binding.var);
    };
    if (std::ranges::none_of(block.bindings, isOther))
      return block.bindings;
    std::vector<Binding> list;
    for (const Binding& binding : block.bindings) {
      const Expr* changed = chains_.changed(*binding.var);
      if (!chains_.isGone(*binding.var))
        list.push_back({binding.var, changed ? changed : binding.value, binding.place});
    }
    return arena_.copy(list);
  }

  Atom atom(const Expr& old) override {
    const auto* global = old.as<Global>();
    return global && chains_.isResidual(*global) ? globalOf(*global) : Rewriter::atom(old);
  }

  Global* globalOf(const Global& name) {
    Global*& global = globals_[&name];
    return global ? global : global = make.declare(name.name);
  }

  Arena arena_;
  const Chains& chains_;
  std::unordered_map<const Global*, Global*> globals_;
};

/// Whether some call of a global takes data that only it is given, from a call of a global in the
/// same block. Quick, and true where the pass may still change nothing.
bool hasChains(const Module& module, const Typing& typing) {
  std::unordered_set<const Expr*> made;
  bool found = false;
  walk(
      module,
      [&](const Binding& binding) {
        const Call* call = globalCall(binding);
        if (!call)
          return;
        for (const Operand& argument : call->arguments)
          found |= made.contains(argument.value);
        const Type* type = typing.of(*binding.var);
        if (type && type->kind == TypeKind::Data)
          made.insert(binding.var);
      },
      [](const Operand&) {});
  return found;
}

} // namespace

std::unique_ptr<Module> deforest(const Module& module, const PassContext& context) {
  if (!hasChains(module, context.typing))
    return nullptr;
  Module own(module.types);
  own.varCount = module.varCount;
  own.functionCount = module.functionCount;
  Builder scratch(own, context.operators);
  Chains chains(module, context.typing, scratch);
  chains.find();
  if (chains.residuals().empty())
    return nullptr;
  Module copy(module.types);
  Builder make(copy, context.operators);
  Deforester deforester(module, make, chains);
  deforester.module();
  deforester.addResiduals();
  return place(copy, context.operators, deforester.placementRules());
}

} // namespace transform

// Inlining: calls of known functions become their bodies.
//
//   def @twice(%x: float32) { %x * 2f }
//   def @main(%y: float32) {                     def @main(%y: float32) {
//     let %f = fn (%z) { @twice(%z) + %y };  =>    %0 = multiply(%y, 2f);
//     %f(%y)                                       add(%0, %y)
//   }                                            }
//
// Known is a global that cannot call itself, and a literal in scope that does not, also by other
// names and as a field of a tuple. A body is taken where it is small or has no other call, and
// while the module has room to grow, so chains of functions that call the next one twice do not
// explode. Definitions stay, and those that only calls reached that are gone now stay as they were.
// A body may show what else is known, so this is done in rounds.
//
// Arguments are atoms, so a body in the place of a call does what the call did, in the same order.
// Parameters are atoms too, unless they declare sizes that the argument's type has not. `?` in a
// declared type is left out, as it would weaken the argument's; where the program is well typed
// only because of it, the names stay in a second try.
//
// `inline-quiet` is the same for machines, where faults count: calls that a trace would tell of
// stay, and all faults stay in order.
#include "lang/ir/copy.h"
#include "lang/ir/rewrite.h"
#include "lang/ir/walk.h"
#include "lang/types/type_text.h"
#include "transform/analysis/instance.h"
#include "transform/analysis/placement.h"
#include "transform/analysis/type_parts.h"
#include "transform/differentiate/pending_derivatives.h"
#include "transform/passes.h"
#include "transform/passes/inlining_plan.h"
#include "transform/passes/specialise.h"
#include "transform/run_passes.h"

#include <algorithm>

#include <fmt/format.h>

namespace transform {

using namespace lang;

namespace {

constexpr size_t mostRounds = 12;

/// A call becomes a binding for each parameter, which is what the argument is, and a block that is
/// opened into the one around it.
class Inliner : public Rewriter {
public:
  Inliner(const Module& from, Builder& into, const Typing& typing, const InliningPlan& plan,
          bool keepsOpen)
      : Rewriter(from, into), typing_(typing), plan_(plan), keepsOpen_(keepsOpen) {
    findVague(from);
    for (const Global* global : from.globals)
      if (global->function) {
        roots_.insert(global->function->body);
        auto names = declaredNames(*global->function, [](const Type* type) { return type; });
        for (const Dim* dim : names->dims)
          sizeNames_.emplace(dim->name);
      }
  }

private:
  struct Site {
    const KnownFunction* callee;
    const Call* call;
    const Binding* binding;
  };

  std::span<const Binding> bindingsOf(const Block& block) override {
    // Definitions are copied one after the other, and a body in another one is not opened as one.
    if (instances_.empty() && roots_.contains(&block))
      isExpanding_ = plan_.isExpanded(block);
    auto isGone = [&](const Binding& binding) { return plan_.of(binding) != nullptr; };
    if (!isExpanding_ || std::ranges::none_of(block.bindings, isGone))
      return block.bindings;
    std::vector<Binding> list;
    std::vector<std::pair<size_t, Site>> sites;
    for (const Binding& binding : block.bindings) {
      const KnownFunction* callee = plan_.of(binding);
      if (!callee) {
        list.push_back(binding);
        continue;
      }
      const Call& call = static_cast<const Call&>(*binding.value);
      sites.push_back({list.size(), {callee, &call, &binding}});
      const Function& function = *callee->function;
      for (size_t i = 0; i < call.arguments.size(); ++i)
        list.push_back({function.parameters[i], call.arguments[i].value, binding.place});
      Expr base{ExprKind::Block, call.range};
      list.push_back({binding.var, arena_.make<BlockExpr>(base, function.body), binding.place});
    }
    std::span<const Binding> kept = arena_.copy(list);
    for (const auto& [first, site] : sites) {
      begins_[&kept[first]] = site;
      ends_.insert(&kept[first + site.call->arguments.size()]);
    }
    return kept;
  }

  Fate enter(const Binding& binding) override {
    if (auto site = begins_.find(&binding); site != begins_.end())
      instances_.push_back(instanceAt(site->second));
    if (ends_.contains(&binding))
      return Fate::Splice;
    return isExpanding_ && plan_.isUnused(*binding.var) ? Fate::Drop : Fate::Copy;
  }

  Instance instanceAt(const Site& site) {
    const Function& function = *site.callee->function;
    // A literal stands in the code whose instance is the current one.
    bool isGlobal = site.callee->global;
    Instance instance = isGlobal || instances_.empty() ? Instance(make.types) : instances_.back();
    instance.open(typing_.generics(function), isGlobal);
    for (size_t i = 0; i < function.parameters.size(); ++i)
      instance.match(typing_.of(*function.parameters[i]),
                     here(typeOf(*site.call->arguments[i].value)));
    instance.match(typing_.result(function), here(typing_.of(*site.binding->var)));
    auto hasType = [&](const Operand& argument) { return typeOf(*argument.value) != nullptr; };
    if (std::ranges::all_of(site.call->arguments, hasType))
      instance.fill([&](const Dim* size) { return newSize(size); });
    return instance;
  }

  /// A size that only a body mentions, by a name that the program has not.
  const Dim* newSize(const Dim* size) {
    std::string name;
    do
      name = fmt::format("{}_{}", size->name, ++newSizes_);
    while (sizeNames_.contains(name));
    return make.types.symbol(make.arena.copyText(name));
  }

  /// Of a global too, if all of its uses have one type.
  const Type* typeOf(const Expr& atom) const {
    const auto* global = atom.as<Global>();
    if (!global || !global->function)
      return typing_.of(atom);
    const Type* type = functionType(make.types, *global->function, typing_);
    return type && type->generics.empty() && !type->hasSymbol ? type : nullptr;
  }

  /// A type of the code that is being copied, in the code around it.
  const Type* here(const Type* type) const {
    return instances_.empty() ? type : instances_.back()(type);
  }
  const Type* around(const Type* type) const {
    return instances_.size() < 2 ? type : instances_[instances_.size() - 2](type);
  }
  /// What can be declared of a type.
  const Type* shown(const Type* type) { return type && facts_.isShown(type) ? type : nullptr; }

  /// What was left open may stay so.
  const Type* declared(const Var& old) override {
    if (&old == renamed_)
      return renamedType_;
    const Type* type = here(old.annotation);
    return old.annotation && old.annotation->hasUnknown ? type : shown(type);
  }
  const Type* declaredResult(const Function& old) override {
    return shown(here(old.resultAnnotation));
  }

  Atom bind(const Binding& old, const Expr* value, BlockBuilder& out) override {
    if (old.var->origin == VarOrigin::Parameter) {
      const Type* wanted = shown(here(old.var->annotation));
      return bindName(old, value, wanted, around(typeOf(*old.value)), isVague(*old.value), out);
    }
    if (!ends_.contains(&old))
      return Rewriter::bind(old, value, out);
    const Block& body = *static_cast<const BlockExpr&>(*old.value).block;
    const Type* given = here(typeOf(*body.result.value));
    bool isUntold = isVague(*body.result.value);
    instances_.pop_back();
    const Type* wanted = shown(here(old.var->annotation));
    if (!wanted && (given || isUntold))
      wanted = shown(here(typing_.of(*old.var)));
    return bindName(old, value, wanted, given, isUntold, out);
  }

  /// What a name for an atom becomes: the atom, or a let where the name has another type.
  Atom bindName(const Binding& old, Atom value, const Type* wanted, const Type* given,
                bool isUntold, BlockBuilder& out) {
    // Calls of operators have attributes, which calls of names for them have not.
    bool isOperator = value->kind == ExprKind::Operator;
    bool isSame = !wanted || !given || wanted == given || (!keepsOpen_ && wanted->hasAny);
    if (!isOperator && !(isUntold && wanted) && isSame)
      return value;
    renamed_ = old.var;
    renamedType_ = wanted;
    Var* var = fresh(*old.var);
    renamed_ = nullptr;
    var->origin = VarOrigin::Let;
    out.append({var, value, old.place});
    return var;
  }

  /// Whether a value does not tell its type, such as `Nil`: the call did, by the parameter.
  bool isVague(const Expr& atom) const {
    const auto* constructor = atom.as<Constructor>();
    return vague_.contains(&atom) || (constructor && constructor->fields.empty() &&
                                      !constructor->definition->generics.empty());
  }

  void findVague(const Module& from) {
    walk(
        from,
        [&](const Binding& binding) {
          const Expr& value = *binding.value;
          const auto* call = value.as<Call>();
          bool isMade = value.kind == ExprKind::Tuple ||
                        (call && call->callee.value->kind == ExprKind::Constructor);
          bool hasVague = value.isAtom() && isVague(value);
          forEachOperand(value,
                         [&](const Operand& part) { hasVague |= isMade && isVague(*part.value); });
          // What a temporary declares is lost in print.
          if (hasVague && !(binding.isLet() && binding.var->annotation))
            vague_.insert(binding.var);
        },
        [](const Operand&) {});
  }

  const Typing& typing_;
  const InliningPlan& plan_;
  /// Whether names stay whose declared types have `?`.
  bool keepsOpen_;
  Arena arena_;
  std::unordered_set<std::string> sizeNames_;
  /// Variables of the old code.
  std::unordered_set<const Expr*> vague_;
  size_t newSizes_ = 0;
  /// The bodies of definitions.
  std::unordered_set<const Block*> roots_;
  bool isExpanding_ = false;
  /// By the first binding that a call becomes, and the last ones.
  std::unordered_map<const Binding*, Site> begins_;
  std::unordered_set<const Binding*> ends_;
  /// Of the bodies that are being copied into each other.
  std::vector<Instance> instances_;
  printing::TypeFacts facts_;
  const Var* renamed_ = nullptr;
  const Type* renamedType_ = nullptr;
};

/// Whether a well-typed program may be none any more where bodies are in sight: `?` is in some
/// type, or derivatives, whose operands may be of any type until they are written out, or a generic
/// function is a value, whose type a binding told that is gone.
bool mayHideMistakes(const Module& module, const Typing& typing) {
  bool found = hasUnwritten(module) || hasGenericValues(module, typing);
  auto look = [&](const Type* type) { found |= type && type->hasAny; };
  auto lookAt = [&](const Function& function) {
    look(function.resultAnnotation);
    for (const Var* parameter : function.parameters)
      look(typing.of(*parameter));
  };
  for (const Global* global : module.globals)
    if (global->function)
      lookAt(*global->function);
  walk(
      module,
      [&](const Binding& binding) {
        look(typing.of(*binding.var));
        look(binding.var->annotation);
        if (const auto* function = binding.value->as<Function>())
          lookAt(*function);
      },
      [](const Operand&) {});
  return found;
}

/// The module with its types; nothing, and the mistake in `mistake`, where it is ill-typed.
TypedModule typed(std::unique_ptr<Module> module, const PassContext& context,
                  std::string& mistake) {
  Diagnostics diagnostics;
  Typing found = context.check(*module, diagnostics);
  if (!diagnostics.hasErrors())
    return {std::move(module), std::move(found)};
  mistake = diagnostics.all().front().text.plain();
  return {};
}

/// A module with the bodies that a plan puts into each other; a second try keeps `?` apart.
TypedModule inlined(const Module& from, const Typing& typing, const InliningRules& rules,
                    const PassContext& context, std::string& mistake) {
  InliningPlan plan(from, typing, entriesOf(from, context.entries), rules);
  TypedModule made;
  for (bool keepsOpen : {false, true})
    if (!plan.isEmpty() && !made.module) {
      auto opened = rewritten<Inliner>(from, context.operators, typing, plan, keepsOpen);
      made = typed(place(*opened, context.operators, {.keepsFaults = plan.isQuiet()}), context,
                   mistake);
    }
  return made;
}

size_t sizeOf(const Module& module) {
  size_t size = 0;
  walk(
      module, [&](const Binding&) { ++size; }, [](const Operand&) {});
  return size;
}

/// In rounds, as a body may show what else is known, but for quiet code, which is given no
/// functions; null where there is nothing to do.
std::unique_ptr<Module> inlinedBy(const InliningRules& rules, const Module& module,
                                  const PassContext& context) {
  std::unique_ptr<Module> current;
  Typing typing = context.typing;
  size_t rounds = rules.quietOnly ? 1 : mostRounds;
  for (size_t round = 0; round < rounds; ++round) {
    const Module& from = current ? *current : module;
    std::string mistake;
    TypedModule next = inlined(from, typing, rules, context, mistake);
    if (!next.module && !mistake.empty()) {
      // What a type followed from may be gone with an earlier round.
      TypedModule declared =
          typed(place(*copyDeclared(from, typing), context.operators), context, mistake);
      if (declared.module)
        next = inlined(*declared.module, declared.typing, rules, context, mistake);
    }
    // Sizes that `?` kept apart can meet in a body, and contradict each other: a program that
    // always faults stays as it is.
    if (!next.module && !mistake.empty() && !mayHideMistakes(from, typing))
      throw std::logic_error(fmt::format("inlining gives an ill-typed module: {}", mistake));
    if (!next.module)
      break;
    current = std::move(next.module);
    typing = std::move(next.typing);
  }
  return current;
}

} // namespace

std::unique_ptr<Module> inlining(const Module& module, const PassContext& context) {
  InliningRules rules{.smallBody = 40, .mostSize = 4 * sizeOf(module) + 2'000};
  auto made = inlinedBy(rules, module, context);
  return made ? std::move(made) : place(module, context.operators);
}

std::unique_ptr<Module> inlineQuiet(const Module& module, const PassContext& context) {
  InliningRules rules{.smallBody = 16, .mostSize = 2 * sizeOf(module) + 500, .quietOnly = true};
  return inlinedBy(rules, module, context);
}

} // namespace transform

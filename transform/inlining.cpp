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
#include "lang/print_types.h"
#include "lang/rewrite.h"
#include "lang/walk.h"
#include "transform/instance.h"
#include "transform/known_functions.h"
#include "transform/passes.h"
#include "transform/placement.h"
#include "transform/run_passes.h"
#include "transform/type_parts.h"

#include <algorithm>

#include <fmt/format.h>

namespace transform {

using namespace lang;

namespace {

constexpr size_t smallBody = 40, mostRounds = 12;

/// How many bindings a module of that size may have after inlining.
size_t roomFor(size_t size) {
  return 4 * size + 2'000;
}

/// The calls of one function body that could be inlined, and how large it is with those that are.
struct Body {
  std::vector<const Binding*> calls = {};
  size_t size = 0;
};

/// Which calls to inline, decided for callees before callers.
class Plan {
public:
  Plan(const Module& module, size_t mostSize) : known_(module), uses_(module.varCount) {
    for (const Global* global : module.globals)
      if (global->function)
        addBody(*global->function);
    const Global* main = module.find("main");
    countUses(module, main);
    size_t size = 0;
    for (const Global* global : module.globals)
      size += global->function ? bodies_[global->function].size : 0;
    room_ = mostSize > size ? mostSize - size : 0;
    for (const Global* global : module.globals)
      if (global->function)
        decide(*global->function);
    findDefinitions(module, main);
    findUnused(module);
  }

  bool isEmpty() const { return inlined_.empty() && unused_.empty(); }
  /// The function whose body takes the place of a call, or null.
  const KnownFunction* of(const Binding& binding) const {
    auto found = inlined_.find(&binding);
    return found == inlined_.end() ? nullptr : &found->second;
  }
  /// Whether calls in the definition of a function are inlined.
  bool isExpanded(const Block& body) const { return expanded_.contains(&body); }
  bool isUnused(const Var& var) const { return unused_.contains(&var); }

private:
  KnownFunction callee(const Binding& binding) const {
    const auto* call = binding.value->as<Call>();
    KnownFunction known = call ? known_.of(*call->callee.value) : KnownFunction();
    bool fits = known && !known_.isRecursive(known) &&
                known.function->parameters.size() == call->arguments.size();
    return fits ? known : KnownFunction();
  }

  void addBody(const Function& root) {
    std::vector<const Function*> open{&root};
    while (!open.empty()) {
      const Function& function = *open.back();
      open.pop_back();
      Body& body = bodies_[&function];
      walk(
          *function.body,
          [&](const Binding& binding) {
            ++body.size;
            if (callee(binding))
              body.calls.push_back(&binding);
            if (const auto* literal = binding.value->as<Function>();
                literal && !bodies_.contains(literal) && &function == &root)
              open.push_back(literal);
          },
          [](const Operand&) {});
    }
  }

  /// Counts what mentions globals and variables; in a program, in what it may run.
  void countUses(const Module& module, const Global* main) {
    std::vector<const Global*> open;
    std::unordered_set<const Global*> seen;
    auto reach = [&](const Global* global) {
      if (global->function && seen.insert(global).second)
        open.push_back(global);
    };
    if (main)
      reach(main);
    else
      for (const Global* global : module.globals) {
        // Everything in a library may be called from outside.
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

  bool hasOneUse(const KnownFunction& known) const {
    if (known.binding)
      return uses_[known.binding->var->number] <= 1;
    auto count = globalUses_.find(known.global);
    return count == globalUses_.end() || count->second <= 1;
  }

  void decide(const Function& root) {
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
      take(call, known, body);
    }
  }

  void take(const Binding& call, const KnownFunction& known, Body& around) {
    size_t size = bodies_[known.function].size;
    if (inlined_.contains(&call)) {
      around.size += size;
      return;
    }
    if (!refused_.contains(&call) && (hasOneUse(known) || (size <= smallBody && size <= room_))) {
      room_ -= hasOneUse(known) ? 0 : size;
      around.size += size;
      inlined_[&call] = known;
    } else {
      refused_.insert(&call);
    }
  }

  /// The functions that are reached other than by calls that go.
  void findDefinitions(const Module& module, const Global* main) {
    std::vector<const Block*> open;
    std::unordered_set<const Block*> seen;
    auto reach = [&](const Function* function, bool isDefinition) {
      if (isDefinition)
        expanded_.insert(function->body);
      if (seen.insert(function->body).second)
        open.push_back(function->body);
    };
    for (const Global* global : module.globals)
      if (global->function && (!main || global == main))
        reach(global->function, true);
    while (!open.empty()) {
      const Block& body = *open.back();
      open.pop_back();
      std::unordered_map<const Expr*, size_t> gone;
      auto look = [&](const Expr& atom) {
        const auto* global = atom.as<Global>();
        if (!global || !global->function)
          return;
        if (auto count = gone.find(global); count != gone.end() && count->second > 0)
          --count->second;
        else
          reach(global->function, true);
      };
      walk(
          body,
          [&](const Binding& binding) {
            forEachAttributeAtom(*binding.value, look);
            if (const KnownFunction* known = of(binding)) {
              // The callee is the first operand that is visited next.
              ++gone[static_cast<const Call&>(*binding.value).callee.value];
              reach(known->function, false);
            }
          },
          [&](const Operand& operand) { look(*operand.value); });
    }
  }

  /// Lets that only calls used that go. Those that only they use go in the next round.
  void findUnused(const Module& module) {
    std::vector<bool> isUsed(uses_.size());
    std::vector<const Binding*> candidates;
    for (const Global* global : module.globals) {
      if (!global->function)
        continue;
      bool isExpanding = isExpanded(*global->function->body);
      const Expr* skipped = nullptr;
      auto use = [&](const Expr& atom) {
        if (&atom == skipped)
          skipped = nullptr;
        else if (const auto* var = atom.as<Var>())
          isUsed[var->number] = true;
      };
      walk(
          *global->function->body,
          [&](const Binding& binding) {
            forEachAttributeAtom(*binding.value, use);
            bool isGone = of(binding) != nullptr;
            skipped = isGone ? static_cast<const Call&>(*binding.value).callee.value : nullptr;
            bool isName = binding.value->isAtom() || binding.value->kind == ExprKind::Function;
            if (isExpanding && isName && binding.isLet())
              candidates.push_back(&binding);
          },
          [&](const Operand& operand) { use(*operand.value); });
    }
    for (const Binding* binding : candidates)
      if (!isUsed[binding->var->number] && isFunctionType(*binding->value))
        unused_.insert(binding->var);
  }

  bool isFunctionType(const Expr& value) const {
    return value.kind == ExprKind::Function || bool(known_.of(value));
  }

  KnownFunctions known_;
  /// By Var::number.
  std::vector<size_t> uses_;
  std::unordered_map<const Global*, size_t> globalUses_;
  std::unordered_map<const Function*, Body> bodies_;
  std::unordered_set<const Function*> decided_;
  size_t room_ = 0;
  std::unordered_map<const Binding*, KnownFunction> inlined_;
  std::unordered_set<const Binding*> refused_;
  std::unordered_set<const Block*> expanded_;
  std::unordered_set<const Var*> unused_;
};

/// A call becomes a binding for each parameter, which is what the argument is, and a block that is
/// opened into the one around it.
class Inliner : public Rewriter {
public:
  Inliner(const Module& from, Builder& into, const Typing& typing, const Plan& plan, bool keepsOpen)
      : Rewriter(from, into), typing_(typing), plan_(plan), keepsOpen_(keepsOpen) {
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

  const Type* declared(const Var& old) override {
    return &old == renamed_ ? renamedType_ : shown(here(old.annotation));
  }
  const Type* declaredResult(const Function& old) override {
    return shown(here(old.resultAnnotation));
  }

  Atom bind(const Binding& old, const Expr* value, BlockBuilder& out) override {
    if (old.var->origin == VarOrigin::Parameter) {
      const Type* wanted = shown(here(old.var->annotation));
      const Type* given = around(typeOf(*old.value));
      return bindName(old, value, wanted, given, out);
    }
    if (!ends_.contains(&old))
      return Rewriter::bind(old, value, out);
    const Block& body = *static_cast<const BlockExpr&>(*old.value).block;
    const Type* given = here(typeOf(*body.result.value));
    instances_.pop_back();
    const Type* wanted = shown(here(old.var->annotation));
    if (!wanted && given)
      wanted = shown(here(typing_.of(*old.var)));
    return bindName(old, value, wanted, given, out);
  }

  /// What a name for an atom becomes: the atom, or a let where the name has another type.
  Atom bindName(const Binding& old, Atom value, const Type* wanted, const Type* given,
                BlockBuilder& out) {
    // Calls of operators have attributes, which calls of names for them have not.
    bool isOperator = value->kind == ExprKind::Operator;
    bool isSame = !wanted || !given || wanted == given || (!keepsOpen_ && holdsAny(wanted));
    if (!isOperator && isSame)
      return value;
    renamed_ = old.var;
    renamedType_ = wanted;
    Var* var = fresh(*old.var);
    renamed_ = nullptr;
    var->origin = VarOrigin::Let;
    out.append({var, value, old.place});
    return var;
  }

  const Typing& typing_;
  const Plan& plan_;
  /// Whether names stay whose declared types have `?`.
  bool keepsOpen_;
  Arena arena_;
  std::unordered_set<std::string> sizeNames_;
  size_t newSizes_ = 0;
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

TypedModule inlined(const Module& from, const Typing& typing, const Plan& plan, bool keepsOpen,
                    const PassContext& context) {
  auto opened = rewritten<Inliner>(from, context.operators, typing, plan, keepsOpen);
  auto module = place(*opened, context.operators);
  Diagnostics diagnostics;
  Typing found = context.check(*module, diagnostics);
  if (diagnostics.hasErrors())
    return {};
  return {std::move(module), std::move(found)};
}

size_t sizeOf(const Module& module) {
  size_t size = 0;
  walk(
      module, [&](const Binding&) { ++size; }, [](const Operand&) {});
  return size;
}

} // namespace

std::unique_ptr<Module> inlining(const Module& module, const PassContext& context) {
  size_t mostSize = roomFor(sizeOf(module));
  std::unique_ptr<Module> current;
  Typing typing = context.typing;
  for (size_t round = 0; round < mostRounds; ++round) {
    const Module& from = current ? *current : module;
    Plan plan(from, mostSize);
    if (plan.isEmpty())
      break;
    TypedModule next = inlined(from, typing, plan, false, context);
    if (!next.module)
      next = inlined(from, typing, plan, true, context);
    // Sizes that `?` kept apart can meet in a body, and contradict each other: a program that
    // always faults stays as it is.
    if (!next.module)
      break;
    current = std::move(next.module);
    typing = std::move(next.typing);
  }
  return current ? std::move(current) : place(module, context.operators);
}

} // namespace transform

// Two walks over a list of all bindings in the order of evaluation. Backward, every use is seen
// before what it uses, so homes are found and what is unused falls away. Forward on demand, as the
// reader goes, effects show the order in which they would happen after reading; where it is not the
// order in which they happen, temporaries are pinned, and the walks are made again.
#include "transform/analysis/placement.h"

#include "lang/ir/rewrite.h"
#include "lang/ir/walk.h"
#include "runtime/budget.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

namespace transform {

using namespace lang;

namespace {

constexpr uint32_t atEnd = UINT32_MAX;

/// A place: in a scope, right before the let with that number, or at the end.
struct Place {
  uint32_t scope = 0;
  uint32_t before = atEnd;
};

/// A block, in the function that it is a part of, at the place of the value that it is inside of.
struct Scope {
  const Block* block;
  const Function* function;
  bool isRoot = false;
  bool isDropped = false;
  Place parent = {};
  uint32_t depth = 0;
};

/// A binding; its number is its place in the order of evaluation. The scopes inside of its value
/// have the numbers from `firstScope` to before `endScope`, those right inside first.
struct Item {
  const Binding* binding;
  uint32_t scope;
  uint32_t firstScope;
  uint32_t endScope = 0;
  /// Whether a fault of it is to stay where it is.
  bool mayFault = false;
  bool isPinned = false;
  /// Whether the types of variables follow from its own, so that what declares it is pinned.
  bool isTypeKept = false;
  bool isDropped = false;
  bool isUsed = false;
  Place home = {};
};

/// Whether evaluating a value runs code, which may fault.
bool computes(const Expr& value) {
  const auto* call = value.as<Call>();
  bool isMade = call && call->callee.value->kind == ExprKind::Constructor;
  return !value.isAtom() && !isMade && value.kind != ExprKind::Tuple &&
         value.kind != ExprKind::Project && value.kind != ExprKind::Function;
}

class Placement {
public:
  Placement(const Module& module, const PlacementRules& rules)
      : rules_(rules), effects_(module), itemOf_(module.varCount, none) {
    for (const Global* global : module.globals)
      if (global->function)
        addFunction(*global->function,
                    rules_.keepsFaults && !rules_.faultless.contains(global->name));
    pinMentioned();
    for (int round = 0; !isSettled(round); ++round)
      ;
    makeLists();
  }

  /// The bindings of a block, in order.
  const std::vector<Binding>& bindings(const Block& block) const {
    return lists_[scopeOf_.at(&block)];
  }

  VarOrigin origin(const Var& var) const {
    const Item& item = items_[itemOf_[var.number]];
    return isLet(item) || isSinking(item) ? VarOrigin::Let : VarOrigin::Temporary;
  }

  /// Whether a value is a block in parentheses without lets, which the reader never makes.
  bool isOpen(const Expr& value) {
    const auto* block = value.as<BlockExpr>();
    return block && std::ranges::none_of(bindings(*block->block), [&](const Binding& binding) {
             return origin(*binding.var) == VarOrigin::Let;
           });
  }

  std::vector<const Binding*> changes() {
    std::vector<const Binding*> found;
    for (const Scope& scope : scopes_) {
      if (scope.isDropped)
        continue;
      const std::vector<Binding>& list = bindings(*scope.block);
      size_t next = 0;
      for (const Binding& binding : scope.block->bindings) {
        bool isSame = next < list.size() && list[next].var == binding.var;
        next += isSame;
        if (!isSame || origin(*binding.var) != binding.var->origin || isOpen(*binding.value))
          found.push_back(&binding);
      }
    }
    return found;
  }

private:
  static constexpr uint32_t none = UINT32_MAX;

  // The list.

  /// Numbers the bindings of a function, those inside of a value right after it.
  void addFunction(const Function& root, bool keepsFaults) {
    struct Frame {
      uint32_t scope;
      size_t next = 0;
      uint32_t open = none;
    };
    std::vector<Frame> frames{{uint32_t(scopes_.size())}};
    scopes_.push_back({root.body, &root, true});
    while (!frames.empty()) {
      Frame& frame = frames.back();
      const Scope scope = scopes_[frame.scope];
      if (frame.open != none)
        items_[frame.open].endScope = uint32_t(scopes_.size());
      if (frame.next == scope.block->bindings.size()) {
        frames.pop_back();
        continue;
      }
      const Binding& binding = scope.block->bindings[frame.next++];
      frame.open = uint32_t(items_.size());
      itemOf_[binding.var->number] = frame.open;
      items_.push_back({.binding = &binding,
                        .scope = frame.scope,
                        .firstScope = uint32_t(scopes_.size()),
                        .mayFault = keepsFaults && computes(*binding.value)});
      const auto* inner = binding.value->as<Function>();
      size_t first = frames.size();
      forEachBlock(*binding.value, [&](const Block& block) {
        frames.push_back({uint32_t(scopes_.size())});
        scopes_.push_back({&block, inner ? inner : scope.function});
      });
      std::reverse(frames.begin() + ptrdiff_t(first), frames.end());
    }
  }

  /// The item of a variable that a binding binds, or null for other atoms.
  Item* itemOf(const Expr& atom) {
    const auto* var = atom.as<Var>();
    uint32_t number = var ? itemOf_[var->number] : none;
    return number == none ? nullptr : &items_[number];
  }
  uint32_t numberOf(const Item& item) const { return uint32_t(&item - items_.data()); }
  const Effect& effectOf(const Item& item) const { return effects_.of(*item.binding->var); }

  /// Whether a binding keeps its place among the others that do.
  bool isOrdered(const Item& item) const { return effectOf(item).isOrdered() || item.mayFault; }
  bool isDroppable(const Item& item) const {
    return effectOf(item).isDroppable() && !item.mayFault;
  }

  /// Whether a binding stays where it stands.
  bool isLet(const Item& item) const {
    return item.isPinned || (item.binding->isLet() && !isLoose(item)) || isNamed(item);
  }
  /// Whether it was a let once, or what stands for one.
  bool isNamed(const Item& item) const {
    return rules_.restoresLets && !item.binding->var->name.empty() &&
           computes(*item.binding->value);
  }
  bool isLoose(const Item& item) const {
    return (rules_.loosensLets || isSinking(item)) && !item.binding->var->annotation &&
           !isOrdered(item);
  }
  /// Whether a let may go into a branch, and stays a let there.
  bool isSinking(const Item& item) const {
    return item.binding->isLet() && rules_.sinksLetsOf.contains(scopes_[item.scope].function);
  }

  /// Pins what only a let can be: a temporary has no name that an attribute, or the function that
  /// it is, could mention, and no declared type, from which those of the variables of a match
  /// follow.
  void pinMentioned() {
    for (const Item& item : items_) {
      forEachAttributeAtom(*item.binding->value, [&](const Expr& atom) {
        if (Item* mentioned = itemOf(atom))
          mentioned->isPinned = true;
      });
      forEachUse(*item.binding->value, [&](const Expr& atom) { pinSelf(atom, item.scope); });
      if (const auto* match = item.binding->value->as<Match>())
        pinMatched(*match);
    }
    for (uint32_t i = 0; i < scopes_.size(); ++i)
      pinSelf(*scopes_[i].block->result.value, i);
  }

  /// Pins what declares the type of a matched value, or a part of that type.
  void pinMatched(const Match& match) {
    bool hasVars = false;
    for (const Arm& arm : match.arms)
      forEachPatternVar(*arm.pattern, [&](const Var&) { hasVars = true; });
    std::vector<const Expr*> stack;
    if (hasVars)
      stack.push_back(match.scrutinee.value);
    while (!stack.empty()) {
      Item* item = itemOf(*stack.back());
      stack.pop_back();
      if (!item || item->isTypeKept)
        continue;
      item->isTypeKept = true;
      item->isPinned |= item->binding->var->annotation != nullptr;
      const Expr& value = *item->binding->value;
      if (value.as<TupleExpr>() || value.as<Project>())
        forEachOperand(value, [&](const Operand& part) { stack.push_back(part.value); });
      else if (!value.as<Function>())
        forEachBlock(value, [&](const Block& block) { stack.push_back(block.result.value); });
    }
  }

  void pinSelf(const Expr& atom, uint32_t scope) {
    Item* item = itemOf(atom);
    if (item && item->firstScope <= scope && scope < item->endScope)
      item->isPinned = true;
  }

  /// Visits the atoms that a value mentions, in the order in which the reader evaluates them.
  template <typename Visit>
  static void forEachUse(const Expr& value, Visit&& visit) {
    if (value.isAtom())
      visit(value);
    const auto* call = value.as<Call>();
    forEachOperand(value, [&](const Operand& operand) {
      if (!call || &operand != &call->callee)
        visit(*operand.value);
    });
    if (call)
      visit(*call->callee.value);
  }

  // Homes.

  Place common(Place a, Place b) const {
    while (a.scope != b.scope) {
      if (scopes_[a.scope].depth >= scopes_[b.scope].depth)
        a = scopes_[a.scope].parent;
      else
        b = scopes_[b.scope].parent;
    }
    return {a.scope, std::min(a.before, b.before)};
  }

  void mention(const Expr& atom, Place place) {
    Item* item = itemOf(atom);
    if (!item)
      return;
    // A let has its home already, also where its own body mentions it.
    if (!isLet(*item))
      item->home = item->isUsed ? common(item->home, place) : place;
    item->isUsed = true;
  }

  /// Goes through the bindings of a function from the last to the first, each before those inside
  /// of its value.
  void findHomes(uint32_t root) {
    struct Frame {
      uint32_t scope;
      size_t left;
    };
    std::vector<Frame> frames;
    auto open = [&](uint32_t number) {
      const Block& block = *scopes_[number].block;
      mention(*block.result.value, {number, atEnd});
      frames.push_back({number, block.bindings.size()});
    };
    open(root);
    while (!frames.empty()) {
      Frame& frame = frames.back();
      if (frame.left == 0) {
        frames.pop_back();
        continue;
      }
      const Binding& binding = scopes_[frame.scope].block->bindings[--frame.left];
      Item& item = *itemOf(*binding.var);
      decide(item);
      for (uint32_t i = item.firstScope; item.isDropped && i < item.endScope; ++i)
        scopes_[i].isDropped = true;
      if (item.isDropped)
        continue;
      auto use = [&](const Expr& atom) { mention(atom, item.home); };
      forEachUse(*binding.value, use);
      forEachAttributeAtom(*binding.value, use);
      uint32_t inner = item.firstScope;
      forEachBlock(*binding.value, [&](const Block&) {
        scopes_[inner].parent = item.home;
        scopes_[inner].depth = scopes_[item.home.scope].depth + 1;
        open(inner++);
      });
    }
  }

  /// Decides on a binding all of whose uses are known.
  void decide(Item& item) {
    runtime::Budget::step();
    item.isPinned |= isSinking(item) && (!item.isUsed || item.home.scope == item.scope);
    if (!item.isUsed && isDroppable(item) && (rules_.dropsLets || !isLet(item))) {
      item.isDropped = true;
      return;
    }
    if (!isLet(item)) {
      const Scope &home = scopes_[item.home.scope], &scope = scopes_[item.scope];
      item.isPinned =
          !item.isUsed || (isOrdered(item) && &home != &scope) || home.function != scope.function;
    }
    if (isLet(item))
      item.home = {item.scope, numberOf(item)};
  }

  // The order of effects.

  bool isSettled(int round) {
    for (Item& item : items_)
      item.isUsed = item.isDropped = false;
    for (Scope& scope : scopes_)
      scope.isDropped = false;
    for (uint32_t i = 0; i < scopes_.size(); ++i)
      if (scopes_[i].isRoot)
        findHomes(i);
    std::vector<uint32_t> disordered = disorderedScopes();
    // Pinning in one block can disturb the order in another one; twice is enough to be patient.
    if (round == 2 && !disordered.empty())
      for (disordered.clear(); disordered.size() < scopes_.size();)
        disordered.push_back(uint32_t(disordered.size()));
    for (uint32_t scope : disordered)
      for (const Binding& binding : scopes_[scope].block->bindings)
        if (Item& item = *itemOf(*binding.var); isOrdered(item))
          item.isPinned = true;
    return disordered.empty();
  }

  enum class Step : uint8_t { Need, Value, Done, Scope };
  struct Task {
    Step step;
    uint32_t number;
  };

  /// The scopes whose effects the reader would put in another order.
  std::vector<uint32_t> disorderedScopes() {
    if (std::ranges::none_of(items_, [&](const Item& item) { return isOrdered(item); }))
      return {};
    std::vector<uint32_t> disordered, last(scopes_.size());
    std::vector<bool> isNeeded(items_.size());
    std::vector<Task> tasks;
    for (uint32_t i = 0; i < scopes_.size(); ++i)
      if (scopes_[i].isRoot)
        tasks.push_back({Step::Scope, i});
    while (!tasks.empty()) {
      Task task = tasks.back();
      tasks.pop_back();
      size_t first = tasks.size();
      if (task.step == Step::Scope) {
        pushScope(tasks, task.number);
      } else if (task.step == Step::Value) {
        pushValue(tasks, task.number);
      } else if (task.step == Step::Need && !isNeeded[task.number]) {
        isNeeded[task.number] = true;
        tasks.push_back({Step::Value, task.number});
        tasks.push_back({Step::Done, task.number});
      } else if (task.step == Step::Done && isOrdered(items_[task.number])) {
        uint32_t scope = items_[task.number].home.scope;
        if (task.number < last[scope])
          disordered.push_back(scope);
        last[scope] = std::max(last[scope], task.number);
      }
      std::reverse(tasks.begin() + ptrdiff_t(first), tasks.end());
    }
    return disordered;
  }

  void pushNeed(std::vector<Task>& tasks, const Expr& atom) {
    if (Item* item = itemOf(atom); item && !isLet(*item))
      tasks.push_back({Step::Need, numberOf(*item)});
  }

  void pushScope(std::vector<Task>& tasks, uint32_t number) {
    const Block& block = *scopes_[number].block;
    for (const Binding& binding : block.bindings)
      if (Item& item = *itemOf(*binding.var); isLet(item) && !item.isDropped) {
        tasks.push_back({Step::Value, numberOf(item)});
        tasks.push_back({Step::Done, numberOf(item)});
      }
    pushNeed(tasks, *block.result.value);
  }

  void pushValue(std::vector<Task>& tasks, uint32_t number) {
    const Item& item = items_[number];
    forEachUse(*item.binding->value, [&](const Expr& atom) { pushNeed(tasks, atom); });
    uint32_t inner = item.firstScope;
    forEachBlock(*item.binding->value, [&](const Block&) {
      tasks.push_back({Step::Scope, inner++});
    });
  }

  // The answer.

  void makeLists() {
    lists_.resize(scopes_.size());
    for (uint32_t i = 0; i < scopes_.size(); ++i)
      scopeOf_.emplace(scopes_[i].block, i);
    for (const Item* item : inOrder())
      lists_[item->home.scope].push_back(*item->binding);
  }

  /// What is kept, in the order of the lets that it stands before; those stand behind it.
  std::vector<const Item*> inOrder() const {
    auto isKept = [&](const Item& item) {
      return !item.isDropped && !scopes_[item.scope].isDropped;
    };
    auto slot = [&](const Item& item) {
      return 2 * std::min(size_t(item.home.before), items_.size()) + isLet(item);
    };
    std::vector<size_t> begins(2 * items_.size() + 3);
    for (const Item& item : items_)
      begins[slot(item) + 1] += isKept(item);
    std::partial_sum(begins.begin(), begins.end(), begins.begin());
    std::vector<const Item*> ordered(begins.back());
    for (const Item& item : items_)
      if (isKept(item))
        ordered[begins[slot(item)]++] = &item;
    return ordered;
  }

  PlacementRules rules_;
  Effects effects_;
  /// By Var::number.
  std::vector<uint32_t> itemOf_;
  std::vector<Item> items_;
  std::vector<Scope> scopes_;
  std::unordered_map<const Block*, uint32_t> scopeOf_;
  /// By scope.
  std::vector<std::vector<Binding>> lists_;
};

/// Copies a module with the bindings of its blocks as a placement has them.
class Mover : public Rewriter {
public:
  Mover(const Module& from, Builder& into, Placement& placement)
      : Rewriter(from, into), placement_(placement) {}

  /// Whether blocks were opened, so that what was inside may have another place.
  bool hasOpened = false;

private:
  Fate enter(const Binding& binding) override {
    if (!placement_.isOpen(*binding.value))
      return Fate::Copy;
    hasOpened = true;
    return Fate::Splice;
  }

  std::span<const Binding> bindingsOf(const Block& block) override {
    return placement_.bindings(block);
  }

  Atom bind(const Binding& old, const Expr* value, BlockBuilder& out) override {
    VarOrigin origin = placement_.origin(*old.var);
    if (value->isAtom() && !old.value->isAtom() && origin == VarOrigin::Temporary)
      return value;
    Var* var = fresh(*old.var);
    var->origin = origin;
    out.append({var, value, old.place});
    return var;
  }

  Placement& placement_;
};

} // namespace

std::unique_ptr<Module> place(const Module& module, const OperatorTable& operators,
                              const PlacementRules& rules) {
  Placement placement(module, rules);
  auto placed = std::make_unique<Module>(module.types);
  Builder make(*placed, operators);
  Mover mover(module, make, placement);
  mover.module();
  return mover.hasOpened ? place(*placed, operators, rules) : std::move(placed);
}

std::vector<const Binding*> misplaced(const Module& module, const PlacementRules& rules) {
  return Placement(module, rules).changes();
}

} // namespace transform

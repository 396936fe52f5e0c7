// Guards: a value under one side of a selection counts only where that side is chosen.
//
// Strips compute both sides of a selection, which is safe because loads and divisions are. What
// must be exact is the report of faults: a fault counts in the lanes where some chain of chosen
// sides leads from the result to the value. A guard is such a chain, or a disjunction of chains;
// masks are guards as values. Guards of different reductions cannot be one value, so that a value
// may have several.
#include "lower/strips/plan_guards.h"

#include "lower/strips/plan_values.h"

#include <algorithm>

namespace lower {

namespace {

constexpr uint32_t always = 0;

/// `parent` and (not) `condition`; or, when `other` is set, `parent` or `other`. Guard 0 is true.
struct Guard {
  uint32_t parent = always;
  uint32_t condition = none;
  bool negated = false;
  uint32_t other = none;
  AxisSet axes = {};
  /// The highest value among the conditions: from there on the guard is known.
  uint32_t known = 0;
  uint32_t depth = 0;
  uint32_t mask = none;
  /// Another guard with this condition.
  uint32_t next = none;
};

class Guards {
public:
  Guards(Graph& graph, Sizes& sizes)
      : graph_(graph), sizes_(sizes), of_(graph.values.size()),
        withCondition_(graph.values.size(), none) {
    guards_.push_back({});
    for (const GraphValue& value : graph.values)
      if (value.kind == GraphValueKind::Reduce)
        for (uint32_t axis : value.reduced)
          reducedAxes_.set(axis);
  }

  void run() {
    use(graph_.root, always);
    for (uint32_t id = uint32_t(graph_.values.size()); id-- > 0;)
      if (!of_[id].empty())
        useOperands(id);
    size_t valueCount = graph_.values.size();
    graph_.masks.assign(valueCount, none);
    for (uint32_t id = 0; id < valueCount; ++id)
      if (of_[id].size() == 1 && isCostly(graph_.values[id]))
        if (uint32_t guard = of_[id][0]; guard != always && guards_[guard].known < id)
          graph_.masks[id] = maskOf(guard);
    Flags live(valueCount);
    for (uint32_t id = 0; id < valueCount; ++id)
      live[id] = !of_[id].empty();
    for (const Faultable& fault : graph_.faultables)
      if (live[fault.value])
        addChecks(fault, live);
    setOrder(live);
    lowerReductions();
  }

private:
  /// Steps that cost little are not worth the test whether to skip them.
  static bool isCostly(const GraphValue& value) {
    if (value.kind == GraphValueKind::Apply)
      return value.function >= ScalarFunction::Exp && value.function <= ScalarFunction::Sigmoid;
    return value.kind == GraphValueKind::Load || value.kind == GraphValueKind::Reduce;
  }

  void useOperands(uint32_t id) {
    const GraphValue& value = graph_.values[id];
    const List<uint32_t> guards = of_[id];
    for (uint32_t guard : guards) {
      if (value.kind == GraphValueKind::Apply && value.function == ScalarFunction::Select) {
        use(value.operands[0], guard);
        use(value.operands[1], both(guard, value.operands[0], false));
        use(value.operands[2], both(guard, value.operands[0], true));
        continue;
      }
      for (uint32_t operand : value.operands)
        use(operand, guard);
      for (const IndexTerm& term : value.indices)
        use(term.position, guard);
      if (value.fill != none)
        use(value.fill, guard);
    }
  }

  uint32_t both(uint32_t parent, uint32_t condition, bool negated) {
    uint32_t& first = withCondition_[condition];
    for (uint32_t i = first; i != none; i = guards_[i].next)
      if (guards_[i].parent == parent && guards_[i].negated == negated)
        return i;
    const Guard& outer = guards_[parent];
    Guard guard{parent, condition, negated};
    guard.next = first;
    guard.axes = outer.axes | graph_.values[condition].axes;
    guard.known = std::max(outer.known, condition);
    guard.depth = outer.depth + 1;
    guards_.push_back(guard);
    return first = uint32_t(guards_.size() - 1);
  }

  /// True when `inner` adds conditions to `outer`.
  bool implies(uint32_t inner, uint32_t outer) const {
    if (outer == always)
      return true;
    while (guards_[inner].depth > guards_[outer].depth && guards_[inner].other == none)
      inner = guards_[inner].parent;
    return inner == outer;
  }

  /// The disjunction of two guards as one guard; none when their reductions differ.
  uint32_t either(uint32_t a, uint32_t b) {
    const Guard &left = guards_[a], &right = guards_[b];
    if (implies(a, b))
      return b;
    if (implies(b, a))
      return a;
    bool plain = left.other == none && right.other == none;
    if (plain && left.parent == right.parent && left.condition == right.condition)
      return left.parent;
    AxisSet inA = left.axes & reducedAxes_, inB = right.axes & reducedAxes_;
    if ((inA & inB) != inA && (inA & inB) != inB)
      return none;
    Guard guard{a, none, false, b};
    guard.axes = left.axes | right.axes;
    guard.known = std::max(left.known, right.known);
    guard.depth = std::max(left.depth, right.depth) + 1;
    guards_.push_back(guard);
    return uint32_t(guards_.size() - 1);
  }

  void use(uint32_t id, uint32_t guard) {
    GraphValueKind kind = graph_.values[id].kind;
    List<uint32_t>& guards = of_[id];
    if (kind == GraphValueKind::Number || kind == GraphValueKind::Affine) {
      guards = {always};
      return;
    }
    for (size_t i = 0; i < guards.size(); ++i)
      if (uint32_t joined = either(guards[i], guard); joined != none) {
        guards.erase(guards.begin() + ptrdiff_t(i));
        guard = joined;
        i = size_t(-1);
      }
    guards.push_back(guard);
  }

  /// The guard as a bool value.
  uint32_t maskOf(uint32_t guard) {
    List<uint32_t> stack{guard};
    while (!stack.empty()) {
      Guard& top = guards_[stack.back()];
      bool needsParent = top.parent != always && guards_[top.parent].mask == none;
      bool needsOther = top.other != none && guards_[top.other].mask == none;
      if (top.mask != none) {
        stack.pop_back();
      } else if (needsParent || needsOther) {
        stack.push_back(needsParent ? top.parent : top.other);
      } else {
        top.mask = makeMask(top);
        stack.pop_back();
      }
    }
    return guards_[guard].mask;
  }

  uint32_t makeMask(const Guard& guard) {
    using enum ScalarFunction;
    if (guard.other != none)
      return addMask(LogicalOr, {guards_[guard.parent].mask, guards_[guard.other].mask}, guard);
    uint32_t condition = guard.condition;
    if (guard.negated)
      condition = addMask(LogicalNot, {condition}, guard);
    if (guard.parent == always)
      return condition;
    return addMask(LogicalAnd, {guards_[guard.parent].mask, condition}, guard);
  }

  uint32_t addMask(ScalarFunction function, List<uint32_t> operands, const Guard& guard) {
    known_.push_back(guard.known);
    return append(graph_, makeApply(sizes_, graph_, function, Element::Bool, std::move(operands)));
  }

  void addChecks(const Faultable& fault, Flags& live) {
    live[fault.flag] = true;
    if (graph_.values[fault.flag].kind == GraphValueKind::Apply)
      live[graph_.values[fault.flag].operands[1]] = true;
    for (uint32_t guard : of_[fault.value])
      graph_.checks.push_back({fault, guard == always ? none : maskOf(guard)});
  }

  /// Own values by number; masks, by number, right after the last of their conditions.
  void setOrder(const Flags& live) {
    List<uint32_t> firsts(live.size(), none), nexts(known_.size(), none);
    for (uint32_t i = uint32_t(known_.size()); i-- > 0;)
      nexts[i] = std::exchange(firsts[known_[i]], i);
    for (uint32_t id = 0; id < live.size(); ++id) {
      if (live[id])
        graph_.order.push_back(id);
      for (uint32_t i = firsts[id]; i != none; i = nexts[i])
        graph_.order.push_back(uint32_t(live.size()) + i);
    }
    graph_.masks.extend(graph_.values.size(), none);
  }

  /// The axes of the loops below each reduction, its own included.
  List<AxisSet> loopsBelow() const {
    List<AxisSet> below(graph_.values.size());
    for (uint32_t id : graph_.order) {
      const GraphValue& value = graph_.values[id];
      for (uint32_t operand : value.operands)
        below[id] |= below[operand];
      for (const IndexTerm& term : value.indices)
        below[id] |= below[term.position];
      for (uint32_t axis : value.reduced)
        below[id].set(axis);
    }
    return below;
  }

  /// A check must run where its mask is known. When the mask depends on loops that a reduction
  /// around the fault does not know, the reduction, which would run outside of them, is made to
  /// depend on them as well.
  void lowerReductions() {
    List<AxisSet> below = loopsBelow();
    for (const Check& check : graph_.checks) {
      AxisSet axes = graph_.values[check.fault.flag].axes;
      if (check.mask != none)
        axes |= graph_.values[check.mask].axes;
      for (uint32_t id : graph_.order)
        for (uint32_t axis : graph_.values[id].reduced)
          if (axes[axis])
            addAxes(id, axes & ~below[id]);
    }
    for (uint32_t id : graph_.order) {
      GraphValue& value = graph_.values[id];
      AxisSet own;
      for (uint32_t axis : value.reduced)
        own.set(axis);
      if (value.kind == GraphValueKind::Outside) {
        value.axes |= axesOfOutside(graph_, value.operands[0]);
        continue;
      }
      for (uint32_t operand : value.operands)
        value.axes |= graph_.values[operand].axes & ~own;
      for (const IndexTerm& term : value.indices)
        value.axes |= graph_.values[term.position].axes;
    }
  }

  void addAxes(uint32_t reduce, AxisSet axes) {
    AxisSet own;
    for (uint32_t axis : graph_.values[reduce].reduced)
      own.set(axis);
    graph_.values[reduce].axes |= axes;
    for (uint32_t id : graph_.order)
      if (id != reduce && (graph_.values[id].axes & own).any())
        graph_.values[id].axes |= axes;
  }

  Graph& graph_;
  Sizes& sizes_;
  List<List<uint32_t>> of_;
  List<Guard> guards_;
  /// Per value the guard that last had it as its condition.
  List<uint32_t> withCondition_;
  /// Per mask value, in the order of their numbers.
  List<uint32_t> known_;
  AxisSet reducedAxes_;
};

} // namespace

void addGuards(Graph& graph, Sizes& sizes) {
  Guards(graph, sizes).run();
}

} // namespace lower

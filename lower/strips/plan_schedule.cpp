// Placement: a value is computed in the block of the innermost loop that it depends on, so whatever
// does not change in a loop is computed outside of it.
//
// Values are placed in the graph's order. The loops of a reduction are entered where the reduction
// itself is placed, after everything that its body needs from outside.
#include "lower/strips/plan_schedule.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace lower {

namespace {

class Scheduler {
public:
  Scheduler(Nest& nest, Sizes& sizes)
      : nest_(nest), graph_(nest.graph), lanes_(nest.lanes), sizes_(sizes),
        blockOfAxis_(graph_.extents.size(), none), splatsOf_(graph_.values.size(), none) {}

  void run(std::span<const uint32_t> chain, bool stores) {
    makeRegisters();
    nest_.blocks.push_back({});
    nest_.chain = {0};
    for (uint32_t axis : chain)
      nest_.chain.push_back(addBlock(axis, nest_.chain.back()));
    enterReductions();
    findMaterialised();
    for (uint32_t id : graph_.order)
      place(id);
    for (uint32_t number = 0; number < graph_.checks.size(); ++number)
      placeCheck(number);
    if (stores)
      placeStore();
  }

private:
  const GraphValue& at(uint32_t id) const { return graph_.values[id]; }
  uint32_t laneOfValue(uint32_t id) const { return laneOf(at(id).axes, lanes_); }

  void makeRegisters() {
    for (uint32_t id = 0; id < graph_.values.size(); ++id)
      nest_.registers.push_back({at(id).element, laneOfValue(id)});
    nest_.reduces.resize(graph_.values.size());
  }

  uint32_t addBlock(uint32_t axis, uint32_t parent) {
    bool strips = lanes_.axes[axis];
    nest_.blocks.push_back({axis, strips, parent, nest_.blocks[parent].depth + 1});
    uint32_t number = uint32_t(nest_.blocks.size() - 1);
    blockOfAxis_[axis] = number;
    return number;
  }

  uint32_t homeOf(AxisSet axes) const {
    uint32_t home = 0;
    for (size_t axis = 0; axis < blockOfAxis_.size(); ++axis)
      if (uint32_t block = blockOfAxis_[axis];
          axes[axis] && block != none && nest_.blocks[block].depth > nest_.blocks[home].depth)
        home = block;
    return home;
  }

  /// True when `outer` is `inner` or runs around it.
  bool encloses(uint32_t outer, uint32_t inner) const {
    while (nest_.blocks[inner].depth > nest_.blocks[outer].depth)
      inner = nest_.blocks[inner].parent;
    return inner == outer;
  }

  /// Makes the loops of all reductions, outer reductions first; strips innermost.
  void enterReductions() {
    for (size_t i = graph_.order.size(); i-- > 0;) {
      uint32_t id = graph_.order[i];
      const GraphValue& value = at(id);
      if (value.kind != GraphValueKind::Reduce)
        continue;
      ReducePlan& plan = nest_.reduces[id];
      plan.kernels = reduceKernels(value.combiner, at(value.operands[0]).element);
      plan.lane = lanes_.ofReduce[id];
      uint32_t parent = homeOf(value.axes);
      for (uint32_t axis : value.reduced)
        if (axis != plan.lane)
          plan.blocks.push_back(parent = addBlock(axis, parent));
      if (plan.lane != none)
        plan.blocks.push_back(addBlock(plan.lane, parent));
      plan.accumulators = uint32_t(nest_.registers.size());
      nest_.registers.push_back({plan.kernels.accumulator, laneOfValue(id), plan.kernels.perLane});
    }
  }

  /// Finds the affine forms that are needed as values and not only within positions.
  void findMaterialised() {
    materialised_.assign(graph_.values.size(), false);
    if (graph_.root != none)
      materialised_[graph_.root] = true;
    for (uint32_t id : graph_.order) {
      for (uint32_t operand : at(id).operands)
        materialised_[operand] = true;
      for (const IndexTerm& term : at(id).indices)
        materialised_[term.position] = true;
    }
  }

  void place(uint32_t id) {
    const GraphValue& value = at(id);
    uint32_t lane = laneOfValue(id), home = homeOf(value.axes);
    switch (value.kind) {
    case GraphValueKind::Number:
      nest_.constants.push_back({id, id});
      return;
    case GraphValueKind::Affine:
      if (value.axes.none())
        nest_.constants.push_back({id, id});
      else if (materialised_[id])
        add(home, {.kind = StepKind::Affine,
                   .out = id,
                   .lane = lane,
                   .value = id,
                   .laneStride = laneStride(value, lane)});
      return;
    case GraphValueKind::Load:
      add(home, {.kind = StepKind::Load,
                 .out = id,
                 .lane = lane,
                 .mask = maskFor(id, home),
                 .value = id,
                 .laneStride = laneStride(value, lane)});
      return;
    case GraphValueKind::Outside:
      add(home, {.kind = StepKind::Outside,
                 .out = id,
                 .lane = lane,
                 .value = value.operands[0],
                 .laneStride = laneStride(at(value.operands[0]), lane)});
      return;
    case GraphValueKind::Apply:
    case GraphValueKind::Cast:
      placeApply(id, lane, home);
      return;
    case GraphValueKind::Reduce:
      placeReduce(id, home);
      return;
    }
  }

  static Size laneStride(const GraphValue& value, uint32_t lane) {
    return lane == none ? Size(0) : value.affine.coefficient(lane);
  }

  void add(uint32_t block, Step step) { nest_.blocks[block].steps.push_back(step); }

  uint32_t maskFor(uint32_t id, uint32_t block) const {
    uint32_t mask = graph_.masks[id];
    return mask != none && encloses(homeOf(at(mask).axes), block) ? mask : none;
  }

  /// The register that holds a value as a strip along `lane`; single elements are spread once,
  /// where they are computed.
  uint32_t operandRegister(uint32_t id, uint32_t lane) {
    if (lane == none || laneOfValue(id) == lane)
      return id;
    for (uint32_t i = splatsOf_[id]; i != none; i = splats_[i].next)
      if (nest_.registers[splats_[i].number].lane == lane)
        return splats_[i].number;
    Element element = at(id).element;
    uint32_t number = addRegister(element, lane);
    splats_.push_back({number, std::exchange(splatsOf_[id], uint32_t(splats_.size()))});
    bool constant = at(id).kind == GraphValueKind::Number ||
                    (at(id).kind == GraphValueKind::Affine && at(id).axes.none());
    if (constant)
      nest_.constants.push_back({number, id});
    else
      add(homeOf(at(id).axes), {.kind = StepKind::Splat,
                                .out = number,
                                .lane = lane,
                                .operands = {id},
                                .kernel = splatKernel(element)});
    return number;
  }

  void placeApply(uint32_t id, uint32_t lane, uint32_t home) {
    const GraphValue& value = at(id);
    Step step{.kind = StepKind::Apply, .out = id, .lane = lane, .mask = maskFor(id, home)};
    for (size_t i = 0; i < value.operands.size(); ++i)
      step.operands[i] = operandRegister(value.operands[i], lane);
    bool choice = value.function == ScalarFunction::Select && value.kind == GraphValueKind::Apply;
    Element from = at(value.operands[choice ? 1 : 0]).element;
    if (value.kind == GraphValueKind::Cast)
      return addCasts(home, step, from, value.element);
    Element compute = computeElement(value.function, from);
    if (compute != from)
      for (size_t i = 0; i < value.operands.size(); ++i)
        step.operands[i] = converted(home, step, step.operands[i], from, compute);
    step.kernel = applyKernel(value.function, compute);
    if (compute == from || runtime::scalarFunctionGivesBool(value.function)) {
      add(home, step);
      return;
    }
    step.out = addRegister(compute, lane);
    add(home, step);
    step.operands[0] = std::exchange(step.out, id);
    addCasts(home, step, compute, value.element);
  }

  uint32_t addRegister(Element element, uint32_t lane) {
    nest_.registers.push_back({element, lane});
    return uint32_t(nest_.registers.size() - 1);
  }

  /// The steps of a conversion of the step's first operand.
  void addCasts(uint32_t block, Step step, Element from, Element to) {
    step.kind = StepKind::Apply;
    std::fill(step.operands + 1, std::end(step.operands), none);
    uint32_t out = step.out;
    do {
      Element next = castStep(from, to);
      step.kernel = castKernel(from, next);
      step.out = next == to ? out : addRegister(next, step.lane);
      add(block, step);
      step.operands[0] = step.out;
      from = next;
    } while (from != to);
  }

  /// A register with the elements of another one as `to`, for the lanes in which `step` runs. Each
  /// use has its own, since another may be skipped.
  uint32_t converted(uint32_t block, Step step, uint32_t number, Element from, Element to) {
    if (from == to)
      return number;
    step.operands[0] = number;
    step.out = addRegister(to, step.lane);
    addCasts(block, step, from, to);
    return step.out;
  }

  void placeReduce(uint32_t id, uint32_t home) {
    const ReducePlan& plan = nest_.reduces[id];
    uint32_t lane = laneOfValue(id), bodyLane = plan.lane == none ? lane : plan.lane;
    uint32_t body = operandRegister(at(id).operands[0], bodyLane);
    uint32_t mask = maskFor(id, home);
    add(home, {.kind = StepKind::Start, .out = id, .lane = lane, .mask = mask, .value = id});
    Step join{.kind = StepKind::Accumulate,
              .out = id,
              .lane = bodyLane,
              .value = id,
              .laneStride = laneStride(at(id), plan.lane)};
    join.operands[0] = converted(plan.blocks.back(), join, body, at(at(id).operands[0]).element,
                                 plan.kernels.operand);
    add(plan.blocks.back(), join);
    for (size_t i = plan.blocks.size(); i-- > 1;)
      add(plan.blocks[i - 1], {.kind = StepKind::Loop, .block = plan.blocks[i]});
    add(home, {.kind = StepKind::Loop, .mask = mask, .block = plan.blocks[0]});
    finishReduce(id, {.kind = StepKind::Apply, .out = id, .lane = lane, .mask = mask}, home);
  }

  void finishReduce(uint32_t id, Step step, uint32_t home) {
    const ReduceKernels& kernels = nest_.reduces[id].kernels;
    step.operands[0] = nest_.reduces[id].accumulators;
    if (kernels.finish) {
      step.kernel = kernels.finish;
      step.out = addRegister(kernels.accumulator, step.lane);
      add(home, step);
      step.operands[0] = std::exchange(step.out, id);
    }
    addCasts(home, step, kernels.accumulator, at(id).element);
  }

  void placeCheck(uint32_t number) {
    const Check& check = graph_.checks[number];
    AxisSet axes = at(check.fault.flag).axes;
    if (check.mask != none)
      axes |= at(check.mask).axes;
    add(homeOf(axes), {.kind = StepKind::Check,
                       .lane = laneOf(axes, lanes_),
                       .operands = {check.fault.flag, check.mask},
                       .value = number});
  }

  /// Lets the step of the root write into the result where its strips lie there in one piece;
  /// otherwise copies them, also behind checks: those look at operands, whose memory the result may
  /// have.
  void placeStore() {
    uint32_t last = nest_.chain.back(), root = graph_.root;
    uint32_t lane = lanes_.result;
    Size stride = lane == none ? Size(1) : graph_.store.coefficient(lane);
    bool computed = graph_.checks.empty() && at(root).kind != GraphValueKind::Number &&
                    !(at(root).kind == GraphValueKind::Affine && at(root).axes.none());
    bool direct = computed && laneOfValue(root) == lane && homeOf(at(root).axes) == last &&
                  sizes_.isSame(stride, 1);
    Step step{.kind = direct ? StepKind::Place : StepKind::Store,
              .out = root,
              .lane = lane,
              .laneStride = stride};
    if (!direct) {
      step.operands[0] = operandRegister(root, lane);
      add(last, step);
      return;
    }
    auto& steps = nest_.blocks[last].steps;
    for (Step& other : steps)
      if (other.kind == StepKind::Load && other.out == root)
        other.copies = true;
    steps.insert(steps.begin(), step);
  }

  Nest& nest_;
  Graph& graph_;
  const Lanes& lanes_;
  Sizes& sizes_;
  /// The register of a value that is spread, and of the next one of the same value.
  struct Splat {
    uint32_t number;
    uint32_t next;
  };

  /// Or none.
  List<uint32_t> blockOfAxis_;
  List<Splat> splats_;
  /// Per value the last of its splats, or none.
  List<uint32_t> splatsOf_;
  Flags materialised_;
};

/// Few enough elements that all strips together stay in the nearer caches. Those of short axes have
/// some room, so that they serve for other numbers as well.
size_t stripLengthFor(const Nest& nest) {
  constexpr size_t cacheBytes = size_t(1) << 18;
  size_t bytes = 1, longest = 16;
  for (const Register& reg : nest.registers)
    if (reg.lane != none)
      bytes += elementBytes(reg.element) * reg.perLane;
  for (size_t axis = 0; axis < nest.graph.extents.size(); ++axis)
    if (nest.lanes.axes[axis])
      longest = std::max(longest, size_t(nest.graph.extents[axis].number));
  return std::min({std::bit_ceil(longest), std::max<size_t>(cacheBytes / bytes, 16), longestStrip});
}

} // namespace

Nest schedule(Graph graph, Sizes& sizes, std::span<const uint32_t> chain, Lanes lanes,
              bool stores) {
  Nest nest;
  nest.graph = std::move(graph);
  nest.lanes = std::move(lanes);
  Scheduler(nest, sizes).run(chain, stores);
  measure(nest);
  return nest;
}

void measure(Nest& nest) {
  nest.cost = costOf(nest.graph, nest.lanes);
  nest.stripLength = stripLengthFor(nest);
}

} // namespace lower

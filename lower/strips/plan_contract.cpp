// Recognition of contractions: a sum over a product of two values, where each of the two varies
// along axes of the result that the other does not know. Anything may compute the two values; only
// faults and reductions may not occur in them, because they are evaluated panel by panel.
#include "lower/strips/plan_contract.h"

#include "lower/elements/made_small.h"
#include "lower/strips/plan_lanes.h"
#include "lower/strips/plan_merge.h"
#include "lower/strips/plan_schedule.h"

#include <algorithm>

namespace lower {

namespace {

/// The values below `root`, operands first.
List<uint32_t> valuesBelow(const Graph& graph, uint32_t root) {
  Flags seen(size_t(root) + 1);
  seen[root] = true;
  List<uint32_t> found;
  for (uint32_t id = root + 1; id-- > 0;) {
    if (!seen[id])
      continue;
    found.push_back(id);
    const GraphValue& value = graph.values[id];
    for (uint32_t operand : value.operands)
      seen[operand] = true;
    for (const IndexTerm& term : value.indices)
      seen[term.position] = true;
    if (value.fill != none)
      seen[value.fill] = true;
  }
  std::ranges::reverse(found);
  return found;
}

/// The reductions that the root needs at every position: not those within selections, loads or
/// other reductions.
List<uint32_t> reductionsAtTop(const Graph& graph) {
  List<uint32_t> found;
  Flags wanted(size_t(graph.root) + 1);
  wanted[graph.root] = true;
  for (uint32_t id = graph.root + 1; id-- > 0;) {
    const GraphValue& value = graph.values[id];
    if (!wanted[id])
      continue;
    if (value.kind == GraphValueKind::Reduce)
      found.push_back(id);
    bool choice = value.kind == GraphValueKind::Apply && value.function == ScalarFunction::Select;
    if (value.kind == GraphValueKind::Cast || (value.kind == GraphValueKind::Apply && !choice))
      for (uint32_t operand : value.operands)
        wanted[operand] = true;
  }
  return found;
}

/// The product of the extents of axes; nothing beyond 64 bits.
std::optional<Size> product(const Graph& graph, Sizes& sizes, const List<uint32_t>& axes) {
  std::optional<Size> count = 1;
  for (uint32_t axis : axes)
    count = count ? sizes.product(*count, graph.extents[axis]) : std::nullopt;
  return count;
}

class Extraction {
public:
  Extraction(Graph& graph, Sizes& sizes, uint32_t result, Program& program)
      : graph_(graph), sizes_(sizes), result_(result), program_(program) {}

  bool run() {
    for (uint32_t reduce : reductionsAtTop(graph_))
      if (fits(reduce) && extract(reduce))
        return true;
    return false;
  }

private:
  bool isPlain(uint32_t root) const {
    for (uint32_t id : valuesBelow(graph_, root)) {
      if (graph_.values[id].kind == GraphValueKind::Reduce)
        return false;
      for (const Faultable& fault : graph_.faultables)
        if (fault.value == id)
          return false;
    }
    return true;
  }

  /// Classifies the axes of a reduction; true when it is a contraction that is worth while.
  bool fits(uint32_t id) {
    const GraphValue& reduce = graph_.values[id];
    const GraphValue& body = graph_.values[reduce.operands[0]];
    bool sums = reduce.combiner == Combiner::Sum && body.kind == GraphValueKind::Apply &&
                body.function == ScalarFunction::Multiply;
    if (!sums || body.element == Element::Bool)
      return false;
    left_ = body.operands[0];
    right_ = body.operands[1];
    AxisSet left = graph_.values[left_].axes, right = graph_.values[right_].axes;
    batch_.clear();
    leftOnly_.clear();
    rightOnly_.clear();
    free_.clear();
    for (uint32_t axis : graph_.outputAxes) {
      if (!left[axis] && !right[axis])
        continue;
      free_.push_back(axis);
      (left[axis] && right[axis] ? batch_ : left[axis] ? leftOnly_ : rightOnly_).push_back(axis);
    }
    if ((leftOnly_.empty() && rightOnly_.empty()) || !isPlain(left_) || !isPlain(right_))
      return false;
    hasFewRows_ = !isMadeSmall && panelElement(body.element) == Element::Float32 &&
                  std::ranges::all_of(reduce.reduced,
                                      [&](uint32_t axis) { return left[axis] && right[axis]; }) &&
                  isWorthFewRows(reduce.reduced);
    return hasFewRows_ ||
           (!leftOnly_.empty() && !rightOnly_.empty() && isWorthWhile(reduce.reduced));
  }

  /// Of a side with few rows nothing is packed, which pays off when strips of the other lie in
  /// memory as they are.
  bool isWorthFewRows(const List<uint32_t>& reduced) {
    auto rows = product(graph_, sizes_, leftOnly_), columns = product(graph_, sizes_, rightOnly_);
    auto depth = product(graph_, sizes_, reduced);
    if (!rows || !columns || !depth)
      return false;
    constexpr int64_t many = 8;
    leftIsRows_ = !sizes_.isAtLeast(*rows, many);
    if (!leftIsRows_ && sizes_.isAtLeast(*columns, many))
      return false;
    auto count = sizes_.product(leftIsRows_ ? *columns : *rows, *depth);
    if (!count || !sizes_.isAtLeast(*depth, 2) || !sizes_.isAtLeast(*count, 1024))
      return false;
    Graph graph = graph_;
    graph.root = leftIsRows_ ? right_ : left_;
    graph.order = valuesBelow(graph, graph.root);
    graph.outputAxes = free_;
    List<uint32_t> candidates = free_;
    candidates.append(reduced);
    uint32_t lane = chooseLanes(graph, sizes_, candidates, false).result;
    // Short strips cost more for each than they do at once.
    constexpr int64_t longStrip = 48;
    return std::ranges::find(batch_, lane) == batch_.end() && graph.values[graph.root].axes[lane] &&
           sizes_.isAtLeast(graph.extents[lane], longStrip);
  }

  /// It adds up in another order than loops do, so all of a class must agree on it.
  bool isWorthWhile(const List<uint32_t>& reduced) {
    auto rows = product(graph_, sizes_, leftOnly_), columns = product(graph_, sizes_, rightOnly_);
    auto depth = product(graph_, sizes_, reduced);
    auto area = rows && columns ? sizes_.product(*rows, *columns) : std::nullopt;
    auto count = area && depth ? sizes_.product(*area, *depth) : std::nullopt;
    // What cannot be counted is large.
    return !count || (sizes_.isAtLeast(*rows, 4) && sizes_.isAtLeast(*columns, 4) &&
                      sizes_.isAtLeast(*depth, 2) && sizes_.isAtLeast(*count, 1024));
  }

  /// Makes the stage; true when it is all of the stage that is being planned.
  bool extract(uint32_t id) {
    bool whole = id == graph_.root && free_.size() == graph_.outputAxes.size();
    StagePlan stage;
    stage.kind = StagePlanKind::Contract;
    stage.result = whole ? result_ : addTensor(id);
    Graph part = graph_;
    // The rest of the graph keeps its axes, whichever of them the stage walks as one.
    Affine store = whole ? graph_.store : rowMajor();
    part.store = store;
    List<uint32_t> summed = graph_.values[id].reduced;
    merge(part, summed);
    fill(stage.contraction, part, summed, graph_.values[id].element);
    if (!whole)
      replace(id, stage.result, std::move(store));
    program_.stages.push_back(std::move(stage));
    return whole;
  }

  uint32_t addTensor(uint32_t id) {
    PlanTensor tensor = program_.tensors[result_];
    tensor.element = graph_.values[id].element;
    tensor.shape.clear();
    tensor.count = 1;
    for (uint32_t axis : free_)
      tensor.shape.push_back(graph_.extents[axis]);
    // The axes are some of those of the stage, whose positions are counted.
    tensor.count = product(graph_, sizes_, free_).value_or(0);
    tensor.dtype = dtypeOf(tensor.element);
    program_.tensors.push_back(std::move(tensor));
    return uint32_t(program_.tensors.size() - 1);
  }

  static runtime::DType dtypeOf(Element element) {
    constexpr runtime::DType dtypes[] = {
        runtime::Bool,     runtime::Int8,    runtime::Int16,  runtime::Int32,  runtime::Int64,
        runtime::UInt8,    runtime::UInt16,  runtime::UInt32, runtime::UInt64, runtime::Float16,
        runtime::BFloat16, runtime::Float32, runtime::Float64};
    return dtypes[size_t(element)];
  }

  Affine rowMajor() const {
    Affine form;
    Size stride = 1;
    for (size_t i = free_.size(); i-- > 0;) {
      form.terms.insert(form.terms.begin(), {free_[i], stride});
      stride = sizes_.product(stride, graph_.extents[free_[i]]).value_or(0);
    }
    return form;
  }

  void replace(uint32_t id, uint32_t tensor, Affine form) {
    GraphValue load{GraphValueKind::Load, graph_.values[id].element};
    load.axes = graph_.values[id].axes;
    load.tensor = tensor;
    load.affine = std::move(form);
    // A fill is never read, since all positions are inside; any earlier value would do.
    load.fill = none;
    graph_.values[id] = std::move(load);
  }

  void merge(Graph& part, List<uint32_t>& summed) {
    part.order = valuesBelow(part, std::max(left_, right_));
    for (uint32_t id : valuesBelow(part, std::min(left_, right_)))
      if (std::ranges::find(part.order, id) == part.order.end())
        part.order.push_back(id);
    mergeAxes(part, sizes_, summed);
    mergeAxes(part, sizes_, free_);
    for (auto* axes : {&batch_, &leftOnly_, &rightOnly_})
      axes->eraseIf([&](uint32_t axis) { return std::ranges::find(free_, axis) == free_.end(); });
  }

  void fill(Contraction& contraction, const Graph& part, const List<uint32_t>& summed,
            Element element) {
    contraction.extents = part.extents;
    contraction.batch = batch_;
    contraction.summed = summed;
    contraction.store = part.store;
    contraction.element = element;
    contraction.hasFewRows = hasFewRows_;
    if (hasFewRows_) {
      if (leftIsRows_) {
        std::swap(left_, right_);
        std::swap(leftOnly_, rightOnly_);
      }
      List<uint32_t> candidates = summed;
      candidates.append(leftOnly_);
      fillSide(contraction.columns, contraction, part, left_, leftOnly_, candidates);
      uint32_t last = contraction.summed.back();
      fillSide(contraction.rows, contraction, part, right_, rightOnly_, {&last, 1});
      return;
    }
    bool leftIsLast = leftOnly_.back() > rightOnly_.back();
    auto& last = contraction.columns;
    auto& other = contraction.rows;
    fillSide(leftIsLast ? last : other, contraction, part, left_, leftOnly_, leftOnly_);
    fillSide(leftIsLast ? other : last, contraction, part, right_, rightOnly_, rightOnly_);
  }

  /// The value in the type of panels.
  static uint32_t asPanel(Graph& graph, uint32_t root) {
    const GraphValue& value = graph.values[root];
    Element panel = panelElement(value.element);
    if (isFloat(panel) ? panel == value.element
                       : elementBytes(panel) == elementBytes(value.element))
      return root;
    graph.values.push_back({GraphValueKind::Cast, panel, value.axes, value.range, {root}});
    return uint32_t(graph.values.size() - 1);
  }

  /// Strips run along one of `candidates`, of its own axes or summed, which becomes the last.
  void fillSide(Contraction::Side& side, Contraction& contraction, const Graph& part, uint32_t root,
                const List<uint32_t>& own, std::span<const uint32_t> candidates) {
    Graph graph = part;
    graph.root = side.root = asPanel(graph, root);
    graph.order = valuesBelow(graph, graph.root);
    graph.masks.assign(graph.values.size(), none);
    graph.checks.clear();
    graph.outputAxes = batch_;
    graph.outputAxes.append(own);
    Lanes lanes = chooseLanes(graph, sizes_, candidates, false);
    side.axes = own;
    side.runsAlongSum = std::ranges::find(own, lanes.result) == own.end();
    List<uint32_t>& walked = side.runsAlongSum ? contraction.summed : side.axes;
    walked.eraseIf([&](uint32_t axis) { return axis == lanes.result; });
    walked.push_back(lanes.result);
    List<uint32_t> chain = batch_;
    chain.append(side.axes);
    side.outerBlocks = 1 + chain.size();
    chain.append(contraction.summed);
    side.count = product(part, sizes_, own).value_or(0);
    side.nest = schedule(std::move(graph), sizes_, chain, std::move(lanes), false);
  }

  Graph& graph_;
  Sizes& sizes_;
  uint32_t result_;
  Program& program_;
  uint32_t left_ = none, right_ = none;
  bool hasFewRows_ = false, leftIsRows_ = false;
  List<uint32_t> batch_, leftOnly_, rightOnly_, free_;
};

} // namespace

bool extractContractions(Graph& graph, Sizes& sizes, uint32_t result, Program& program) {
  return Extraction(graph, sizes, result, program).run();
}

} // namespace lower

// Lowering of expressions: folding of index arithmetic, safe loads, typed functions.
//
// Operands are lowered before their users with an explicit stack, since an expression may be as
// deep as an operator has operands.
#include "lower/strips/plan_lower.h"

#include "lower/strips/plan_affine.h"
#include "lower/strips/plan_splits.h"
#include "lower/strips/plan_values.h"
#include "runtime/numbering.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>

namespace lower {

namespace {

using tensor::ScalarNode;
using enum ScalarFunction;

bool isIntegerDivision(ScalarFunction function, Element element) {
  return tensor::scalarFunctionDivides(function) && !isFloat(element);
}

bool isAnalysis(ScalarFunction function) {
  return function >= Exp && function <= Sigmoid;
}

class Lowering {
public:
  Lowering(std::span<const PlanTensor> tensors, const PlanSizes& given, Graph& graph,
           std::string& problem)
      : tensors_(tensors), given_(given), sizes_(given.sizes), graph_(graph), problem_(problem) {}

  void run(const tensor::Stage& stage) {
    splits_ = findSplits(stage.body);
    for (const tensor::LoopAxis& axis : stage.axes) {
      if (!addAxis(axis))
        return;
      for (const AffineTerm& term : axes_.back().form.terms)
        graph_.outputAxes.push_back(term.axis);
    }
    Size stride = 1;
    for (size_t i = graph_.outputAxes.size(); i-- > 0;) {
      graph_.store.terms.push_back({graph_.outputAxes[i], stride});
      stride = times(stride, graph_.extents[graph_.outputAxes[i]]);
    }
    std::reverse(graph_.store.terms.begin(), graph_.store.terms.end());
    graph_.root = lowerTree(stage.body);
  }

  /// The value of an extent; nothing when it is made of more than numbers and extents.
  std::optional<Size> extentOf(const ScalarNode* node) {
    if (const auto* number = node->as<tensor::ScalarNumber>())
      return number->dtype.isFloat() ? std::nullopt : std::optional<Size>(number->integer);
    if (const auto* extent = node->as<tensor::ScalarExtent>())
      return given_.extent(*extent);
    if (node->dtype != runtime::Int64 || !isOfExtents(node))
      return std::nullopt;
    uint32_t id = lowerTree(node);
    bool isSize = id != none && at(id).kind == GraphValueKind::Affine;
    return isSize ? std::optional(at(id).affine.constant) : std::nullopt;
  }

private:
  void fail(std::string text) {
    if (problem_.empty())
      problem_ = std::move(text);
  }

  void failTypes(ScalarFunction function) {
    fail(fmt::format("operands of `{}` differ in type", tensor::scalarFunctionName(function)));
  }

  /// The product of extents of one tensor, whose elements are counted.
  Size times(Size a, Size b) {
    auto product = sizes_.product(a, b);
    if (!product)
      fail("a tensor has too many elements");
    return product.value_or(0);
  }

  /// Numbers a loop axis and gives its extent, or nothing when it is malformed. The form of an axis
  /// of extent 1 has no terms; an axis that is divided by a number becomes two.
  std::optional<Size> addAxis(const tensor::LoopAxis& axis) {
    auto extent = extentOf(axis.extent);
    bool isGood = extent && sizes_.isAtLeast(*extent, 0);
    if (!isGood || graph_.extents.size() + 2 > maxAxes) {
      fail(!isGood ? "an extent is not a constant that counts"
                   : "an expression has too many loops");
      return std::nullopt;
    }
    Affine form;
    auto addTerm = [&](Size count, Size coefficient) {
      form.terms.push_back({uint32_t(graph_.extents.size()), coefficient});
      graph_.extents.push_back(count);
    };
    if (auto split = splitOf(axis.number, *extent)) {
      addTerm(sizes_.quotient(*extent, *split), *split);
      addTerm(*split, 1);
    } else if (!sizes_.isSame(*extent, 1)) {
      addTerm(*extent, 1);
    }
    axes_.push_back({axis.number, std::move(form)});
    return extent;
  }

  /// Into pieces of what size an axis is worth splitting, if it is.
  std::optional<Size> splitOf(uint32_t axis, Size extent) {
    auto split = std::ranges::find(splits_, axis, &Split::axis);
    auto divisor = split == splits_.end() ? std::nullopt : extentOf(split->divisor);
    bool isWorth = divisor && sizes_.isAtLeast(*divisor, 2) && sizes_.isLess(*divisor, extent) &&
                   sizes_.isSame(sizes_.rest(extent, *divisor), 0);
    return isWorth ? divisor : std::nullopt;
  }

  uint32_t add(GraphValue value) {
    bool mayFault = false;
    for (uint32_t operand : value.operands)
      mayFault |= mayFault_[operand];
    for (const IndexTerm& term : value.indices)
      mayFault |= mayFault_[term.position];
    mayFault_.push_back(mayFault);
    return append(graph_, std::move(value));
  }
  void addFaultable(uint32_t id, uint32_t flag) {
    mayFault_[id] = true;
    graph_.faultables.push_back({id, flag});
  }
  const GraphValue& at(uint32_t id) const { return graph_.values[id]; }

  bool isLowered(const ScalarNode* node) const { return nodes_.contains(node); }
  /// The value of a node that is lowered.
  uint32_t lowered(const ScalarNode* node) const { return lowered_[nodes_.find(node)]; }

  /// The next operand of a node that is not lowered yet, or null. Enters the axes of a reduction.
  const ScalarNode* pendingOperand(const ScalarNode* node) {
    const auto* reduce = node->as<tensor::ScalarReduce>();
    if (reduce && enterReduce(*reduce))
      return nullptr;
    if (const auto* apply = node->as<tensor::ScalarApply>())
      if (const ScalarNode* only = decidedOperand(*apply))
        return isLowered(only) ? nullptr : only;
    for (const ScalarNode* operand : operandsOf(node))
      if (!isLowered(operand))
        return operand;
    return nullptr;
  }

  /// A bool that is lowered to a number.
  std::optional<bool> truthOf(const ScalarNode* node) const {
    if (!isLowered(node) || !node->dtype.isBool())
      return std::nullopt;
    const GraphValue& value = at(lowered(node));
    bool isTruth = value.kind == GraphValueKind::Number;
    return isTruth ? std::optional(value.integer != 0) : std::nullopt;
  }

  /// The operand that is the value of a choice, or of an `and` or `or`, where another operand
  /// decides it; else null. What such a node does not need is not lowered, so nothing is asked for
  /// it. An `and` that is decided by more than extents still has the faults of both sides.
  const ScalarNode* decidedOperand(const tensor::ScalarApply& node) const {
    bool isAnd = node.function == LogicalAnd;
    if (node.function == Select && node.operands.size() == 3) {
      auto holds = truthOf(node.operands[0]);
      return holds ? node.operands[*holds ? 1 : 2] : nullptr;
    }
    if ((isAnd || node.function == LogicalOr) && node.operands.size() == 2)
      for (size_t i : {0, 1})
        if (auto holds = truthOf(node.operands[i]); holds && isOfExtents(node.operands[i]))
          return node.operands[*holds == isAnd ? 1 - i : i];
    return nullptr;
  }

  /// Numbers the axes of a reduction at the first visit. True when it is empty: then its body,
  /// which never runs, must not be lowered.
  bool enterReduce(const tensor::ScalarReduce& reduce) {
    if (uint32_t known = entered_.find(&reduce); known != none)
      return reductions_[known].empty;
    Reduction reduction;
    for (const tensor::LoopAxis& axis : reduce.axes) {
      auto extent = addAxis(axis);
      if (!extent)
        break;
      reduction.empty |= !sizes_.isAtLeast(*extent, 1);
      reduction.extents.push_back(*extent);
      reduction.forms.push_back(Affine(axes_.back().form));
    }
    entered_.add(&reduce);
    reductions_.push_back(std::move(reduction));
    return reductions_.back().empty;
  }

  uint32_t lowerTree(const ScalarNode* root) {
    List<const ScalarNode*> stack{root};
    while (!stack.empty() && problem_.empty()) {
      const ScalarNode* node = stack.back();
      if (!node->dtype.isComputable()) {
        fail(fmt::format("cannot compute with `{}`", runtime::dtypeName(node->dtype)));
      } else if (isLowered(node)) {
        stack.pop_back();
      } else if (const ScalarNode* pending = pendingOperand(node)) {
        stack.push_back(pending);
      } else {
        lowered_.push_back(lowerNode(node));
        nodes_.add(node);
        stack.pop_back();
      }
    }
    return problem_.empty() ? lowered(root) : none;
  }

  uint32_t lowerNode(const ScalarNode* node) {
    switch (node->kind) {
    case tensor::ScalarKind::Number: {
      const auto* number = node->as<tensor::ScalarNumber>();
      return constant(elementOf(node->dtype), number->real, number->integer);
    }
    case tensor::ScalarKind::Index:
      return lowerIndex(*node->as<tensor::ScalarIndex>());
    case tensor::ScalarKind::Extent:
      if (auto extent = given_.extent(*node->as<tensor::ScalarExtent>()))
        return *affine({*extent, {}});
      fail("an extent is not bound");
      return none;
    case tensor::ScalarKind::Load:
      return lowerLoad(*node->as<tensor::ScalarLoad>());
    case tensor::ScalarKind::Apply:
      return lowerApply(*node->as<tensor::ScalarApply>());
    case tensor::ScalarKind::Cast: {
      const auto* convert = node->as<tensor::ScalarCast>();
      return cast(lowered(convert->operand), elementOf(node->dtype));
    }
    case tensor::ScalarKind::Reduce:
      return lowerReduce(*node->as<tensor::ScalarReduce>());
    }
    return none;
  }

  uint32_t constant(Element element, double real, int64_t integer) {
    if (element == Element::Int64)
      return *affine({integer, {}});
    return add(makeNumber(element, real, integer));
  }

  /// The value of a form; nothing when int64 may not hold it.
  std::optional<uint32_t> affine(Affine form) {
    Range range = rangeOf(sizes_, form, graph_.extents);
    if (!form.terms.empty() && !fits(sizes_, range))
      return std::nullopt;
    GraphValue value{GraphValueKind::Affine, Element::Int64, axesOf(form), range, {}};
    value.affine = std::move(form);
    return add(std::move(value));
  }

  uint32_t cast(uint32_t operand, Element element) {
    const GraphValue& from = at(operand);
    if (from.element == element)
      return operand;
    if (from.kind == GraphValueKind::Number && from.element == Element::Bool &&
        (element == Element::Int64 || isFloat(element)))
      return constant(element, double(from.integer), from.integer);
    GraphValue value{GraphValueKind::Cast, element, from.axes, rangeOfElement(element), {operand}};
    bool keeps = !isFloat(from.element) && from.element != Element::UInt64 &&
                 element != Element::Bool && sizes_.isAtLeast(from.range.low, value.range.low) &&
                 sizes_.isAtLeast(value.range.high, from.range.high);
    if (keeps)
      value.range = from.range;
    return add(std::move(value));
  }

  uint32_t apply(ScalarFunction function, Element element, List<uint32_t> operands) {
    return add(makeApply(sizes_, graph_, function, element, std::move(operands)));
  }

  uint32_t lowerIndex(const tensor::ScalarIndex& index) {
    auto axis = std::ranges::find(axes_, index.axis, &LoweredAxis::number);
    if (axis == axes_.end()) {
      fail("an index is used outside its loop");
      return none;
    }
    auto id = affine(axis->form);
    if (!id)
      fail("a loop is too long");
    return id.value_or(none);
  }

  uint32_t lowerLoad(const tensor::ScalarLoad& load) {
    if (load.tensor >= tensors_.size() ||
        load.position.size() != tensors_[load.tensor].shape.size()) {
      fail("a load does not fit its tensor");
      return none;
    }
    const PlanTensor& tensor = tensors_[load.tensor];
    GraphValue value{GraphValueKind::Load, tensor.element, {}, rangeOfElement(tensor.element), {}};
    value.tensor = load.tensor;
    Size stride = 1;
    for (size_t i = tensor.shape.size(); i-- > 0;) {
      uint32_t position = lowered(load.position[i]);
      addDimension(value, position, tensor.shape[i], stride, uint32_t(i));
      value.axes |= at(position).axes;
      if (i > 0 && sizes_.isAtLeast(tensor.shape[i], 1))
        stride = times(stride, tensor.shape[i]);
    }
    bool safe = value.bounds.empty();
    for (const IndexTerm& term : value.indices)
      safe &= term.inside;
    uint32_t outside = load.outside ? lowered(load.outside) : none;
    bool plainFill =
        outside != none &&
        (at(outside).kind == GraphValueKind::Number ||
         (at(outside).kind == GraphValueKind::Affine && at(outside).affine.terms.empty()));
    if (outside != none && at(outside).element != value.element)
      fail("a load and its value outside differ in type");
    value.fill = plainFill ? outside : add(makeNumber(value.element, 0, 0));
    Element element = value.element;
    uint32_t id = add(std::move(value));
    if (safe || plainFill)
      return id;
    GraphValue flag{
        GraphValueKind::Outside, Element::Bool, axesOfOutside(graph_, id), {0, 1}, {id}};
    uint32_t flagId = add(std::move(flag));
    if (outside != none)
      return apply(Select, element, {flagId, outside, id});
    addFaultable(id, flagId);
    return id;
  }

  void addDimension(GraphValue& load, uint32_t position, Size extent, Size stride,
                    uint32_t dimension) {
    const GraphValue& index = at(position);
    if (index.element != Element::Int64) {
      fail("a position is not int64");
      return;
    }
    bool inside = isBelow(sizes_, index.range, extent);
    if (index.kind == GraphValueKind::Affine)
      if (auto sum = addAffine(sizes_, load.affine, index.affine, stride);
          sum && fits(sizes_, rangeOf(sizes_, *sum, graph_.extents))) {
        load.affine = *sum;
        if (!inside)
          load.bounds.push_back({index.affine, extent, dimension});
        return;
      }
    load.indices.push_back({position, stride, extent, dimension, inside});
  }

  uint32_t lowerApply(const tensor::ScalarApply& node) {
    if (const ScalarNode* only = decidedOperand(node))
      return lowerDecided(node, only);
    List<uint32_t> operands;
    for (const ScalarNode* operand : node.operands)
      operands.push_back(lowered(operand));
    if (operands.size() != tensor::scalarFunctionArity(node.function)) {
      fail("a scalar function has the wrong number of operands");
      return none;
    }
    Element element = elementOf(node.dtype);
    if (node.function == Select)
      return lowerSelect(element, std::move(operands));
    if (node.function == Reinterpret)
      return lowerReinterpret(node, operands[0], element);
    for (uint32_t operand : operands)
      if (at(operand).element != at(operands[0]).element)
        failTypes(node.function);
    if (auto folded = fold(node.function, operands))
      return *folded;
    return lowerFunction(node.function, element, std::move(operands));
  }

  uint32_t lowerDecided(const tensor::ScalarApply& node, const ScalarNode* only) {
    uint32_t id = lowered(only);
    if (at(id).element == elementOf(node.dtype))
      return id;
    failTypes(node.function);
    return none;
  }

  uint32_t lowerFunction(ScalarFunction function, Element element, List<uint32_t> operands) {
    Element from = at(operands[0]).element;
    if (isAnalysis(function) && !isFloat(from)) {
      Element wide = elementOf(runtime::Float64);
      return cast(apply(function, wide, {cast(operands[0], wide)}), element);
    }
    if (function >= Floor && function <= RoundEven && !isFloat(from))
      return operands[0];
    bool tests =
        (function >= Equal && function <= GreaterEqual) || (function >= IsNan && function <= IsInf);
    if (element != (tests ? Element::Bool : from) ||
        !applyKernel(function, computeElement(function, from))) {
      fail(fmt::format("`{}` is not defined on these types", tensor::scalarFunctionName(function)));
      return none;
    }
    uint32_t divisor = operands.size() == 2 ? operands[1] : none;
    uint32_t id = apply(function, element, std::move(operands));
    if (isIntegerDivision(function, from) && sizes_.isAtLeast(0, at(divisor).range.low) &&
        sizes_.isAtLeast(at(divisor).range.high, 0)) {
      uint32_t zero = constant(from, 0, 0);
      addFaultable(id, apply(Equal, Element::Bool, {divisor, zero}));
    }
    return id;
  }

  uint32_t lowerSelect(Element element, List<uint32_t> operands) {
    if (at(operands[1]).element != element || at(operands[2]).element != element) {
      fail("the sides of `Select` differ in type");
      return none;
    }
    operands[0] = cast(operands[0], Element::Bool);
    const GraphValue& condition = at(operands[0]);
    if (isPoint(condition.range) && !mayFault_[operands[0]])
      return operands[condition.range.low.number != 0 ? 1 : 2];
    return apply(Select, element, std::move(operands));
  }

  uint32_t lowerReinterpret(const tensor::ScalarApply& node, uint32_t operand, Element element) {
    if (node.operands[0]->dtype.bits != node.dtype.bits) {
      fail("`Reinterpret` is not defined on these types");
      return none;
    }
    return apply(Reinterpret, element, {operand});
  }

  /// Index arithmetic that stays affine, comparisons that ranges decide, and trivial logic.
  std::optional<uint32_t> fold(ScalarFunction function, const List<uint32_t>& operands) {
    if (at(operands[0]).element == Element::Bool)
      return foldLogic(function, operands);
    if (operands.size() != 2 || at(operands[0]).element != Element::Int64 ||
        mayFault_[operands[0]] || mayFault_[operands[1]])
      return std::nullopt;
    const GraphValue &a = at(operands[0]), &b = at(operands[1]);
    if (auto decided = decideComparison(sizes_, function, a.range, b.range))
      return add(makeNumber(Element::Bool, 0, *decided));
    bool divides = function == FloorDivide || function == FloorMod;
    if (divides && isPoint(b.range) && sizes_.isAtLeast(b.range.low, 1) &&
        isBelow(sizes_, a.range, b.range.low))
      return function == FloorMod ? std::optional(operands[0]) : affine({});
    if (b.kind != GraphValueKind::Affine)
      return std::nullopt;
    if (a.kind != GraphValueKind::Affine)
      return isNeutral(function, b) ? std::optional(operands[0]) : std::nullopt;
    auto form = applyAffine(sizes_, function, a.affine, b.affine, graph_.extents);
    return form ? affine(std::move(*form)) : std::nullopt;
  }

  /// Whether a function with this as its second operand gives the first one.
  static bool isNeutral(ScalarFunction function, const GraphValue& value) {
    const Affine& form = value.affine;
    bool isUnit = function == Multiply || function == FloorDivide;
    return (isUnit || function == Add || function == Subtract) && form.terms.empty() &&
           form.constant.isConstant() && form.constant.number == (isUnit ? 1 : 0);
  }

  std::optional<uint32_t> foldLogic(ScalarFunction function, const List<uint32_t>& operands) {
    const GraphValue& last = at(operands.back());
    if (last.kind != GraphValueKind::Number)
      return std::nullopt;
    if (function == LogicalNot)
      return constant(Element::Bool, 0, last.integer == 0);
    bool isAnd = function == LogicalAnd, isNeutral = (last.integer != 0) == isAnd;
    if ((!isAnd && function != LogicalOr) || (!isNeutral && mayFault_[operands[0]]))
      return std::nullopt;
    return operands[isNeutral ? 0 : 1];
  }

  uint32_t lowerReduce(const tensor::ScalarReduce& node) {
    const Reduction& reduction = reductions_[entered_.find(&node)];
    Element element = elementOf(node.dtype);
    if (reduction.empty)
      return identity(node.combiner, element);
    uint32_t body = lowered(node.body);
    GraphValue value{
        GraphValueKind::Reduce, element, at(body).axes, rangeOfElement(element), {body}};
    value.combiner = node.combiner;
    Size stride = 1;
    for (size_t i = reduction.forms.size(); i-- > 0;) {
      auto sum = addAffine(sizes_, value.affine, reduction.forms[i], stride);
      auto next = sizes_.product(stride, reduction.extents[i]);
      if (!sum || !next) {
        fail("a reduction has too many positions");
        return none;
      }
      value.affine = *sum;
      stride = *next;
    }
    for (const Affine& form : reduction.forms)
      for (const AffineTerm& term : form.terms) {
        value.reduced.push_back(term.axis);
        value.axes.reset(term.axis);
      }
    if (value.reduced.empty())
      return reduceOfOne(node.combiner, body, element);
    bool isPosition = node.combiner >= Combiner::ArgMaximum;
    if (isPosition ? element != Element::Int32 && element != Element::Int64
                   : element != at(body).element) {
      fail("a reduction is not defined on these types");
      return none;
    }
    return add(std::move(value));
  }

  uint32_t reduceOfOne(Combiner combiner, uint32_t body, Element element) {
    if (combiner >= Combiner::ArgMaximum && !mayFault_[body])
      return constant(element, 0, 0);
    if (combiner >= Combiner::ArgMaximum)
      return apply(Multiply, element, {cast(body, element), constant(element, 0, 0)});
    if (combiner == Combiner::All || combiner == Combiner::Any)
      return apply(LogicalAnd, element, {body, body});
    return body;
  }

  uint32_t identity(Combiner combiner, Element element) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    Range range = rangeOfElement(element);
    if (element == Element::UInt64)
      range = {0, -1};
    int64_t least = range.low.number, most = range.high.number;
    switch (combiner) {
    case Combiner::Product:
    case Combiner::All:
      return constant(element, 1, 1);
    case Combiner::Maximum:
      return constant(element, -infinity, least);
    case Combiner::Minimum:
      return constant(element, infinity, most);
    default:
      return constant(element, 0, 0);
    }
  }

  struct LoweredAxis {
    static constexpr bool movesAsBytes = true;

    uint32_t number;
    Affine form;
  };
  struct Reduction {
    static constexpr bool movesAsBytes = true;

    bool empty = false;
    List<Size> extents;
    List<Affine> forms;
  };

  std::span<const PlanTensor> tensors_;
  const PlanSizes& given_;
  Sizes& sizes_;
  Graph& graph_;
  std::string& problem_;
  /// Per value: it or something that it needs may fault, so folding must not drop it.
  Flags mayFault_;
  /// Per axis of the expression: its position as a form of the graph's axes.
  List<LoweredAxis> axes_;
  List<Split> splits_;
  /// The nodes that are lowered, and the value of each.
  runtime::Numbering nodes_;
  List<uint32_t> lowered_;
  /// The reductions whose axes are numbered, and these axes.
  runtime::Numbering entered_;
  List<Reduction> reductions_;
};

} // namespace

std::optional<Size> PlanSizes::extent(const tensor::ScalarExtent& extent) const {
  const List<uint32_t>& firsts = extent.isOfResult ? results : inputs;
  if (extent.tensor >= firsts.size() || firsts[extent.tensor] + extent.dim >= sizes.parameters())
    return std::nullopt;
  return sizes.parameter(firsts[extent.tensor] + extent.dim);
}

std::optional<Size> extentOf(const ScalarNode* node, const PlanSizes& sizes) {
  Graph graph;
  std::string problem;
  return Lowering({}, sizes, graph, problem).extentOf(node);
}

Graph lowerStage(const tensor::Stage& stage, std::span<const PlanTensor> tensors,
                 const PlanSizes& sizes, std::string& problem) {
  Graph graph;
  Lowering(tensors, sizes, graph, problem).run(stage);
  return graph;
}

} // namespace lower

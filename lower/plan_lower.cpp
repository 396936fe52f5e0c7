// Lowering of expressions: folding of index arithmetic, safe loads, typed functions.
//
// Operands are lowered before their users with an explicit stack, since an expression may be as
// deep as an operator has operands.
#include "lower/plan_lower.h"

#include "lower/plan_affine.h"
#include "lower/plan_splits.h"
#include "lower/plan_values.h"

#include <fmt/format.h>
#include <limits>
#include <unordered_map>

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
  Lowering(std::span<const PlanTensor> tensors, Graph& graph, std::string& problem)
      : tensors_(tensors), graph_(graph), problem_(problem) {}

  void run(const tensor::Stage& stage) {
    splits_ = findSplits(stage.body);
    for (const tensor::LoopAxis& axis : stage.axes) {
      if (!addAxis(axis))
        return;
      for (const AffineTerm& term : axes_[axis.number].terms)
        graph_.outputAxes.push_back(term.axis);
    }
    int64_t stride = 1;
    for (size_t i = graph_.outputAxes.size(); i-- > 0;
         stride *= graph_.extents[graph_.outputAxes[i]])
      graph_.store.terms.push_back({graph_.outputAxes[i], stride});
    std::reverse(graph_.store.terms.begin(), graph_.store.terms.end());
    graph_.root = lowerTree(stage.body);
  }

private:
  void fail(std::string text) {
    if (problem_.empty())
      problem_ = std::move(text);
  }

  /// Numbers a loop axis and gives its extent, or nothing when it is malformed. The form of an axis
  /// of extent 1 has no terms; an axis that is divided by a number becomes two.
  std::optional<int64_t> addAxis(const tensor::LoopAxis& axis) {
    auto extent = constantExtent(axis.extent);
    if (!extent || *extent < 0 || graph_.extents.size() + 2 > maxAxes) {
      fail(!extent || *extent < 0 ? "an extent is not a constant that counts"
                                  : "an expression has too many loops");
      return std::nullopt;
    }
    Affine form;
    auto addTerm = [&](int64_t count, int64_t coefficient) {
      form.terms.push_back({uint32_t(graph_.extents.size()), coefficient});
      graph_.extents.push_back(count);
    };
    auto split = splits_.find(axis.number);
    if (split != splits_.end() && *extent > split->second && *extent % split->second == 0) {
      addTerm(*extent / split->second, split->second);
      addTerm(split->second, 1);
    } else if (*extent != 1) {
      addTerm(*extent, 1);
    }
    axes_[axis.number] = std::move(form);
    return *extent;
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

  /// The next operand of a node that is not lowered yet, or null. Enters the axes of a reduction.
  const ScalarNode* pendingOperand(const ScalarNode* node) {
    const auto* reduce = node->as<tensor::ScalarReduce>();
    if (reduce && enterReduce(*reduce))
      return nullptr;
    for (const ScalarNode* operand : operandsOf(node))
      if (!lowered_.contains(operand))
        return operand;
    return nullptr;
  }

  /// Numbers the axes of a reduction at the first visit. True when it is empty: then its body,
  /// which never runs, must not be lowered.
  bool enterReduce(const tensor::ScalarReduce& reduce) {
    auto [place, isNew] = reduces_.try_emplace(&reduce);
    Reduction& reduction = place->second;
    if (isNew)
      for (const tensor::LoopAxis& axis : reduce.axes) {
        int64_t extent = addAxis(axis).value_or(0);
        reduction.empty |= extent == 0;
        reduction.extents.push_back(extent);
        reduction.forms.push_back(axes_[axis.number]);
      }
    return reduction.empty;
  }

  uint32_t lowerTree(const ScalarNode* root) {
    std::vector<const ScalarNode*> stack{root};
    while (!stack.empty() && problem_.empty()) {
      const ScalarNode* node = stack.back();
      if (!node->dtype.isComputable()) {
        fail(fmt::format("cannot compute with `{}`", runtime::dtypeName(node->dtype)));
      } else if (lowered_.contains(node)) {
        stack.pop_back();
      } else if (const ScalarNode* pending = pendingOperand(node)) {
        stack.push_back(pending);
      } else {
        lowered_[node] = lowerNode(node);
        stack.pop_back();
      }
    }
    return problem_.empty() ? lowered_[root] : none;
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
      fail("an extent is not bound");
      return none;
    case tensor::ScalarKind::Load:
      return lowerLoad(*node->as<tensor::ScalarLoad>());
    case tensor::ScalarKind::Apply:
      return lowerApply(*node->as<tensor::ScalarApply>());
    case tensor::ScalarKind::Cast: {
      const auto* convert = node->as<tensor::ScalarCast>();
      return cast(lowered_[convert->operand], elementOf(node->dtype));
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
    Range range = rangeOf(form, graph_.extents);
    if (!form.terms.empty() && !fits(range))
      return std::nullopt;
    GraphValue value{GraphValueKind::Affine, Element::Int64, axesOf(form), range, {}};
    value.affine = std::move(form);
    return add(std::move(value));
  }

  uint32_t cast(uint32_t operand, Element element) {
    const GraphValue& from = at(operand);
    if (from.element == element)
      return operand;
    GraphValue value{GraphValueKind::Cast, element, from.axes, rangeOfElement(element), {operand}};
    bool keeps = !isFloat(from.element) && from.element != Element::UInt64 &&
                 element != Element::Bool && within(from.range, value.range.low, value.range.high);
    if (keeps)
      value.range = from.range;
    return add(std::move(value));
  }

  uint32_t apply(ScalarFunction function, Element element, std::vector<uint32_t> operands) {
    return add(makeApply(graph_, function, element, std::move(operands)));
  }

  uint32_t lowerIndex(const tensor::ScalarIndex& index) {
    auto axis = axes_.find(index.axis);
    if (axis == axes_.end()) {
      fail("an index is used outside its loop");
      return none;
    }
    return *affine(axis->second);
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
    int64_t stride = 1;
    for (size_t i = tensor.shape.size(); i-- > 0; stride *= std::max<int64_t>(tensor.shape[i], 1)) {
      uint32_t position = lowered_[load.position[i]];
      addDimension(value, position, tensor.shape[i], stride, uint32_t(i));
      value.axes |= at(position).axes;
    }
    bool safe = value.bounds.empty();
    for (const IndexTerm& term : value.indices)
      safe &= term.inside;
    uint32_t outside = load.outside ? lowered_[load.outside] : none;
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

  void addDimension(GraphValue& load, uint32_t position, int64_t extent, int64_t stride,
                    uint32_t dimension) {
    const GraphValue& index = at(position);
    if (index.element != Element::Int64) {
      fail("a position is not int64");
      return;
    }
    bool inside = within(index.range, 0, extent - 1);
    if (index.kind == GraphValueKind::Affine)
      if (auto sum = addAffine(load.affine, index.affine, stride);
          sum && fits(rangeOf(*sum, graph_.extents))) {
        load.affine = *sum;
        if (!inside)
          load.bounds.push_back({index.affine, extent, dimension});
        return;
      }
    load.indices.push_back({position, stride, extent, dimension, inside});
  }

  uint32_t lowerApply(const tensor::ScalarApply& node) {
    std::vector<uint32_t> operands;
    for (const ScalarNode* operand : node.operands)
      operands.push_back(lowered_[operand]);
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
        fail(fmt::format("operands of `{}` differ in type",
                         tensor::scalarFunctionName(node.function)));
    if (auto folded = fold(node.function, operands))
      return *folded;
    return lowerFunction(node.function, element, std::move(operands));
  }

  uint32_t lowerFunction(ScalarFunction function, Element element, std::vector<uint32_t> operands) {
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
    if (isIntegerDivision(function, from) && at(divisor).range.low <= 0 &&
        at(divisor).range.high >= 0) {
      uint32_t zero = constant(from, 0, 0);
      addFaultable(id, apply(Equal, Element::Bool, {divisor, zero}));
    }
    return id;
  }

  uint32_t lowerSelect(Element element, std::vector<uint32_t> operands) {
    if (at(operands[1]).element != element || at(operands[2]).element != element) {
      fail("the sides of `Select` differ in type");
      return none;
    }
    operands[0] = cast(operands[0], Element::Bool);
    const GraphValue& condition = at(operands[0]);
    if (condition.range.low == condition.range.high && !mayFault_[operands[0]])
      return operands[condition.range.low != 0 ? 1 : 2];
    return apply(Select, element, std::move(operands));
  }

  uint32_t lowerReinterpret(const tensor::ScalarApply& node, uint32_t operand, Element element) {
    if (node.operands[0]->dtype.bits != node.dtype.bits) {
      fail("`Reinterpret` is not defined on these types");
      return none;
    }
    return apply(Reinterpret, element, {operand});
  }

  /// Index arithmetic that stays affine, and comparisons that ranges decide.
  std::optional<uint32_t> fold(ScalarFunction function, const std::vector<uint32_t>& operands) {
    if (operands.size() != 2 || at(operands[0]).element != Element::Int64 ||
        mayFault_[operands[0]] || mayFault_[operands[1]])
      return std::nullopt;
    const GraphValue &a = at(operands[0]), &b = at(operands[1]);
    if (auto decided = decideComparison(function, a.range, b.range))
      return add(makeNumber(Element::Bool, 0, *decided));
    if (b.range.low == b.range.high && b.range.low > 0) {
      if (function == FloorDivide && within(a.range, 0, b.range.low - 1))
        return affine({});
      if (function == FloorMod && within(a.range, 0, b.range.low - 1))
        return operands[0];
    }
    if (a.kind != GraphValueKind::Affine || b.kind != GraphValueKind::Affine)
      return std::nullopt;
    auto form = foldForms(function, a.affine, b.affine);
    return form ? affine(*form) : std::nullopt;
  }

  std::optional<Affine> foldForms(ScalarFunction function, const Affine& a, const Affine& b) {
    bool constantLeft = a.terms.empty(), constantRight = b.terms.empty();
    switch (function) {
    case Add:
      return addAffine(a, b);
    case Subtract:
      return addAffine(a, b, -1);
    case Multiply:
      return constantRight  ? scaleAffine(a, b.constant)
             : constantLeft ? scaleAffine(b, a.constant)
                            : std::nullopt;
    case FloorDivide:
      return constantRight && b.constant > 0 ? divideAffine(a, b.constant, graph_.extents)
                                             : std::nullopt;
    case FloorMod:
      return constantRight && b.constant > 0 ? modAffine(a, b.constant, graph_.extents)
                                             : std::nullopt;
    default:
      return std::nullopt;
    }
  }

  uint32_t lowerReduce(const tensor::ScalarReduce& node) {
    Reduction& reduction = reduces_[&node];
    Element element = elementOf(node.dtype);
    if (reduction.empty)
      return identity(node.combiner, element);
    uint32_t body = lowered_[node.body];
    GraphValue value{
        GraphValueKind::Reduce, element, at(body).axes, rangeOfElement(element), {body}};
    value.combiner = node.combiner;
    int64_t stride = 1;
    for (size_t i = reduction.forms.size(); i-- > 0;) {
      auto sum = addAffine(value.affine, reduction.forms[i], stride);
      if (!sum || __builtin_mul_overflow(stride, reduction.extents[i], &stride)) {
        fail("a reduction has too many positions");
        return none;
      }
      value.affine = *sum;
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
    switch (combiner) {
    case Combiner::Product:
    case Combiner::All:
      return constant(element, 1, 1);
    case Combiner::Maximum:
      return constant(element, -infinity, range.low);
    case Combiner::Minimum:
      return constant(element, infinity, range.high);
    default:
      return constant(element, 0, 0);
    }
  }

  struct Reduction {
    bool empty = false;
    std::vector<int64_t> extents;
    std::vector<Affine> forms;
  };

  std::span<const PlanTensor> tensors_;
  Graph& graph_;
  std::string& problem_;
  /// Per value: it or something that it needs may fault, so folding must not drop it.
  Flags mayFault_;
  /// Per axis of the expression: its position as a form of the graph's axes.
  std::unordered_map<uint32_t, Affine> axes_;
  std::unordered_map<uint32_t, int64_t> splits_;
  std::unordered_map<const ScalarNode*, uint32_t> lowered_;
  std::unordered_map<const tensor::ScalarReduce*, Reduction> reduces_;
};

} // namespace

std::optional<int64_t> constantExtent(const tensor::ScalarNode* node) {
  const auto* number = node ? node->as<tensor::ScalarNumber>() : nullptr;
  if (!number || number->dtype.isFloat())
    return std::nullopt;
  return number->integer;
}

Graph lowerStage(const tensor::Stage& stage, std::span<const PlanTensor> tensors,
                 std::string& problem) {
  Graph graph;
  Lowering(tensors, graph, problem).run(stage);
  return graph;
}

} // namespace lower

// Running sums and products, cumsum and cumprod, and linear recurrences, of which running products
// have their gradients.
//
// Without an axis the data of a running sum or product is read as flat. The element type of the
// result is that in which is summed.
#include "runtime/natives/recurrence.h"
#include "stdlib/ops/checks.h"
#include "stdlib/ops/common.h"
#include "stdlib/ops/families.h"
#include "stdlib/ops/products.h"
#include "stdlib/ops/shape_rules.h"

#include <fmt/format.h>

namespace stdlib {

Term shifted(const Term& a, size_t axis, int64_t by, double value) {
  std::vector<std::pair<int64_t, int64_t>> widths(a.rank());
  widths[axis] = {by, -by};
  return padded(a, widths, value);
}

Term productOfOthers(const Term& a, size_t axis) {
  auto before = [&](const Term& term) {
    return a.rule().call("cumprod", {term}, {{"axis", axis}, {"exclusive", true}});
  };
  return before(a) * reversed(before(reversed(a, axis)), axis);
}

Term recurrence(const Term& factors, const Term& terms, size_t axis, bool isReverse) {
  return terms.rule().call("linear_recurrence", {factors, terms},
                           {{"axis", axis}, {"reverse", isReverse}});
}

namespace {

using namespace lang;

RelationResult scanRelation(const RelationCall& call) {
  runtime::DType dtype = call.attributes.dtype("dtype").value_or(call.dtype(0));
  if (call.attributes.isNull("axis"))
    return call.solved({product(call.types, call.shape(0))}, dtype);
  int64_t axis = call.attributes.integer("axis");
  if (!call.normalAxis(axis, call.rank(0)))
    return axisFailure(call, "axis", axis);
  return call.solved(call.shape(0), dtype);
}

void computeScan(ComputeCall& call, Combiner combiner) {
  TensorHandle x = call.input(0);
  size_t axis = 0;
  if (call.attributes().isNull("axis"))
    x = call.reshape(x, call.outputShape());
  else
    axis = call.axis("axis", x.rank());
  runtime::DType dtype = call.outputDType();
  if (x.dtype() != dtype)
    x = call.define(x.shape(), [&](const Position& at) { return cast(x(at), dtype); });
  call.result(call.scan(x, combiner, axis, call.attributes().boolean("exclusive")));
}

void computeCumsum(ComputeCall& call) {
  computeScan(call, Combiner::Sum);
}

void computeCumprod(ComputeCall& call) {
  computeScan(call, Combiner::Product);
}

RelationResult recurrenceRelation(const RelationCall& call) {
  if (!call.dtype(0).isFloat())
    return call.failedAt(
        0, words("`factors` must hold floats, but its type is `{}`", call.operands[0]));
  int64_t axis = call.attributes.integer("axis");
  if (!call.normalAxis(axis, call.rank(0)))
    return axisFailure(call, "axis", axis);
  if (auto problem = requireSameDType(call, 0, 1))
    return *problem;
  bool fits = call.rank(0) == call.rank(1);
  std::vector<const Dim*> shape;
  for (size_t i = 0; fits && i < call.rank(0); ++i) {
    shape.push_back(call.meetDims(call.shape(0)[i], call.shape(1)[i]));
    fits = shape.back() != nullptr;
  }
  if (!fits)
    return call.failedAt(1, fmt::format("`terms` must have the shape of `factors`, `{}`, but it "
                                        "has `{}`",
                                        shapeText(call.shape(0)), shapeText(call.shape(1))));
  return call.solved(shape, call.dtype(0));
}

natives::RecurrenceParameters decodeRecurrence(const Attributes& attributes, Types operands) {
  int64_t axis = attributes.integer("axis");
  return {size_t(axis < 0 ? axis + int64_t(operands[0]->shape.size()) : axis),
          attributes.boolean("reverse")};
}

constexpr OperandRow data[] = {{"data", "the input"}};
constexpr OperandRow recurrenceOperands[] = {
    {"factors", "what the result of the element before is multiplied by"},
    {"terms", "what is added to that, of the same type"}};

constexpr AttributeRow scanAttributes[] = {
    {"axis", AttributeKind::Int, "None", "the dimension to run along; flattens if missing", true},
    {"dtype", AttributeKind::DType, "\"\"",
     "the element type of the result; that of the data if unset"},
    {"exclusive", AttributeKind::Bool, "False", "leave out the element itself", true}};

constexpr AttributeRow recurrenceAttributes[] = {
    {"axis", AttributeKind::Int, "0", "the dimension to run along"},
    {"reverse", AttributeKind::Bool, "False", "run from the end to the start"}};

constexpr Example cumsumExamples[] = {
    {"cumsum([[1f, 2f], [3f, 4f]], axis=1, attrs_type_key=\"relay.attrs.ScanopAttrs\")",
     "[[1f, 3f], [3f, 7f]]"},
    {"cumsum([[1, 2], [3, 4]], exclusive=True, attrs_type_key=\"relay.attrs.ScanopAttrs\")",
     "[0, 1, 3, 6]"}};
constexpr Example cumprodExamples[] = {
    {"cumprod([1f, 2f, 3f], axis=0, attrs_type_key=\"relay.attrs.ScanopAttrs\")", "[1f, 2f, 6f]"},
    {"cumprod([2, 3, 4], axis=-1, exclusive=True, attrs_type_key=\"relay.attrs.ScanopAttrs\")",
     "[1, 2, 6]"}};

constexpr Example recurrenceExamples[] = {
    {"linear_recurrence([9f, 2f, 3f], [1f, 1f, 1f])", "[1f, 3f, 10f]"},
    {"linear_recurrence([[9f, 2f, 3f]], [[1f, 1f, 1f]], axis=1, reverse=True)", "[[9f, 4f, 1f]]"}};

/// What gradient rules of running sums and products share: all is in shape and type of the result.
struct ScanGradient {
  GradientCall& d;
  size_t axis;
  bool isExclusive;

  explicit ScanGradient(GradientCall& call)
      : d(call),
        axis(call.attributes().isNull("axis") ? 0 : call.axis("axis", call.result().rank())),
        isExclusive(call.attributes().boolean("exclusive")) {}

  Term data() const { return reshapedLike(castTo(d.operand(0), d.result().dtype()), d.result()); }
  Term summedFromEnd(const Term& a) const {
    return reversed(runningSum(reversed(a, axis), axis, isExclusive), axis);
  }
  void giveData(const Term& a) const {
    give(d, 0, castTo(reshapedLike(a, d.operand(0)), d.operand(0).dtype()));
  }
};

void cumsumGradient(GradientCall& d) {
  ScanGradient scan(d);
  scan.giveData(scan.summedFromEnd(d.cotangent()));
}

/// A product is linear in each element: what the products that an element is in are without it, is
/// the product of all before it times a sum over what comes behind it. Nothing is divided and
/// nothing depends on which elements are zero, so the rule can be differentiated again.
void cumprodGradient(GradientCall& d) {
  ScanGradient scan(d);
  Term x = scan.data(), grow = d.cotangent();
  if (scan.isExclusive)
    grow = shifted(grow, scan.axis, -1);
  Term before = d.call("cumprod", {x}, {{"axis", scan.axis}, {"exclusive", true}});
  scan.giveData(before * recurrence(x, grow, scan.axis, true));
}

/// The transpose of a recurrence is the one in the other direction with the same factors.
void recurrenceGradient(GradientCall& d) {
  size_t axis = d.axis("axis", d.result().rank());
  bool isReverse = d.attributes().boolean("reverse");
  Term sums = recurrence(d.operand(0), d.cotangent(), axis, !isReverse);
  Term y = d.result();
  give(d, 0, isReverse ? shifted(sums, axis, 1) * y : sums * shifted(y, axis, 1));
  give(d, 1, sums);
}

constexpr OperatorRow rows[] = {
    {.name = "cumsum",
     .doc = "Gives the running sum along a dimension.",
     .details = "An exclusive sum starts with 0 and leaves out the last element.",
     .operands = data,
     .attributes = scanAttributes,
     .attributesKey = "relay.attrs.ScanopAttrs",
     .relation = scanRelation,
     .compute = computeCumsum,
     .gradient = GradientRule{cumsumGradient},
     .examples = cumsumExamples,
     .unregisteredAttributes = true},
    {.name = "cumprod",
     .doc = "Gives the running product along a dimension.",
     .details = "An exclusive product starts with 1 and leaves out the last element.",
     .operands = data,
     .attributes = scanAttributes,
     .attributesKey = "relay.attrs.ScanopAttrs",
     .relation = scanRelation,
     .compute = computeCumprod,
     .gradient = GradientRule{cumprodGradient},
     .examples = cumprodExamples,
     .unregisteredAttributes = true},
    {.name = "linear_recurrence",
     .doc = "Gives terms along a dimension, each with a multiple of the result before it.",
     .details = "result[i] = factors[i] * result[i - 1] + terms[i]; the first factor is not used. "
                "In reverse it is result[i] = factors[i + 1] * result[i + 1] + terms[i]. It is "
                "computed in float64.",
     .operands = recurrenceOperands,
     .attributes = recurrenceAttributes,
     .attributesKey = "baton.attrs.LinearRecurrenceAttrs",
     .relation = recurrenceRelation,
     .native = nativeOf<natives::linearRecurrence, decodeRecurrence>(),
     .gradient = GradientRule{recurrenceGradient},
     .examples = recurrenceExamples},
};

} // namespace

OperatorFamily scanFamily() {
  return rows;
}

} // namespace stdlib

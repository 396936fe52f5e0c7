// Running sums and products: cumsum and cumprod.
//
// Without an axis the data is read as flat. The element type of the result is that in which is
// summed.
#include "stdlib/ops/checks.h"
#include "stdlib/ops/common.h"
#include "stdlib/ops/families.h"
#include "stdlib/ops/gradient.h"
#include "stdlib/ops/shape_rules.h"

#include <fmt/format.h>

namespace stdlib {

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

constexpr OperandRow data[] = {{"data", "the input"}};

constexpr AttributeRow scanAttributes[] = {
    {"axis", AttributeKind::Int, "None", "the dimension to run along; flattens if missing", true},
    {"dtype", AttributeKind::DType, "\"\"",
     "the element type of the result; that of the data if unset"},
    {"exclusive", AttributeKind::Bool, "False", "leave out the element itself", true}};

constexpr Example cumsumExamples[] = {
    {"cumsum([[1f, 2f], [3f, 4f]], axis=1, attrs_type_key=\"relay.attrs.ScanopAttrs\")",
     "[[1f, 3f], [3f, 7f]]"},
    {"cumsum([[1, 2], [3, 4]], exclusive=True, attrs_type_key=\"relay.attrs.ScanopAttrs\")",
     "[0, 1, 3, 6]"}};
constexpr Example cumprodExamples[] = {
    {"cumprod([1f, 2f, 3f], axis=0, attrs_type_key=\"relay.attrs.ScanopAttrs\")", "[1f, 2f, 6f]"},
    {"cumprod([2, 3, 4], axis=-1, exclusive=True, attrs_type_key=\"relay.attrs.ScanopAttrs\")",
     "[1, 2, 6]"}};

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

/// Products that an element is in, divided by it. The first zero of a line is put apart, with the
/// products as they are without it; all products behind it are zero, so later zeros get nothing.
void cumprodGradient(GradientCall& d) {
  ScanGradient scan(d);
  Term x = scan.data(), isZero = x == 0;
  Term zeros = runningSum(castTo(isZero, x.dtype()), scan.axis);
  Term isFirst = d.call("logical_and", {isZero, zeros == 1});
  Term without = d.call("cumprod", {where(isFirst, number(x, 1), x)},
                        {{"axis", scan.axis}, {"exclusive", scan.isExclusive}});
  Term filled = where(isZero, number(x, 1), x);
  Term elsewhere = unlessMasked(isZero, scan.summedFromEnd(d.cotangent() * d.result()) / filled);
  scan.giveData(where(isFirst, scan.summedFromEnd(d.cotangent() * without), elsewhere));
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
     .details = "An exclusive product starts with 1 and leaves out the last element. The gradient "
                "divides by the data, so it is not defined where an element is 0.",
     .operands = data,
     .attributes = scanAttributes,
     .attributesKey = "relay.attrs.ScanopAttrs",
     .relation = scanRelation,
     .compute = computeCumprod,
     .gradient = GradientRule{cumprodGradient},
     .examples = cumprodExamples,
     .unregisteredAttributes = true},
};

} // namespace

OperatorFamily scanFamily() {
  return rows;
}

} // namespace stdlib

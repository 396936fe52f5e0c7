// The dynamic operators that make tensors, of shapes or depths that come from operands.
#include "stdlib/ops/checks.h"
#include "stdlib/ops/common.h"
#include "stdlib/ops/dyn_rules.h"
#include "stdlib/ops/families.h"
#include "stdlib/ops/gradient.h"

#include <fmt/format.h>

namespace stdlib {

namespace {

using namespace lang;

RelationResult dynConstantRelation(const RelationCall& call) {
  auto dtype = call.attributes.dtype("dtype");
  if (!dtype)
    return call.failed("`dtype` must be given");
  if (auto problem = requireVector(call, 0))
    return *problem;
  auto shape = givenShape(call, 0);
  return shape ? call.solved(*shape, *dtype) : negativeExtent(call, 0);
}

RelationResult dynFullRelation(const RelationCall& call) {
  if (auto problem = requireScalar(call, 0, "fill_value"))
    return *problem;
  if (auto problem = requireVector(call, 1))
    return *problem;
  auto shape = givenShape(call, 1);
  return shape ? call.solved(*shape, call.attributes.dtype("dtype").value_or(call.dtype(0)))
               : negativeExtent(call, 1);
}

RelationResult dynOneHotRelation(const RelationCall& call) {
  if (!call.dtype(0).isInteger())
    return call.failedAt(
        0, words("`indices` must hold integers, but its type is `{}`", call.operands[0]));
  for (size_t i = 1; i < 4; ++i)
    if (auto problem = requireScalar(call, i, i == 1 ? "on_value" : i == 2 ? "off_value" : "depth"))
      return *problem;
  if (!call.dtype(3).isInteger())
    return call.failedAt(
        3, words("`depth` must be an integer, but its type is `{}`", call.operands[3]));
  if (auto problem = requireInt64(call, 3))
    return *problem;
  int64_t given = call.attributes.integer("axis");
  auto axis = call.normalAxis(given, call.rank(0) + 1);
  if (!axis)
    return axisFailureIn(call, "axis", given, call.rank(0) + 1);
  const Dim* depth = call.types.any();
  if (auto value = knownIntegers(call, 3)) {
    if (value->front() < 0)
      return call.failedAt(3, fmt::format("the depth {} is negative", value->front()));
    depth = call.types.constant(value->front());
  } else if (const Dim* size = knownSize(call, 3)) {
    depth = size;
  }
  DimVector shape(call.shape(0).begin(), call.shape(0).end());
  shape.insert(shape.begin() + ptrdiff_t(*axis), depth);
  return call.solved(shape, call.attributes.dtype("dtype").value_or(call.dtype(1)));
}

template <int value>
void computeConstant(ComputeCall& call) {
  call.result([&](const Position&) { return call.number(call.outputDType(), value); });
}

void computeFull(ComputeCall& call) {
  TensorHandle fill = call.input(0);
  call.result([&](const Position&) { return cast(fill({}), call.outputDType()); });
}

void computeOneHot(ComputeCall& call) {
  TensorHandle indices = call.input(0), on = call.input(1), off = call.input(2);
  size_t axis = call.axis("axis", indices.rank() + 1);
  runtime::DType dtype = call.outputDType();
  call.result([&](const Position& at) {
    Scalar index = cast(indices(eraseAt(at, axis)), runtime::Int64);
    return select(index == at[axis], cast(on({}), dtype), cast(off({}), dtype));
  });
}

constexpr OperandRow shapeOperand[] = {{"shape", "the shape of the result"}};
constexpr OperandRow fullOperands[] = {{"fill_value", "the value of all elements, of rank 0"},
                                       {"shape", "the shape of the result"}};
constexpr OperandRow oneHotOperands[] = {
    {"indices", "integers; those outside the depth give no hot element"},
    {"on_value", "the value at an index, of rank 0"},
    {"off_value", "the value elsewhere, of rank 0"},
    {"depth", "the extent of the new dimension"}};

constexpr AttributeRow fullAttributes[] = {
    {"shape", AttributeKind::IntList, "", "unused: the operand counts", true},
    {"dtype", AttributeKind::DType, "\"\"", "the element type of the result"}};
constexpr AttributeRow initAttributes[] = {fullAttributes[0],
                                           {.name = "dtype",
                                            .kind = AttributeKind::DType,
                                            .defaultText = "\"\"",
                                            .doc = "the element type of the result",
                                            .isByUse = true}};
constexpr AttributeRow oneHotAttributes[] = {
    {"depth", AttributeKind::Int, "1", "unused: the operand counts"},
    {"axis", AttributeKind::Int, "-1", "where the new dimension stands in the result"},
    {"dtype", AttributeKind::DType, "\"\"",
     "the element type of the result; that of `on_value` when unset"}};

constexpr Example zerosExamples[] = {
    {"dyn.zeros([1, 2], shape=None, dtype=\"float32\")", "[[0f, 0f]]"}};
constexpr Example onesExamples[] = {{"dyn.ones([1, 2], shape=None, dtype=\"int32\")", "[[1, 1]]"}};
constexpr Example fullExamples[] = {{"dyn.full(3f, [2], shape=None)", "[3f, 3f]"}};
constexpr Example oneHotExamples[] = {
    {"dyn.one_hot([0, 2], 1f, 0f, 3)", "[[1f, 0f, 0f], [0f, 0f, 1f]]"}};

void dynFullGradient(GradientCall& d) {
  give(d, 0, castTo(sumOfAll(d.cotangent()), d.operand(0).dtype()));
}

void dynOneHotGradient(GradientCall& d) {
  Term hot =
      d.call("dyn.one_hot",
             {d.operand(0), d.number(runtime::Bool, 1), d.number(runtime::Bool, 0), d.operand(3)},
             {{"axis", d.attributes().get("axis")}, {"dtype", "bool"}});
  give(d, 1, castTo(sumOfAll(maskedBy(hot, d.cotangent())), d.operand(1).dtype()));
  give(d, 2, castTo(sumOfAll(unlessMasked(hot, d.cotangent())), d.operand(2).dtype()));
}

constexpr OperatorRow rows[] = {
    {.name = "dyn.zeros",
     .doc = "A tensor of zeros of a shape that is computed.",
     .operands = shapeOperand,
     .attributes = initAttributes,
     .attributesKey = "relay.attrs.InitOpAttrs",
     .relation = dynConstantRelation,
     .compute = computeConstant<0>,
     .fixed = {"zeros"},
     .gradient = NoGradient{"the result is constant"},
     .examples = zerosExamples,
     .shapeNeeds = ShapeNeeds::Values},
    {.name = "dyn.ones",
     .doc = "A tensor of ones of a shape that is computed.",
     .operands = shapeOperand,
     .attributes = initAttributes,
     .attributesKey = "relay.attrs.InitOpAttrs",
     .relation = dynConstantRelation,
     .compute = computeConstant<1>,
     .fixed = {"ones"},
     .gradient = NoGradient{"the result is constant"},
     .examples = onesExamples,
     .shapeNeeds = ShapeNeeds::Values},
    {.name = "dyn.full",
     .doc = "A tensor of one value, of a shape that is computed.",
     .operands = fullOperands,
     .attributes = fullAttributes,
     .attributesKey = "relay.attrs.InitOpAttrs",
     .relation = dynFullRelation,
     .compute = computeFull,
     .fixed = {"full"},
     .gradient = GradientRule{dynFullGradient},
     .examples = fullExamples,
     .shapeNeeds = ShapeNeeds::Values},
    {.name = "dyn.one_hot",
     .doc = "Marks the position of each index along a new dimension of computed extent.",
     .operands = oneHotOperands,
     .attributes = oneHotAttributes,
     .attributesKey = "relay.attrs.OneHotAttrs",
     .relation = dynOneHotRelation,
     .compute = computeOneHot,
     .fixed = {"one_hot"},
     .gradient = GradientRule{dynOneHotGradient},
     .examples = oneHotExamples,
     .shapeNeeds = ShapeNeeds::Values},
};

} // namespace

lang::OperatorFamily dynCreateFamily() {
  return rows;
}

} // namespace stdlib

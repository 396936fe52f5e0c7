// The dynamic operators: their shapes come from operands instead of attributes.
//
// Where the operand's value is known, the relations give exact shapes, else `?`. Ranks are always
// known: a vector that gives a shape must have a known length. The attributes repeat those of the
// static operators; only those that no operand replaces count.
#include "stdlib/ops/checks.h"
#include "stdlib/ops/common.h"
#include "stdlib/ops/families.h"
#include "stdlib/ops/gradient.h"
#include "stdlib/ops/kernel_data.h"
#include "stdlib/ops/shape_rules.h"
#include "stdlib/ops/sort.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>

namespace stdlib {

using runtime::Checked;
using runtime::Problem;

namespace {

using namespace lang;

using DimVector = std::vector<const Dim*>;

bool isInteger(runtime::DType dtype) {
  return dtype.isInteger();
}

/// Whether Relay takes the whole part of a number for a count.
bool isCount(runtime::DType dtype) {
  return dtype.isInteger() || dtype.isFloat();
}

/// The problem when operand `i` is not a vector of integers, or of what else `isGood` says, of
/// known length.
std::optional<RelationResult> requireVector(const RelationCall& call, size_t i,
                                            bool (*isGood)(runtime::DType) = isInteger) {
  bool good = call.rank(i) == 1 && isGood(call.dtype(i)) && call.shape(i)[0]->isConstant() &&
              call.shape(i)[0]->value <= int64_t(largestRank);
  if (good)
    return std::nullopt;
  return call.failedAt(i,
                       fmt::format("expected a vector of integers of a known length up to {}, but "
                                   "it is `{}`",
                                   largestRank, typeText(call.operands[i])));
}

size_t lengthOf(const RelationCall& call, size_t i) {
  return size_t(call.shape(i)[0]->value);
}

/// The whole parts of numbers, as Relay takes counts that are floats; nothing when one is too large
/// or no number.
std::optional<std::vector<int64_t>> wholeValues(const runtime::Tensor& tensor) {
  if (!tensor.dtype().isFloat())
    return integerValues(tensor);
  std::vector<int64_t> values;
  for (double value : readReals(tensor)) {
    if (!(std::abs(value) < 0x1p62))
      return std::nullopt;
    values.push_back(int64_t(value));
  }
  return values;
}

RelationResult noCount(const RelationCall& call, size_t i) {
  return call.failedAt(i, "what is to be a count is none, or too large a one");
}

/// The result of a call whose operand `i` gives counts, with a doubt if they are floats.
RelationResult withCounts(const RelationCall& call, size_t i, RelationResult result) {
  if (call.dtype(i).isFloat())
    result.doubt =
        fmt::format("counts of type `{}` are rounded toward zero", typeText(call.operands[i]));
  return result;
}

/// The value of an integer operand when it is known.
std::optional<std::vector<int64_t>> knownIntegers(const RelationCall& call, size_t i) {
  const runtime::Tensor* value = call.value(i);
  return value ? integerValues(*value) : std::nullopt;
}

RelationResult allAny(const RelationCall& call, size_t rank, runtime::DType dtype) {
  return call.solved(DimVector(rank, call.types.any()), dtype);
}

RelationResult dynReshapeRelation(const RelationCall& call) {
  if (auto problem = requireVector(call, 1))
    return *problem;
  auto wanted = knownIntegers(call, 1);
  if (!wanted)
    return allAny(call, lengthOf(call, 1), call.dtype(0));
  for (int64_t extent : *wanted)
    if (extent == -2 || extent == -4)
      return call.failedAt(
          1,
          fmt::format("{} in the new shape [{}] is not possible at run time: it changes the rank",
                      extent, fmt::join(*wanted, ", ")));
  auto shape =
      reshapedDims(call.types, call.shape(0), *wanted, call.attributes.boolean("allowzero"));
  return shape ? call.solved(*shape, call.dtype(0)) : call.failed(shape.failure());
}

RelationResult dynExpandDimsRelation(const RelationCall& call) {
  if (call.rank(1) != 0 || !call.dtype(1).isInteger())
    return call.failedAt(1, fmt::format("`axis` must be an integer of rank 0, but it is `{}`",
                                        typeText(call.operands[1])));
  int64_t count = call.attributes.integer("num_newaxis");
  if (count < 0 || count > int64_t(largestRank))
    return call.failed(
        fmt::format("`num_newaxis` is {}, but it must be 0 to {}", count, largestRank));
  auto axis = knownIntegers(call, 1);
  if (!axis)
    return allAny(call, call.rank(0) + size_t(count), call.dtype(0));
  auto at = call.normalAxis(axis->front(), call.rank(0) + 1);
  if (!at)
    return call.failedAt(1, axisProblem("axis", axis->front(), call.rank(0) + 1));
  DimVector shape(call.shape(0).begin(), call.shape(0).end());
  shape.insert(shape.begin() + ptrdiff_t(*at), size_t(count), call.types.constant(1));
  return call.solved(shape, call.dtype(0));
}

RelationResult dynSqueezeRelation(const RelationCall& call) {
  if (auto problem = requireVector(call, 1))
    return *problem;
  if (lengthOf(call, 1) > call.rank(0))
    return call.failedAt(
        1, fmt::format("cannot drop {} of {} dimensions", lengthOf(call, 1), call.rank(0)));
  auto axes = knownIntegers(call, 1);
  if (!axes)
    return allAny(call, call.rank(0) - lengthOf(call, 1), call.dtype(0));
  auto dropped = normalAxes("axes", *axes, call.rank(0), true);
  if (!dropped)
    return call.failedAt(1, dropped.failure());
  std::ranges::sort(*dropped, std::greater<>());
  DimVector shape(call.shape(0).begin(), call.shape(0).end());
  for (size_t axis : *dropped) {
    if (cannotBe(call.types, shape[axis], 1))
      return call.failedAt(1,
                           fmt::format("only dimensions of extent 1 can be dropped, but dimension "
                                       "{} of the shape `{}` is {}",
                                       axis, shapeText(call.shape(0)), dimText(shape[axis])));
    shape.erase(shape.begin() + ptrdiff_t(axis));
  }
  return call.solved(shape, call.dtype(0));
}

RelationResult dynTileRelation(const RelationCall& call) {
  if (auto problem = requireVector(call, 1, isCount))
    return *problem;
  size_t rank = std::max(lengthOf(call, 1), call.rank(0));
  if (!call.value(1))
    return withCounts(call, 1, allAny(call, rank, call.dtype(0)));
  auto reps = wholeValues(*call.value(1));
  if (!reps)
    return noCount(call, 1);
  DimVector shape(rank - call.rank(0), call.types.constant(1));
  shape.insert(shape.end(), call.shape(0).begin(), call.shape(0).end());
  for (size_t i = 0; i < reps->size(); ++i) {
    if ((*reps)[i] < 1)
      return call.failedAt(1, fmt::format("the shape `{}` cannot be repeated [{}] times",
                                          shapeText(call.shape(0)), fmt::join(*reps, ", ")));
    const Dim*& dim = shape[rank - reps->size() + i];
    dim = timesChecked(call.types, dim, call.types.constant((*reps)[i]));
    if (!dim)
      return call.failedForSize(fmt::format("the shape `{}` repeated [{}] times is too large",
                                            shapeText(call.shape(0)), fmt::join(*reps, ", ")));
  }
  return call.solved(shape, call.dtype(0));
}

/// The shape that operand `i` gives, `?` while it is unknown; nothing when it has negative extents.
std::optional<DimVector> givenShape(const RelationCall& call, size_t i) {
  DimVector shape(lengthOf(call, i), call.types.any());
  if (auto extents = knownIntegers(call, i))
    for (size_t k = 0; k < shape.size(); ++k) {
      if ((*extents)[k] < 0)
        return std::nullopt;
      shape[k] = call.types.constant((*extents)[k]);
    }
  return shape;
}

RelationResult negativeExtent(const RelationCall& call, size_t i) {
  return call.failedAt(i, fmt::format("the shape [{}] has a negative extent",
                                      fmt::join(*knownIntegers(call, i), ", ")));
}

RelationResult dynBroadcastToRelation(const RelationCall& call) {
  if (auto problem = requireVector(call, 1))
    return *problem;
  auto shape = givenShape(call, 1);
  if (!shape)
    return negativeExtent(call, 1);
  if (!broadcastsTo(call.shape(0), *shape))
    return call.failedAt(0, fmt::format("the shape `{}` does not broadcast to `{}`",
                                        shapeText(call.shape(0)), shapeText(*shape)));
  return call.solved(*shape, call.dtype(0));
}

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
    return call.failedAt(0, fmt::format("`indices` must hold integers, but its type is `{}`",
                                        typeText(call.operands[0])));
  for (size_t i = 1; i < 4; ++i)
    if (auto problem = requireScalar(call, i, i == 1 ? "on_value" : i == 2 ? "off_value" : "depth"))
      return *problem;
  if (!call.dtype(3).isInteger())
    return call.failedAt(3, fmt::format("`depth` must be an integer, but its type is `{}`",
                                        typeText(call.operands[3])));
  int64_t given = call.attributes.integer("axis");
  auto axis = call.normalAxis(given, call.rank(0) + 1);
  if (!axis)
    return axisFailureIn(call, "axis", given, call.rank(0) + 1);
  const Dim* depth = call.types.any();
  if (auto value = knownIntegers(call, 3)) {
    if (value->front() < 0)
      return call.failedAt(3, fmt::format("the depth {} is negative", value->front()));
    depth = call.types.constant(value->front());
  }
  DimVector shape(call.shape(0).begin(), call.shape(0).end());
  shape.insert(shape.begin() + ptrdiff_t(*axis), depth);
  return call.solved(shape, call.attributes.dtype("dtype").value_or(call.dtype(1)));
}

/// The slices of `dyn.strided_slice` from the values of its bounds.
Checked<std::vector<AxisSlice>> dynSlices(const Attributes& attributes, size_t rank,
                                          const runtime::Tensor& begin, const runtime::Tensor& end,
                                          const runtime::Tensor& strides) {
  auto first = integerValues(begin), last = integerValues(end), steps = integerValues(strides);
  if (!first || !last || !steps)
    return Problem{"a bound is too large"};
  SliceBounds bounds{*first, *last, *steps};
  if (!attributes.isNull("axes"))
    bounds.axes = attributes.integers("axes");
  bounds.mode = attributes.text("slice_mode");
  return axisSlices(bounds, rank);
}

RelationResult dynStridedSliceRelation(const RelationCall& call) {
  size_t count = 0;
  for (size_t i = 1; i < 4; ++i) {
    if (auto problem = requireVector(call, i))
      return *problem;
    count = std::max(count, lengthOf(call, i));
  }
  if (call.value(1) && call.value(2) && call.value(3)) {
    auto slices =
        dynSlices(call.attributes, call.rank(0), *call.value(1), *call.value(2), *call.value(3));
    return slices ? slicedResult(call, *slices) : call.failed(slices.failure());
  }
  SliceBounds bounds{std::vector<int64_t>(count, 0), {}, {}};
  if (!call.attributes.isNull("axes"))
    bounds.axes = call.attributes.integers("axes");
  bounds.mode = call.attributes.text("slice_mode");
  if (auto slices = axisSlices(bounds, call.rank(0)); !slices)
    return call.failed(slices.failure());
  DimVector shape(call.shape(0).begin(), call.shape(0).end());
  for (size_t i = 0; i < count; ++i) {
    int64_t axis = bounds.axes ? (*bounds.axes)[i] : int64_t(i);
    shape[*call.normalAxis(axis, shape.size())] = call.types.any();
  }
  return call.solved(shape, call.dtype(0));
}

RelationResult dynTopkRelation(const RelationCall& call) {
  bool one = std::ranges::all_of(call.shape(1), [](const Dim* dim) { return dim->isConstant(1); });
  if (!one || call.rank(1) > 1 || !isCount(call.dtype(1)))
    return call.failedAt(
        1, fmt::format("`k` must be one number, but it is `{}`", typeText(call.operands[1])));
  if (!call.value(1))
    return withCounts(call, 1, topkResult(call, call.types.any()));
  auto k = wholeValues(*call.value(1));
  if (!k)
    return noCount(call, 1);
  return topkResult(call, k->front() < 1 ? nullptr : call.types.constant(k->front()));
}

void computeView(ComputeCall& call) {
  call.result(call.reshape(call.input(0), call.outputShape()));
}

void computeTile(ComputeCall& call) {
  TensorHandle x = call.input(0);
  call.result([&](const Position& at) {
    Position from(at.end() - ptrdiff_t(x.rank()), at.end());
    for (size_t i = 0; i < x.rank(); ++i)
      from[i] = floorMod(from[i], x.extent(i));
    return x(from);
  });
}

void computeBroadcast(ComputeCall& call) {
  TensorHandle x = call.input(0);
  call.result(
      [&](const Position& at) { return x(broadcastTo(at, call.outputShape(), x.shape())); });
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

void computeStridedSlice(ComputeCall& call) {
  TensorHandle x = call.input(0), begin = call.input(1), strides = call.input(3);
  const Attributes& attributes = call.attributes();
  bool hasStrides = attributes.text("slice_mode") != "size";
  std::vector<size_t> entries(x.rank());
  std::iota(entries.begin(), entries.end(), size_t(0));
  if (!attributes.isNull("axes")) {
    std::vector<int64_t> axes = attributes.integers("axes");
    // What no entry is about is taken whole.
    entries.assign(x.rank(), largestRank);
    for (size_t i = 0; i < axes.size(); ++i)
      entries[size_t(axes[i] < 0 ? axes[i] + int64_t(x.rank()) : axes[i])] = i;
  }
  call.result([&](const Position& at) {
    Position from;
    for (size_t i = 0; i < at.size(); ++i) {
      DataSlice slice = hasStrides ? DataSlice(strides, entries[i], x.extent(i))
                                   : DataSlice(entries[i], x.extent(i));
      from.push_back(slice.begin(begin) + at[i] * slice.stride);
    }
    return x(from);
  });
}

runtime::KernelFault runDynTopk(const runtime::KernelCall& call, const TopkParameters& parameters) {
  auto k = wholeValues(call.inputs[1]);
  if (!k || k->size() != 1)
    return {runtime::KernelFaultCode::NotOneNumber, {1, call.inputs[1].size()}};
  return topkOf(call, parameters, k->front());
}

constexpr OperandRow reshapeOperands[] = {{"data", "the input"}, {"newshape", "the new extents"}};
constexpr OperandRow expandDimsOperands[] = {{"data", "the input"},
                                             {"axis", "where the new dimensions go"}};
constexpr OperandRow squeezeOperands[] = {{"data", "the input"},
                                          {"axes", "the dimensions to drop"}};
constexpr OperandRow tileOperands[] = {
    {"data", "the input"},
    {"reps", "how often to repeat each of the last dimensions; of floats the "
             "whole part"}};
constexpr OperandRow broadcastOperands[] = {{"data", "the input"},
                                            {"shape", "the shape of the result"}};
constexpr OperandRow shapeOperand[] = {{"shape", "the shape of the result"}};
constexpr OperandRow fullOperands[] = {{"fill_value", "the value of all elements, of rank 0"},
                                       {"shape", "the shape of the result"}};
constexpr OperandRow oneHotOperands[] = {
    {"indices", "integers; those outside the depth give no hot element"},
    {"on_value", "the value at an index, of rank 0"},
    {"off_value", "the value elsewhere, of rank 0"},
    {"depth", "the extent of the new dimension"}};
constexpr OperandRow sliceOperands[] = {{"data", "the input"},
                                        {"begin", "where the slice begins in each dimension"},
                                        {"end", "before which it ends, or its lengths"},
                                        {"strides", "the distances between its positions"}};
constexpr OperandRow topkOperands[] = {
    {"data", "the input"}, {"k", "how many to keep, of a float the whole part; all if below 1"}};

constexpr AttributeRow reshapeAttributes[] = {
    {"newshape", AttributeKind::IntList, "", "unused: the operand counts", true},
    {"allowzero", AttributeKind::Bool, "False", "0 means an extent of zero, not a copy"}};
constexpr AttributeRow expandDimsAttributes[] = {
    {"num_newaxis", AttributeKind::Int, "1", "how many dimensions to insert"}};
constexpr AttributeRow squeezeAttributes[] = {
    {"axis", AttributeKind::IntList, "None", "unused: the operand counts", true}};
constexpr AttributeRow tileAttributes[] = {
    {"reps", AttributeKind::IntList, "", "unused: the operand counts", true}};
constexpr AttributeRow initAttributes[] = {
    {"shape", AttributeKind::IntList, "", "unused: the operand counts", true},
    {"dtype", AttributeKind::DType, "\"\"", "the element type of the result"}};
constexpr AttributeRow oneHotAttributes[] = {
    {"depth", AttributeKind::Int, "1", "unused: the operand counts"},
    {"axis", AttributeKind::Int, "-1", "where the new dimension stands in the result"},
    {"dtype", AttributeKind::DType, "\"\"",
     "the element type of the result; that of `on_value` when unset"}};
constexpr AttributeRow sliceAttributes[] = {
    {"begin", AttributeKind::IntList, "", "unused: the operand counts", true},
    {"end", AttributeKind::IntList, "", "unused: the operand counts", true},
    {"strides", AttributeKind::IntList, "", "unused: the operand counts", true},
    {"slice_mode", AttributeKind::String, "\"end\"",
     "whether `end` holds ends or lengths (`size`)"},
    {"axes", AttributeKind::IntList, "", "the dimensions to slice; the first ones if `None`",
     true}};
constexpr AttributeRow topkAttributes[] = {
    {"k", AttributeKind::Int, "", "unused: the operand counts", true},
    {"axis", AttributeKind::Int, "-1", "the dimension to sort along"},
    {"ret_type", AttributeKind::String, "\"both\"", "what to return: both, values or indices"},
    {"is_ascend", AttributeKind::Bool, "False", "the smallest first"},
    {"dtype", AttributeKind::DType, "\"\"", "the element type of positions; int32 when unset"}};

constexpr Example reshapeExamples[] = {
    {"dyn.reshape([1f, 2f, 3f, 4f], [2, -1], newshape=None)", "[[1f, 2f], [3f, 4f]]"}};
constexpr Example expandDimsExamples[] = {
    {"dyn.expand_dims([1f, 2f], 1, attrs_type_key=\"relay.attrs.DynExpandDimsAttrs\")",
     "[[1f], [2f]]"}};
constexpr Example squeezeExamples[] = {{"dyn.squeeze([[[1f], [2f]]], [0, -1])", "[1f, 2f]"}};
constexpr Example tileExamples[] = {
    {"dyn.tile([1f, 2f], [2, 1], reps=None)", "[[1f, 2f], [1f, 2f]]"},
    {"dyn.tile([1f, 2f], [2f], reps=None)", "[1f, 2f, 1f, 2f]"}};
constexpr Example broadcastExamples[] = {
    {"dyn.broadcast_to([1f, 2f], [2, 2], shape=None)", "[[1f, 2f], [1f, 2f]]"}};
constexpr Example zerosExamples[] = {
    {"dyn.zeros([1, 2], shape=None, dtype=\"float32\")", "[[0f, 0f]]"}};
constexpr Example onesExamples[] = {{"dyn.ones([1, 2], shape=None, dtype=\"int32\")", "[[1, 1]]"}};
constexpr Example fullExamples[] = {{"dyn.full(3f, [2], shape=None)", "[3f, 3f]"}};
constexpr Example oneHotExamples[] = {
    {"dyn.one_hot([0, 2], 1f, 0f, 3)", "[[1f, 0f, 0f], [0f, 0f, 1f]]"}};
constexpr Example sliceExamples[] = {
    {"dyn.strided_slice([1f, 2f, 3f, 4f], [1], [4], [2], begin=None, end=None, strides=None, "
     "axes=None)",
     "[2f, 4f]"}};
constexpr Example topkExamples[] = {{"dyn.topk([3f, 1f, 4f], 2, k=None)", "([4f, 3f], [2, 0])"},
                                    {"dyn.topk([3f, 1f, 4f], [1.5f], k=None)", "([4f], [2])"}};

/// The counts of elements may be different numbers or forms in the types, and equal in the data.
void dynReshapeBack(GradientCall& d) {
  Term x = d.operand(0), g = d.cotangent();
  const Dim *has = product(d.types(), g.shape()), *wanted = product(d.types(), x.shape());
  if (x.rank() == 0 || matchDims(has, wanted) != DimMatch::Different)
    return reshapeBack(d);
  Term shape = d.call("shape_of", {x}, {{"dtype", "int64"}});
  give(d, 0, d.call("dyn.reshape", {g, shape}));
}

void dynBroadcastGradient(GradientCall& d) {
  toBroadcast(d, 0, d.cotangent());
}

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

void dynTileGradient(GradientCall& d) {
  Term data = d.operand(0);
  Term places = d.call("dyn.tile", {placesLike(data), d.operand(1)});
  give(d, 0, addedAtPlaces(d.cotangent(), places, data));
}

void dynStridedSliceGradient(GradientCall& d) {
  Term data = d.operand(0), begin = d.operand(1), end = d.operand(2), strides = d.operand(3);
  Term places =
      d.call("dyn.strided_slice", {placesLike(data), begin, end, strides}, sameAttributes(d));
  give(d, 0, addedAtPlaces(d.cotangent(), places, data));
}

constexpr OperatorRow rows[] = {
    {.name = "dyn.reshape",
     .doc = "Reshapes to a shape that is computed.",
     .details = "Of the special values of `reshape`, 0, -1 and -3 are possible.",
     .operands = reshapeOperands,
     .attributes = reshapeAttributes,
     .attributesKey = "relay.attrs.ReshapeAttrs",
     .relation = dynReshapeRelation,
     .compute = computeView,
     .gradient = GradientRule{dynReshapeBack},
     .examples = reshapeExamples,
     .shapeNeeds = ShapeNeeds::Values},
    {.name = "dyn.expand_dims",
     .doc = "Inserts dimensions of extent 1 at an axis that is computed.",
     .operands = expandDimsOperands,
     .attributes = expandDimsAttributes,
     .attributesKey = "relay.attrs.DynExpandDimsAttrs",
     .relation = dynExpandDimsRelation,
     .compute = computeView,
     .gradient = GradientRule{reshapeBack},
     .examples = expandDimsExamples,
     .shapeNeeds = ShapeNeeds::Values,
     .unregisteredAttributes = true},
    {.name = "dyn.squeeze",
     .doc = "Drops dimensions of extent 1 that are computed.",
     .operands = squeezeOperands,
     .attributes = squeezeAttributes,
     .attributesKey = "relay.attrs.SqueezeAttrs",
     .relation = dynSqueezeRelation,
     .compute = computeView,
     .gradient = GradientRule{dynReshapeBack},
     .examples = squeezeExamples,
     .shapeNeeds = ShapeNeeds::Values},
    {.name = "dyn.tile",
     .doc = "Repeats a tensor as a whole, as often as is computed.",
     .operands = tileOperands,
     .attributes = tileAttributes,
     .attributesKey = "relay.attrs.TileAttrs",
     .relation = dynTileRelation,
     .compute = computeTile,
     .gradient = GradientRule{dynTileGradient},
     .examples = tileExamples,
     .shapeNeeds = ShapeNeeds::Values},
    {.name = "dyn.broadcast_to",
     .doc = "Repeats the data until it has a shape that is computed.",
     .operands = broadcastOperands,
     .attributes = initAttributes,
     .attributesKey = "relay.attrs.InitOpAttrs",
     .relation = dynBroadcastToRelation,
     .compute = computeBroadcast,
     .gradient = GradientRule{dynBroadcastGradient},
     .examples = broadcastExamples,
     .shapeNeeds = ShapeNeeds::Values},
    {.name = "dyn.zeros",
     .doc = "A tensor of zeros of a shape that is computed.",
     .operands = shapeOperand,
     .attributes = initAttributes,
     .attributesKey = "relay.attrs.InitOpAttrs",
     .relation = dynConstantRelation,
     .compute = computeConstant<0>,
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
     .gradient = NoGradient{"the result is constant"},
     .examples = onesExamples,
     .shapeNeeds = ShapeNeeds::Values},
    {.name = "dyn.full",
     .doc = "A tensor of one value, of a shape that is computed.",
     .operands = fullOperands,
     .attributes = initAttributes,
     .attributesKey = "relay.attrs.InitOpAttrs",
     .relation = dynFullRelation,
     .compute = computeFull,
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
     .gradient = GradientRule{dynOneHotGradient},
     .examples = oneHotExamples,
     .shapeNeeds = ShapeNeeds::Values},
    {.name = "dyn.strided_slice",
     .doc = "Reads every stride-th element between bounds that are computed.",
     .details = "The bounds mean what they do in `strided_slice`.",
     .operands = sliceOperands,
     .attributes = sliceAttributes,
     .attributesKey = "relay.attrs.StridedSliceAttrs",
     .relation = dynStridedSliceRelation,
     .compute = computeStridedSlice,
     .gradient = GradientRule{dynStridedSliceGradient},
     .examples = sliceExamples,
     .shapeNeeds = ShapeNeeds::Values},
    {.name = "dyn.topk",
     .doc = "Gives the largest or smallest elements along a dimension, as many as is computed.",
     .operands = topkOperands,
     .attributes = topkAttributes,
     .attributesKey = "relay.attrs.TopkAttrs",
     .relation = dynTopkRelation,
     .kernel = ordering(kernelOf<decodeTopk, runDynTopk>()),
     .gradient = GradientRule{topkGradient},
     .examples = topkExamples,
     .shapeNeeds = ShapeNeeds::Values},
};

} // namespace

OperatorFamily dynFamily() {
  return rows;
}

} // namespace stdlib

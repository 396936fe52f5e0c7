// The dynamic operators that keep the elements of a tensor: their shapes come from operands instead
// of attributes.
#include "stdlib/ops/checks.h"
#include "stdlib/ops/common.h"
#include "stdlib/ops/dyn_rules.h"
#include "stdlib/ops/families.h"
#include "stdlib/ops/gradient.h"
#include "stdlib/ops/shape_rules.h"

#include <algorithm>
#include <fmt/format.h>

namespace stdlib {

namespace {

using namespace lang;

/// What factors of one product are that others are not; nothing where that is no product of them.
std::optional<const Dim*> quotientOf(TypeContext& types, Dims factors, Dims others) {
  std::vector<const Dim*> left(factors.begin(), factors.end());
  int64_t number = 1;
  for (const Dim* other : others) {
    auto found = std::ranges::find(left, other);
    if (found != left.end())
      left.erase(found);
    else if (other->isConstant() && other->value > 0 &&
             !__builtin_mul_overflow(number, other->value, &number))
      continue;
    else
      return std::nullopt;
  }
  return types.floorDivide(product(types, Dims(left)), number);
}

/// A new shape of sizes: 0 copies, -1 is what is left.
std::optional<DimVector> shapeOfSizes(const RelationCall& call, Dims wanted) {
  DimVector shape, others;
  std::optional<size_t> inferred;
  for (size_t i = 0; i < wanted.size(); ++i) {
    const Dim* size = wanted[i];
    bool copies = size->isConstant(0) && !call.attributes.boolean("allowzero");
    bool isInferred = size->isConstant(-1) && !inferred;
    if ((copies && i >= call.rank(0)) || (size->isConstant() && size->value < 0 && !isInferred))
      return std::nullopt;
    if (isInferred)
      inferred = i;
    shape.push_back(copies ? call.shape(0)[i] : size);
    if (!isInferred)
      others.push_back(shape.back());
  }
  if (inferred)
    shape[*inferred] =
        quotientOf(call.types, call.shape(0), Dims(others)).value_or(call.types.any());
  return shape;
}

RelationResult reshapedToSizes(const RelationCall& call, Dims wanted) {
  auto shape = shapeOfSizes(call, wanted);
  if (!shape)
    return allAny(call, wanted.size(), call.dtype(0));
  const Dim *has = product(call.types, call.shape(0)), *gets = product(call.types, Dims(*shape));
  if (matchDims(has, gets) == DimMatch::Different)
    return call.failed(fmt::format("the shape `{}` has {} elements, but `{}` has {}",
                                   shapeText(call.shape(0)), dimText(has), shapeText(Dims(*shape)),
                                   dimText(gets)));
  return call.solved(*shape, call.dtype(0));
}

/// The numbers by which `reshape` makes the same of data: what stays is copied, and one extent may
/// be what is left.
std::optional<std::vector<int64_t>> reshapeNumbers(Dims data, Dims sizes) {
  std::vector<int64_t> numbers;
  for (size_t i = 0; i < sizes.size(); ++i) {
    bool stays = i < data.size() && data[i] == sizes[i] && !sizes[i]->isAny();
    numbers.push_back(sizes[i]->isConstant() ? sizes[i]->value : stays ? 0 : -1);
  }
  return std::ranges::count(numbers, -1) < 2 ? std::optional(numbers) : std::nullopt;
}

RelationResult dynReshapeRelation(const RelationCall& call) {
  if (auto problem = requireVector(call, 1))
    return *problem;
  auto wanted = knownIntegers(call, 1);
  if (auto sizes = call.sizesIn(1); sizes && !wanted)
    return reshapedToSizes(call, *sizes);
  if (!wanted)
    return allAny(call, lengthOf(call, 1), call.dtype(0));
  for (int64_t extent : *wanted)
    if (extent == -2 || extent == -4)
      return call.failedAt(
          1,
          fmt::format("{} in the new shape [{}] is not possible at run time: it changes the rank",
                      extent, fmt::join(*wanted, ", ")));
  auto shape = reshapedDims(call, call.shape(0), *wanted, call.attributes.boolean("allowzero"));
  return shape ? call.solved(*shape, call.dtype(0)) : call.failed(shape.failure());
}

RelationResult dynExpandDimsRelation(const RelationCall& call) {
  if (call.rank(1) != 0 || !call.dtype(1).isInteger())
    return call.failedAt(
        1, words("`axis` must be an integer of rank 0, but it is `{}`", call.operands[1]));
  int64_t count = call.attributes.integer("num_newaxis");
  if (count < 0 || count > int64_t(largestRank))
    return call.failed(
        fmt::format("`num_newaxis` is {}, but it must be 0 to {}", count, largestRank));
  if (auto problem = requireInt64(call, 1))
    return *problem;
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
    if (cannotBe(call, shape[axis], 1))
      return call.failedAt(1,
                           fmt::format("only dimensions of extent 1 can be dropped, but dimension "
                                       "{} of the shape `{}` is {}",
                                       axis, shapeText(call.shape(0)), dimText(shape[axis])));
    shape.erase(shape.begin() + ptrdiff_t(axis));
  }
  return call.solved(shape, call.dtype(0));
}

/// The shape of a tensor that is repeated as often as sizes say.
DimVector tiledSizes(const RelationCall& call, Dims counts) {
  DimVector shape(call.shape(0).begin(), call.shape(0).end());
  if (counts.size() > shape.size())
    shape.insert(shape.begin(), counts.size() - shape.size(), call.types.constant(1));
  for (size_t i = 0; i < counts.size(); ++i) {
    const Dim*& dim = shape[shape.size() - counts.size() + i];
    dim = call.types.multiply(dim, counts[i]);
  }
  return shape;
}

RelationResult dynTileRelation(const RelationCall& call) {
  if (auto problem = requireVector(call, 1, isCount))
    return *problem;
  size_t rank = std::max(lengthOf(call, 1), call.rank(0));
  if (auto sizes = call.sizesIn(1))
    return call.solved(tiledSizes(call, *sizes), call.dtype(0));
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

RelationResult dynBroadcastToRelation(const RelationCall& call) {
  if (auto problem = requireVector(call, 1))
    return *problem;
  auto shape = givenShape(call, 1);
  if (!shape)
    return negativeExtent(call, 1);
  if (!broadcastsTo(call, call.shape(0), *shape))
    return call.failedAt(0, fmt::format("the shape `{}` does not broadcast to `{}`",
                                        shapeText(call.shape(0)), shapeText(*shape)));
  return call.solved(*shape, call.dtype(0));
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

void dynTileGradient(GradientCall& d) {
  Term data = d.operand(0);
  Term places = d.call("dyn.tile", {placesLike(data), d.operand(1)});
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
     .fixed = {"reshape", reshapeNumbers},
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
     .fixed = {"tile"},
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
     .fixed = {"broadcast_to"},
     .gradient = GradientRule{dynBroadcastGradient},
     .examples = broadcastExamples,
     .shapeNeeds = ShapeNeeds::Values},
};

} // namespace

lang::OperatorFamily dynFamily() {
  return rows;
}

} // namespace stdlib

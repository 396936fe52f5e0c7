// Sums, differences and products of quantised integers, and joining them.
//
// Operands of different scales are brought to that of the result first, or, of a product, the
// product is. TVM's defaults hold for that: fixed point, and halves go up.
#include "stdlib/ops/checks.h"
#include "stdlib/ops/common.h"
#include "stdlib/ops/families.h"
#include "stdlib/ops/fixes.h"
#include "stdlib/ops/qnn/quantized.h"
#include "stdlib/ops/shapes/join.h"

#include <fmt/format.h>

namespace stdlib {

namespace {

using namespace lang;

constexpr OperandRow operands[] = {
    {"lhs", "the left quantised tensor"},
    {"rhs", "the right quantised tensor"},
    {"lhs_scale", "the float32 scale of `lhs`, a scalar or one per channel"},
    {"lhs_zero_point", "the int32 zero point of `lhs`, a scalar or one per channel"},
    {"rhs_scale", "the float32 scale of `rhs`, a scalar or one per channel"},
    {"rhs_zero_point", "the int32 zero point of `rhs`, a scalar or one per channel"},
    {"output_scale", "the float32 scale of the result, a scalar"},
    {"output_zero_point", "the int32 zero point of the result, a scalar"}};

constexpr std::string_view axisNames[] = {"lhs_axis", "rhs_axis"};

/// The dimension of the channels of a side; tensors of rank 0 and 1 have but one.
std::optional<size_t> channelAxis(const Attributes& attributes, size_t side, size_t rank) {
  int64_t axis = attributes.integer(axisNames[side]);
  if (rank <= 1)
    return 0;
  if (axis < 0)
    axis += int64_t(rank);
  if (axis < 0 || axis >= int64_t(rank))
    return std::nullopt;
  return size_t(axis);
}

/// Checks the scale and zero point of a side.
bool demandSide(const RelationCall& call, RelationResult& result, size_t side) {
  size_t scale = 2 + 2 * side, rank = call.rank(side);
  auto axis = channelAxis(call.attributes, side, rank);
  if (!axis && call.rank(scale) + call.rank(scale + 1) > 0) {
    result = axisFailure(call, axisNames[side], call.attributes.integer(axisNames[side]), side);
    return false;
  }
  const Dim* channels = !axis       ? nullptr
                        : rank == 0 ? call.types.constant(1)
                                    : call.shape(side)[*axis];
  return demandScaleAndZeroPoint(call, result, scale, operands[scale].name,
                                 operands[scale + 1].name, channels);
}

RelationResult relate(const RelationCall& call) {
  if (auto problem = requireElements(
          call, 0, "lhs",
          {runtime::Int8, runtime::UInt8, runtime::Int16, runtime::UInt16, runtime::Int32}))
    return *problem;
  if (auto problem = requireSameDType(call, operands, 0, 1))
    return *problem;
  auto shape = call.broadcastShapes(call.shape(0), call.shape(1));
  if (!shape)
    return broadcastFailure(call, operands, 0, 1);
  RelationResult result = call.solved(*shape, call.dtype(0));
  if (demandSide(call, result, 0) && demandSide(call, result, 1))
    demandScaleAndZeroPoint(call, result, 6, "output_scale", "output_zero_point", nullptr);
  return result;
}

/// The dimension of a result that the channels of a side lie along, counted from the back from 1.
size_t channelsFromBack(const RelationCall& call, size_t side) {
  return call.rank(side) - *channelAxis(call.attributes, side, call.rank(side));
}

RelationResult productRelation(const RelationCall& call) {
  RelationResult result = relate(call);
  bool haveBothChannels =
      call.rank(0) > 0 && call.rank(1) > 0 && call.rank(2) == 1 && call.rank(4) == 1;
  if (result.outcome == RelationResult::Outcome::Solved && haveBothChannels &&
      channelsFromBack(call, 0) != channelsFromBack(call, 1))
    return call.failed("the channels of `lhs` and `rhs` must lie along the same dimension");
  return result;
}

/// One of the two operands.
struct Side {
  TensorHandle data, scale, zeroPoint;
  size_t axis;

  Side(const ComputeCall& call, size_t side)
      : data(call.input(side)), scale(call.input(2 + 2 * side)),
        zeroPoint(call.input(3 + 2 * side)),
        axis(channelAxis(call.attributes(), side, data.rank()).value_or(0)) {}

  /// Whether the scale differs along a dimension of the result.
  bool hasChannels() const { return scale.rank() == 1 && data.rank() > 0; }
  /// The scale of a channel of the result.
  Scalar scaleOf(const Position& channel, const Scalar& channels) const {
    if (scale.rank() == 0)
      return scale({});
    return scale({hasChannels() ? broadcastIndex(channel[0], channels, scale.extent(0))
                                : number(scale.extent(0), 0)});
  }
};

/// `lhs + sign * rhs - sign * zero point`, both sides in the scale of the result.
template <int sign>
void computeSum(ComputeCall& call) {
  Extents whole = call.outputShape();
  TensorHandle scale = call.input(6), zeroPoint = call.input(7);
  const Side sides[] = {{call, 0}, {call, 1}};
  std::vector<Requantizer> requantize;
  for (const Side& side : sides)
    requantize.emplace_back(call, Requantization(), scaleRatio(call, side.scale, scale));
  call.result([&](const Position& at) {
    auto moved = [&](size_t i) {
      const Side& side = sides[i];
      Position own = broadcastTo(at, whole, side.data.shape());
      return requantize[i](side.data(own),
                           side.zeroPoint(channelAt(side.zeroPoint, own, side.axis)), zeroPoint({}),
                           channelAt(side.scale, own, side.axis));
    };
    Scalar left = moved(0), right = moved(1);
    Scalar sum = sign > 0 ? left + right - zeroPoint({}) : left - right + zeroPoint({});
    return saturated(sum, call.outputDType());
  });
}

void computeProduct(ComputeCall& call) {
  Extents whole = call.outputShape();
  TensorHandle zeroPoint = call.input(7);
  const Side sides[] = {{call, 0}, {call, 1}};
  std::optional<size_t> dim;
  for (const Side& side : sides)
    if (side.hasChannels())
      dim = whole.size() - side.data.rank() + side.axis;
  Scalar channels = dim ? whole[*dim] : call.integer(1);
  TensorHandle scale =
      call.define(dim ? Extents{channels} : Extents{}, [&](const Position& channel) {
        return sides[0].scaleOf(channel, channels) * sides[1].scaleOf(channel, channels);
      });
  Requantizer requantize(call, Requantization(), scaleRatio(call, scale, call.input(6)));
  call.result([&](const Position& at) {
    auto shifted = [&](const Side& side) {
      Position own = broadcastTo(at, whole, side.data.shape());
      return cast(side.data(own), runtime::Int32) -
             side.zeroPoint(channelAt(side.zeroPoint, own, side.axis));
    };
    Scalar product = shifted(sides[0]) * shifted(sides[1]);
    Scalar moved = requantize(product, call.number(runtime::Int32, 0), zeroPoint({}),
                              dim ? Position{at[*dim]} : Position{});
    return saturated(moved, call.outputDType());
  });
}

constexpr OperandRow concatenateOperands[] = {
    {"data", "the quantised tensors", OperandKind::TensorTuple},
    {"input_scales", "their float32 scales, scalars", OperandKind::TensorTuple},
    {"input_zero_points", "their int32 zero points, scalars", OperandKind::TensorTuple},
    {"output_scale", "the float32 scale of the result, a scalar"},
    {"output_zero_point", "the int32 zero point of the result, a scalar"}};

/// The problem when operand `i`, a tuple, does not hold a scalar of that type for each tensor.
std::optional<RelationResult> requireScalars(const RelationCall& call, size_t i,
                                             runtime::DType dtype) {
  std::string_view name = concatenateOperands[i].name;
  if (call.fields(i).size() != call.fields(0).size())
    return call.failedAt(i, fmt::format("`{}` has {}, but `data` has {}", name,
                                        counted(int64_t(call.fields(i).size()), "field"),
                                        call.fields(0).size()));
  for (const Type* field : call.fields(i))
    if (!field->shape.empty() || field->dtype != dtype)
      return call.failedAt(
          i, words("`{}` must hold `{}` scalars, but it has a `{}`", name, dtype, field));
  return std::nullopt;
}

RelationResult qnnConcatenateRelation(const RelationCall& call) {
  RelationResult result = concatenateRelation(call);
  if (result.outcome != RelationResult::Outcome::Solved)
    return result;
  runtime::DType dtype = call.fields(0)[0]->dtype;
  if (dtype.isFloat() || dtype.isBool() || dtype.bits > 32 || dtype == runtime::UInt32)
    return call.failedAt(0, words("`data` must hold integers of at most 32 bits, but they "
                                  "are `{}`",
                                  dtype));
  if (auto problem = requireScalars(call, 1, runtime::Float32))
    return *problem;
  if (auto problem = requireScalars(call, 2, runtime::Int32))
    return *problem;
  demandScaleAndZeroPoint(call, result, 3, "output_scale", "output_zero_point", nullptr);
  return result;
}

void computeConcatenate(ComputeCall& call) {
  std::vector<TensorHandle> fields = call.fields(0), scales = call.fields(1);
  std::vector<TensorHandle> zeroPoints = call.fields(2);
  TensorHandle zeroPoint = call.input(4);
  for (size_t i = 0; i < fields.size(); ++i) {
    Requantizer requantize(call, Requantization(), scaleRatio(call, scales[i], call.input(3)));
    fields[i] = call.define(fields[i].shape(), [&](const Position& at) {
      return saturated(requantize(fields[i](at), zeroPoints[i]({}), zeroPoint({}), {}),
                       call.outputDType());
    });
  }
  resultJoined(call, fields, call.axis("axis", fields[0].rank()));
}

constexpr AttributeRow attributes[] = {
    {"lhs_axis", AttributeKind::Int, "-1", "the axis of the channels of `lhs`"},
    {"rhs_axis", AttributeKind::Int, "-1", "the axis of the channels of `rhs`"}};
constexpr AttributeRow concatenateAttributes[] = {
    {"axis", AttributeKind::Int, "0", "the dimension along which they are joined"}};

constexpr Example addExamples[] = {
    {"qnn.add([4, 6], [3, -1], 1f, 0, 0.5f, 1, 2f, 10)", "[13, 13]"},
    {"qnn.add(cast([[100, 7]], dtype=\"int8\"), cast([[100], [1]], dtype=\"int8\"), [1f, 2f], 0, "
     "1f, 0, 1f, 0)",
     "cast([[127, 114], [101, 15]], dtype=\"int8\")"}};
constexpr Example subtractExamples[] = {
    {"qnn.subtract([4, 6], [3, -1], 1f, 0, 0.5f, 1, 2f, 10)", "[11, 13]"}};
constexpr Example mulExamples[] = {
    {"qnn.mul([4, 6], [3, -1], 1f, 0, 0.5f, 1, 2f, 10)", "[12, 7]"},
    {"qnn.mul(cast([[100, 7]], dtype=\"uint8\"), cast([[3]], dtype=\"uint8\"), [1f, 2f], 0, 1f, "
     "0, 1f, 0)",
     "cast([[255, 42]], dtype=\"uint8\")"}};
constexpr Example concatenateExamples[] = {
    {"qnn.concatenate(([4, 6], [3]), (1f, 0.5f), (0, 1), 2f, 10)", "[12, 13, 11]"}};

constexpr OperatorRow rows[] = {
    {.name = "qnn.add",
     .doc = "The sum of two quantised tensors after broadcasting.",
     .details = "Both sides are requantised to the scale and zero point of the result, as int32, "
                "then added less that zero point, and saturated.",
     .operands = operands,
     .attributes = attributes,
     .attributesKey = "relay.attrs.BroadcastAttrs",
     .relation = relate,
     .compute = computeSum<1>,
     .gradient = integerValued,
     .examples = addExamples},
    {.name = "qnn.subtract",
     .doc = "The difference of two quantised tensors after broadcasting.",
     .details = "Both sides are requantised to the scale and zero point of the result, as int32, "
                "then subtracted plus that zero point, and saturated.",
     .operands = operands,
     .attributes = attributes,
     .attributesKey = "relay.attrs.BroadcastAttrs",
     .relation = relate,
     .compute = computeSum<-1>,
     .gradient = integerValued,
     .examples = subtractExamples},
    {.name = "qnn.mul",
     .doc = "The product of two quantised tensors after broadcasting.",
     .details = "The int32 product of the sides less their zero points is requantised from the "
                "float32 product of their scales, and saturated.",
     .operands = operands,
     .attributes = attributes,
     .attributesKey = "relay.attrs.BroadcastAttrs",
     .relation = productRelation,
     .compute = computeProduct,
     .gradient = integerValued,
     .examples = mulExamples},
    {.name = "qnn.concatenate",
     .doc = "Quantised tensors joined along a dimension, in one scale.",
     .details = "Each is requantised to the scale and zero point of the result.",
     .operands = concatenateOperands,
     .attributes = concatenateAttributes,
     .attributesKey = "relay.attrs.ConcatenateAttrs",
     .relation = qnnConcatenateRelation,
     .compute = computeConcatenate,
     .gradient = integerValued,
     .examples = concatenateExamples},
};

} // namespace

lang::OperatorFamily qnnArithmeticFamily() {
  return rows;
}

} // namespace stdlib

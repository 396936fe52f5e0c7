// Quantised integers: to them, from them, between scales.
#include "stdlib/ops/checks.h"
#include "stdlib/ops/common.h"
#include "stdlib/ops/families.h"
#include "stdlib/ops/gradient.h"
#include "stdlib/ops/qnn/quantized.h"

#include <fmt/format.h>

namespace stdlib {

namespace {

using namespace lang;
using runtime::DType;

/// The dimension along which scales and zero points of data may differ. Data without dimensions
/// counts as one with a single channel.
std::optional<size_t> channelAxis(const RelationCall& call) {
  return call.normalAxis(call.attributes.integer("axis"), std::max<size_t>(call.rank(0), 1));
}

size_t channelAxis(const ComputeCall& call) {
  return call.axis("axis", std::max<size_t>(call.input(0).rank(), 1));
}

/// How many channels there are.
const Dim* channelsOf(const RelationCall& call, size_t axis) {
  return call.rank(0) == 0 ? call.types.constant(1) : call.shape(0)[axis];
}

/// The result has the shape of the data; operands 1 and 2 are its scale and zero point.
RelationResult relateChannels(const RelationCall& call, std::span<const OperandRow> rows,
                              bool ignoresAxisOfScalars) {
  RelationResult result = call.solved(call.shape(0), *call.attributes.dtype("out_dtype"));
  bool areScalars = call.rank(1) == 0 && call.rank(2) == 0;
  auto axis = channelAxis(call);
  if (!axis && !(areScalars && ignoresAxisOfScalars))
    return axisFailure(call, "axis", call.attributes.integer("axis"));
  demandScaleAndZeroPoint(call, result, 1, rows[1].name, rows[2].name,
                          axis ? channelsOf(call, *axis) : nullptr);
  return result;
}

constexpr OperandRow requantizeOperands[] = {
    {"data", "the quantised tensor"},
    {"input_scale", "its float32 scale, a scalar or one per channel"},
    {"input_zero_point", "its int32 zero point, a scalar or one per channel"},
    {"output_scale", "the float32 scale of the result, a scalar"},
    {"output_zero_point", "the int32 zero point of the result, a scalar"}};

RelationResult requantizeRelation(const RelationCall& call) {
  if (auto problem = requireElements(
          call, 0, "data",
          {runtime::Int8, runtime::UInt8, runtime::Int16, runtime::Int32, runtime::Int64}))
    return *problem;
  if (auto problem =
          requireOutDType(call, {runtime::Int8, runtime::UInt8, runtime::Int16, runtime::Int32}))
    return *problem;
  if (auto problem = requantizationProblem(call))
    return *problem;
  RelationResult result = relateChannels(call, requantizeOperands, false);
  if (result.outcome == RelationResult::Outcome::Solved)
    demandScaleAndZeroPoint(call, result, 3, "output_scale", "output_zero_point", nullptr);
  return result;
}

void computeRequantize(ComputeCall& call) {
  TensorHandle x = call.input(0), zeroPoint = call.input(2), newZeroPoint = call.input(4);
  size_t axis = channelAxis(call);
  Requantizer requantize(call, requantizationOf(call.attributes()),
                         scaleRatio(call, call.input(1), call.input(3)));
  call.result([&](const Position& at) {
    Scalar value = requantize(x(at), zeroPoint(channelAt(zeroPoint, at, axis)), newZeroPoint({}),
                              channelAt(requantize.ratio(), at, axis));
    return saturated(value, call.outputDType());
  });
}

constexpr OperandRow quantizeOperands[] = {
    {"data", "the float32 tensor"},
    {"output_scale", "the float32 scale, a scalar or one per channel"},
    {"output_zero_point", "the int32 zero point, a scalar or one per channel"}};

RelationResult quantizeRelation(const RelationCall& call) {
  if (auto problem = requireElements(call, 0, "data", {runtime::Float32}))
    return *problem;
  if (auto problem = requireOutDType(
          call, {runtime::Int8, runtime::UInt8, runtime::Int16, runtime::UInt16, runtime::Int32}))
    return *problem;
  return relateChannels(call, quantizeOperands, true);
}

void computeQuantize(ComputeCall& call) {
  TensorHandle x = call.input(0), scale = call.input(1), zeroPoint = call.input(2);
  size_t axis = scale.rank() + zeroPoint.rank() > 0 ? channelAxis(call) : 0;
  call.result([&](const Position& at) {
    return quantized(x(at), scale(channelAt(scale, at, axis)),
                     zeroPoint(channelAt(zeroPoint, at, axis)), call.outputDType());
  });
}

constexpr OperandRow dequantizeOperands[] = {
    {"data", "the quantised tensor"},
    {"input_scale", "its float32 scale, a scalar or one per channel"},
    {"input_zero_point", "its int32 zero point, a scalar or one per channel"}};

/// The extent of scale and zero point, where one of them is a vector. One element, whatever `axis`
/// says, counts as a scalar.
const Dim* parameterExtent(const RelationCall& call) {
  for (size_t i : {1, 2})
    if (call.rank(i) == 1)
      return call.shape(i)[0];
  return call.types.constant(1);
}

RelationResult dequantizeRelation(const RelationCall& call) {
  if (auto problem = requireElements(
          call, 0, "data",
          {runtime::Int8, runtime::UInt8, runtime::Int16, runtime::UInt16, runtime::Int32}))
    return *problem;
  if (auto problem = requireOutDType(call, {runtime::Float16, runtime::Float32}))
    return *problem;
  auto axis = channelAxis(call);
  const Dim* extent = parameterExtent(call);
  if (!axis && !extent->isConstant(1))
    return axisFailure(call, "axis", call.attributes.integer("axis"));
  RelationResult result = call.solved(call.shape(0), *call.attributes.dtype("out_dtype"));
  demandScaleAndZeroPoint(call, result, 1, "input_scale", "input_zero_point",
                          axis ? oneOrAll(call, extent, channelsOf(call, *axis)) : extent);
  return result;
}

/// As channelAt(), of a parameter whose only element serves all channels.
Position channelOrOnly(const TensorHandle& parameter, const TensorHandle& data, const Position& at,
                       size_t axis) {
  Position channel = channelAt(parameter, at, axis);
  if (parameter.rank() > 0 && axis < data.rank())
    channel[0] = broadcastIndex(channel[0], data.extent(axis), parameter.extent(0));
  return channel;
}

void computeDequantize(ComputeCall& call) {
  TensorHandle x = call.input(0), scale = call.input(1), zeroPoint = call.input(2);
  auto given = call.attributes().integer("axis");
  bool isWithin = given >= -int64_t(x.rank()) && given < int64_t(x.rank());
  size_t axis = isWithin ? channelAxis(call) : 0;
  call.result([&](const Position& at) {
    Scalar value = dequantized(x(at), scale(channelOrOnly(scale, x, at, axis)),
                               zeroPoint(channelOrOnly(zeroPoint, x, at, axis)));
    if (call.outputDType() == runtime::Float32)
      return value;
    Scalar highest = number(value, 65504);
    return cast(select(value > highest, highest, select(value < -highest, -highest, value)),
                runtime::Float16);
  });
}

constexpr AttributeRow outDType{"out_dtype", AttributeKind::DType, "",
                                "the element type of the result"};
constexpr AttributeRow axisRow{"axis", AttributeKind::Int, "-1",
                               "the axis of the channels, if there is more than one scale"};
constexpr AttributeRow quantizeAttributes[] = {outDType, axisRow};
constexpr AttributeRow requantizeAttributes[] = {
    axisRow,
    {"rounding", AttributeKind::String, "\"None\"",
     "where halves go: `UPWARD`, or `TONEAREST`, away from zero; `None` stands for `UPWARD`"},
    {"compute_dtype", AttributeKind::String, "\"None\"",
     "`int64`, `float32` or `float64`; `None` stands for `int64`"},
    {"out_dtype", AttributeKind::DType, "None", "the element type of the result; must be given"}};

constexpr Example quantizeExamples[] = {
    {"qnn.quantize([-1.25f, 0f, 0.75f, 100f], 0.5f, 1, out_dtype=\"int8\")",
     "cast([-2, 1, 3, 127], dtype=\"int8\")"},
    {"qnn.quantize([[1f, 1f]], [1f, 0.25f], 0, out_dtype=\"uint8\")",
     "cast([[1, 4]], dtype=\"uint8\")"}};
constexpr Example dequantizeExamples[] = {
    {"qnn.dequantize(cast([-3, 0, 127], dtype=\"int8\"), 0.5f, -3, out_dtype=\"float32\")",
     "[0f, 1.5f, 65f]"},
    {"qnn.dequantize([[0, 200], [3, 255]], [0.5f, 2f], [3, 0], axis=0, out_dtype=\"float32\")",
     "[[-1.5f, 98.5f], [6f, 510f]]"}};
constexpr Example requantizeExamples[] = {
    {"qnn.requantize([5, -5, 7, 1000], 1f, 0, 2f, 0, out_dtype=\"int8\")",
     "cast([3, -2, 4, 127], dtype=\"int8\")"},
    {"qnn.requantize([5, -5, 7, 1000], 1f, 0, 2f, 0, rounding=\"TONEAREST\", "
     "out_dtype=\"int8\")",
     "cast([3, -3, 4, 127], dtype=\"int8\")"},
    {"qnn.requantize([[10, 10]], [0.5f, 2f], 2, 1f, 1, compute_dtype=\"float32\", "
     "out_dtype=\"int32\")",
     "[[5, 17]]"}};

/// The scale multiplies the integers less the zero point. What float16 cannot hold is cut off
/// there.
void dequantizeGradient(GradientCall& d) {
  Term cotangent = castTo(d.cotangent(), runtime::Float32);
  Term scale = d.operand(1);
  auto dequantizedBy = [&](const Term& factor) {
    return d.call(
        "qnn.dequantize", {d.operand(0), factor, d.operand(2)},
        {{"axis", d.attributes().integer("axis")}, {"out_dtype", std::string_view("float32")}});
  };
  if (d.cotangent().dtype() == runtime::Float16) {
    constexpr double highest = 65504;
    Term value = dequantizedBy(scale);
    cotangent = maskedBy(value < highest && value > -highest, cotangent);
  }
  giveScale(d, 1, cotangent * dequantizedBy(onesLike(scale)));
}

constexpr OperatorRow rows[] = {
    {.name = "qnn.quantize",
     .doc = "Floats as quantised integers, `round(data / scale) + zero_point`.",
     .details =
         "Halves are rounded away from zero, and what the type cannot hold becomes the nearest "
         "number that it can; NaN becomes the highest. Computed in float32.",
     .operands = quantizeOperands,
     .attributes = quantizeAttributes,
     .attributesKey = "relay.attrs.QuantizeAttrs",
     .relation = quantizeRelation,
     .compute = computeQuantize,
     .gradient = stepFunction,
     .examples = quantizeExamples},
    {.name = "qnn.dequantize",
     .doc = "The floats that quantised integers stand for, `scale * (data - zero_point)`.",
     .details =
         "The difference wraps in int32; the product is computed in float32. One scale or zero "
         "point serves all channels, as a scalar or a vector.",
     .operands = dequantizeOperands,
     .attributes = quantizeAttributes,
     .attributesKey = "relay.attrs.DequantizeAttrs",
     .relation = dequantizeRelation,
     .compute = computeDequantize,
     .gradient = GradientRule{dequantizeGradient},
     .examples = dequantizeExamples},
    {.name = "qnn.requantize",
     .doc = "Quantised integers with another scale and zero point.",
     .details =
         "`output_zero_point + input_scale / output_scale * (data - input_zero_point)`, saturated "
         "to "
         "the type of the result. With `int64` the quotient of the scales, taken in float64, is "
         "rounded to 31 bits and a power of two, and the product is exact; with `float32` and "
         "`float64` all is computed in that type. What a scale of zero or NaN makes of a number is "
         "some number.",
     .operands = requantizeOperands,
     .attributes = requantizeAttributes,
     .attributesKey = "relay.attrs.RequantizeAttrs",
     .relation = requantizeRelation,
     .compute = computeRequantize,
     .gradient = integerValued,
     .examples = requantizeExamples},
};

} // namespace

lang::OperatorFamily qnnFamily() {
  return rows;
}

} // namespace stdlib

// Quantisation that is simulated: numbers rounded as quantised ones are, but kept as floats.
//
// Which integers are simulated is known at run time only: a code tells it.
#include "stdlib/ops/checks.h"
#include "stdlib/ops/common.h"
#include "stdlib/ops/families.h"
#include "stdlib/ops/gradient.h"
#include "stdlib/ops/qnn/quantized.h"

#include <fmt/format.h>

namespace stdlib {

namespace {

using namespace lang;

constexpr OperandRow quantizeOperands[] = {
    {"data", "the tensor"},
    {"out_dtype", "the code of the integers, a scalar: 1 int8, 2 uint8, 3 int32; else none"},
    {"output_scale", "the float32 scale, a scalar or one per channel"},
    {"output_zero_point", "the int32 zero point, a scalar or one per channel"}};
constexpr OperandRow dequantizeOperands[] = {
    {"data", "the tensor"},
    {"in_dtype", "the code of the integers, a scalar: 1 int8, 2 uint8, 3 int32; else none"},
    {"input_scale", "the float32 scale, a scalar or one per channel"},
    {"input_zero_point", "the int32 zero point, a scalar or one per channel"}};

/// Checks a scale or zero point of as many elements as there are channels, or of one.
bool demandChannels(const RelationCall& call, RelationResult& result, size_t i,
                    std::string_view name, runtime::DType dtype, const Dim* channels) {
  if (call.rank(i) != 1)
    return demandParameter(call, result, i, name, dtype, channels);
  const Dim* given = call.shape(i)[0];
  // What may be one or all is looked at again when sizes are numbers.
  bool isOpen = !call.steps && matchDims(given, call.types.constant(1)) == DimMatch::Maybe;
  return (isOpen && call.dtype(i) == dtype) ||
         demandParameter(call, result, i, name, dtype, oneOrAll(call, given, channels));
}

RelationResult relateSimulated(const RelationCall& call, std::span<const OperandRow> rows) {
  if (auto problem = requireElements(call, 0, "data", {runtime::Float32, runtime::Float64}))
    return *problem;
  if (call.dtype(1).isFloat() || call.dtype(1).isBool() || call.rank(1) != 0)
    return call.failedAt(
        1, words("`{}` must be an integer scalar, but it is `{}`", rows[1].name, call.operands[1]));
  int64_t given = call.attributes.integer("axis");
  auto axis = call.normalAxis(given, std::max<size_t>(call.rank(0), 1));
  if (!axis)
    return axisFailure(call, "axis", given);
  const Dim* channels = call.rank(0) == 0 ? call.types.constant(1) : call.shape(0)[*axis];
  RelationResult result = call.solved(call.operands[0]);
  if (demandChannels(call, result, 2, rows[2].name, runtime::Float32, channels))
    demandChannels(call, result, 3, rows[3].name, runtime::Int32, channels);
  return result;
}

RelationResult quantizeRelation(const RelationCall& call) {
  return relateSimulated(call, quantizeOperands);
}

RelationResult dequantizeRelation(const RelationCall& call) {
  return relateSimulated(call, dequantizeOperands);
}

/// Scale and zero point for the element at `at`, in the type of the data.
struct Parameters {
  TensorHandle data, scale, zeroPoint;
  size_t axis;

  explicit Parameters(const ComputeCall& call)
      : data(call.input(0)), scale(call.input(2)), zeroPoint(call.input(3)),
        axis(call.axis("axis", std::max<size_t>(data.rank(), 1))) {}

  Scalar of(const TensorHandle& parameter, const Position& at) const {
    Position channel = channelAt(parameter, at, axis);
    if (!channel.empty() && !at.empty())
      channel[0] = broadcastIndex(at[axis], data.extent(axis), parameter.extent(0));
    return cast(parameter(channel), data.dtype());
  }
  Scalar scaleAt(const Position& at) const { return of(scale, at); }
  Scalar zeroPointAt(const Position& at) const { return of(zeroPoint, at); }
};

constexpr double firstCode = 1, lastCode = 3;

void computeQuantize(ComputeCall& call) {
  Parameters parameters(call);
  TensorHandle code = call.input(1);
  call.result([&](const Position& at) {
    Scalar x = parameters.data(at), kind = code({});
    Scalar moved =
        apply(ScalarFunction::Round, {x / parameters.scaleAt(at)}) + parameters.zeroPointAt(at);
    auto within = [&](double low, double high) {
      // NaN is not less.
      return maximum(select(moved < high, moved, number(moved, high)), number(moved, low));
    };
    return select(kind == 1.0, within(-128, 127),
                  select(kind == 2.0, within(0, 255),
                         select(kind == 3.0, within(-2147483648.0, 2147483647.0), x)));
  });
}

void computeDequantize(ComputeCall& call) {
  Parameters parameters(call);
  TensorHandle code = call.input(1);
  call.result([&](const Position& at) {
    Scalar x = parameters.data(at), kind = code({});
    Scalar moved = (x - parameters.zeroPointAt(at)) * parameters.scaleAt(at);
    return select(kind >= firstCode && kind <= lastCode, moved, x);
  });
}

/// Whether the code of operand 1 is one of integers.
Term areIntegers(GradientCall& d) {
  return d.operand(1) >= firstCode && d.operand(1) <= lastCode;
}

void quantizeGradient(GradientCall& d) {
  give(d, 0, unlessMasked(areIntegers(d), d.cotangent()));
  give(d, 2, zerosLike(d.operand(2)));
}

/// Scale or zero point `i`, to multiply the data with.
Term besideData(GradientCall& d, size_t i) {
  Term parameter = castTo(d.operand(i), d.operand(0).dtype());
  size_t rank = d.operand(0).rank();
  if (parameter.rank() == 0)
    return parameter;
  return rank == 0 ? sumOfAll(parameter) : alongAxis(parameter, d.axis("axis", rank), rank);
}

void dequantizeGradient(GradientCall& d) {
  Term isMoved = areIntegers(d), cotangent = d.cotangent();
  give(d, 0, where(isMoved, cotangent * besideData(d, 2), cotangent));
  giveScale(d, 2, maskedBy(isMoved, cotangent * (d.operand(0) - besideData(d, 3))));
}

constexpr OperandRow annotationOperands[] = {
    {.name = "data", .doc = "the float32 tensor"},
    {.name = "dom_scale", .doc = "the step between two numbers, a scalar", .inferable = true},
    {.name = "clip_min", .doc = "the least number of steps, a scalar", .inferable = true},
    {.name = "clip_max", .doc = "the greatest number of steps, a scalar", .inferable = true}};

constexpr int64_t identityKind = 0;

RelationResult annotationRelation(const RelationCall& call) {
  if (call.rank(0) == 0)
    return call.failedAt(0, "`data` must have dimensions, but it is a scalar");
  if (call.attributes.integer("kind") != identityKind)
    if (auto problem = requireElements(call, 0, "data", {runtime::Float32}))
      return *problem;
  if (call.attributes.text("rounding") != "round")
    return choiceFailure(call, "rounding", "`round`");
  RelationResult result = call.solved(call.operands[0]);
  for (size_t i = 1; i < 4; ++i)
    if (!demandOperand(call, result, i, annotationOperands[i].name,
                       call.types.scalar(runtime::Float32)))
      break;
  return result;
}

void computeAnnotation(ComputeCall& call) {
  TensorHandle x = call.input(0);
  if (call.attributes().integer("kind") == identityKind)
    return call.result(x);
  Scalar scale = call.input(1)({}), low = call.input(2)({}), high = call.input(3)({});
  call.result([&](const Position& at) {
    Scalar steps = x(at) / scale;
    Scalar fewer = select(steps < high, steps, high);
    return apply(ScalarFunction::Round, {select(fewer > low, fewer, low)}) * scale;
  });
}

/// The result is a whole number of steps, which the step multiplies. Zero is no steps, of whatever
/// length.
void annotationGradient(GradientCall& d) {
  bool isIdentity = d.attributes().integer("kind") == identityKind;
  give(d, 0, isIdentity ? d.cotangent() : zerosLike(d.operand(0)));
  for (size_t i = 2; i < 4; ++i)
    give(d, i, zerosLike(d.operand(i)));
  if (isIdentity)
    return give(d, 1, zerosLike(d.operand(1)));
  Term data = d.operand(0), scale = d.operand(1), low = d.operand(2), high = d.operand(3);
  Term quotient = unlessMasked(data == 0 && scale == 0, data / scale);
  Term fewer = where(quotient < high, quotient, high);
  Term steps = map("round", where(fewer > low, fewer, low));
  give(d, 1, sumOfAll(d.cotangent() * steps));
}

constexpr AttributeRow axisRow{"axis", AttributeKind::Int, "-1",
                               "the axis of the channels, if there is more than one scale"};
constexpr AttributeRow quantizeAttributes[] = {axisRow};
constexpr AttributeRow dequantizeAttributes[] = {
    {"out_dtype", AttributeKind::DType, "", "without meaning: the result has the type of the data",
     true},
    axisRow};
constexpr AttributeRow annotationAttributes[] = {
    {"kind", AttributeKind::Int, "",
     "what is annotated: 0 nothing, 1 input, 2 weight, 3 activation"},
    {"sign", AttributeKind::Bool, "True",
     "whether the numbers are signed; the bounds alone have an effect"},
    {"rounding", AttributeKind::String, "\"round\"", "`round`: to nearest, halves away from zero"}};

constexpr Example quantizeExamples[] = {
    {"qnn.simulated_quantize([-1.25f, 0f, 200f], 1, 0.5f, 1)", "[-2f, 1f, 127f]"},
    {"qnn.simulated_quantize([[-1.25f, 200f]], 2, [0.5f, 1f], [1], axis=1)", "[[0f, 201f]]"},
    {"qnn.simulated_quantize([-1.25f, 0f, 200f], 0, 0.5f, 1)", "[-1.25f, 0f, 200f]"}};
constexpr Example dequantizeExamples[] = {
    {"qnn.simulated_dequantize([3f, 0f], 3, 0.5f, 1, out_dtype=\"\")", "[1f, -0.5f]"},
    {"qnn.simulated_dequantize([[3f, 0f]], 1, [0.5f, 2f], [1], out_dtype=\"\")", "[[1f, -2f]]"},
    {"qnn.simulated_dequantize([3f, 0f], 0, 0.5f, 1, out_dtype=\"\")", "[3f, 0f]"}};
constexpr Example annotationExamples[] = {
    {"relay.op.annotation.simulated_quantize([-9f, 0.3f, 1.25f], 0.5f, -2f, 2f, kind=1)",
     "[-1f, 0.5f, 1f]"},
    {"relay.op.annotation.simulated_quantize([0.3f, 1.25f], 0.5f, -1f, 1f, kind=0)",
     "[0.3f, 1.25f]"}};

constexpr OperatorRow rows[] = {
    {.name = "qnn.simulated_quantize",
     .doc = "Floats rounded as `qnn.quantize` does, kept as floats.",
     .details = "`round(data / scale) + zero_point` between the bounds of the type that the code "
                "names; with other codes the data itself. Halves go away from zero. The "
                "derivative is zero almost everywhere, and one where the data is passed on.",
     .operands = quantizeOperands,
     .attributes = quantizeAttributes,
     .attributesKey = "relay.attrs.SimulatedQuantizeAttrs",
     .relation = quantizeRelation,
     .compute = computeQuantize,
     .gradient = GradientRule{quantizeGradient},
     .examples = quantizeExamples},
    {.name = "qnn.simulated_dequantize",
     .doc = "What `qnn.dequantize` makes of floats that stand for integers.",
     .details = "`(data - zero_point) * scale`, or with other codes the data itself.",
     .operands = dequantizeOperands,
     .attributes = dequantizeAttributes,
     .attributesKey = "relay.attrs.DequantizeAttrs",
     .relation = dequantizeRelation,
     .compute = computeDequantize,
     .gradient = GradientRule{dequantizeGradient},
     .examples = dequantizeExamples},
    {.name = "relay.op.annotation.simulated_quantize",
     .doc = "Floats rounded to whole numbers of steps, between bounds.",
     .details =
         "`round(clip(data / dom_scale, clip_min, clip_max)) * dom_scale`, or the data itself "
         "if `kind` is 0. NaN counts as the upper bound. The number of steps is taken as "
         "constant by the gradient, which it is almost everywhere.",
     .operands = annotationOperands,
     .attributes = annotationAttributes,
     .attributesKey = "relay.attrs.SimulatedQuantizeAttrs",
     .relation = annotationRelation,
     .compute = computeAnnotation,
     .gradient = GradientRule{annotationGradient},
     .examples = annotationExamples},
};

} // namespace

lang::OperatorFamily qnnSimulatedFamily() {
  return rows;
}

} // namespace stdlib

// Functions of one quantised operand, in 8 bits.
//
// TVM makes a table of 256 entries where scales are constants: the integers are made floats, the
// function is applied in float32, and its values are quantised. That composition is computed here.
// Softmax and the leaky rectifier are functions of integers.
#include "stdlib/ops/checks.h"
#include "stdlib/ops/common.h"
#include "stdlib/ops/families.h"
#include "stdlib/ops/qnn/quantized.h"

namespace stdlib {

namespace {

using namespace lang;

constexpr OperandRow operands[] = {
    {"data", "the quantised tensor"},
    {"scale", "its float32 scale, a scalar"},
    {"zero_point", "its int32 zero point, a scalar"},
    {"output_scale", "the float32 scale of the result, a scalar"},
    {"output_zero_point", "the int32 zero point of the result, a scalar"}};
constexpr OperandRow leakyOperands[] = {operands[0],
                                        {"input_scale", "its float32 scale, a scalar"},
                                        {"input_zero_point", "its int32 zero point, a scalar"},
                                        operands[3],
                                        operands[4]};

RelationResult relateScalars(const RelationCall& call, std::span<const OperandRow> names) {
  RelationResult result = call.solved(call.operands[0]);
  if (demandScaleAndZeroPoint(call, result, 1, names[1].name, names[2].name, nullptr))
    demandScaleAndZeroPoint(call, result, 3, names[3].name, names[4].name, nullptr);
  return result;
}

RelationResult relate(const RelationCall& call) {
  if (auto problem = requireElements(call, 0, "data", {runtime::Int8, runtime::UInt8}))
    return *problem;
  return relateScalars(call, operands);
}

RelationResult leakyRelation(const RelationCall& call) {
  if (auto problem = requireElements(call, 0, "data", {runtime::Int8, runtime::UInt8}))
    return *problem;
  return relateScalars(call, leakyOperands);
}

RelationResult softmaxRelation(const RelationCall& call) {
  if (auto problem = requireElements(call, 0, "data", {runtime::Int8}))
    return *problem;
  int64_t axis = call.attributes.integer("axis");
  if (!call.normalAxis(axis, call.rank(0)))
    return axisFailure(call, "axis", axis);
  return relateScalars(call, operands);
}

template <ScalarFunction function>
Scalar plain(Scalar x) {
  return apply(function, {x});
}

/// `x * clip(x + 3, 0, 6) / 6`.
Scalar hardswish(Scalar x) {
  Scalar moved = x + 3.0;
  return x * minimum(maximum(moved, number(x, 0)), number(x, 6)) / 6.0;
}

template <Scalar (*function)(Scalar)>
void compute(ComputeCall& call) {
  TensorHandle x = call.input(0), scale = call.input(1), zeroPoint = call.input(2);
  TensorHandle newScale = call.input(3), newZeroPoint = call.input(4);
  call.result([&](const Position& at) {
    Scalar value = function(dequantized(x(at), scale({}), zeroPoint({})));
    return quantized(value, newScale({}), newZeroPoint({}), call.outputDType());
  });
}

/// The requantised data, and below the zero point `alpha` times that plus `1 - alpha` times the
/// zero point of the result, which undoes what the factor does to it.
void computeLeakyRelu(ComputeCall& call) {
  TensorHandle x = call.input(0), zeroPoint = call.input(2), newZeroPoint = call.input(4);
  double alpha = call.attributes().real("alpha");
  auto factor = [&](double value) {
    return fixedPointOf(call, call.define({}, [&](const Position&) {
      return call.number(runtime::Float64, value);
    }));
  };
  FixedPoint slope = factor(alpha), rest = factor(1 - alpha);
  Requantizer requantize(call, Requantization(), scaleRatio(call, call.input(1), call.input(3)));
  call.result([&](const Position& at) {
    Scalar moved = requantize(x(at), zeroPoint({}), newZeroPoint({}), {});
    Scalar leaked =
        fixedPointProduct(moved, slope, {}) + fixedPointProduct(newZeroPoint({}), rest, {});
    Scalar isBelow = cast(x(at), runtime::Int32) < zeroPoint({});
    return saturated(select(isBelow, leaked, moved), call.outputDType());
  });
}

Scalar shifted(Scalar value, double right) {
  return apply(ScalarFunction::RightShift, {value, number(value, right)});
}

/// The highest of each line of `x` along `axis`.
TensorHandle highestOf(ComputeCall& call, const TensorHandle& x, size_t axis) {
  return call.define(x.without(axis), [&](const Position& at) {
    return call.maximumOver({x.extent(axis)},
                            [&](const Position& k) { return x(insertAt(at, axis, k[0])); });
  });
}

/// The integers that stand for exponentials, each `2^-q * (1 + r / 2)` with `q` and `r` from a
/// division by `unit`, in parts of the smallest power of two in its line.
TensorHandle exponentials(ComputeCall& call, const TensorHandle& x, const TensorHandle& unit,
                          size_t axis) {
  TensorHandle highest = highestOf(call, x, axis);
  // log2(e) is near to 1 + 1/2 - 1/16.
  TensorHandle power = call.define(x.shape(), [&](const Position& at) {
    Scalar below = x(at) - highest(eraseAt(at, axis));
    return below + shifted(below, 1) - shifted(below, 4);
  });
  TensorHandle halvings = call.define(x.shape(), [&](const Position& at) {
    Scalar quotient = apply(ScalarFunction::TruncDivide, {power(at), -unit({})});
    return minimum(maximum(quotient, number(quotient, 0)), number(quotient, 20));
  });
  TensorHandle most = highestOf(call, halvings, axis);
  return call.define(x.shape(), [&](const Position& at) {
    Scalar rest = power(at) + halvings(at) * unit({});
    return apply(ScalarFunction::LeftShift,
                 {shifted(rest, 1) + unit({}), most(eraseAt(at, axis)) - halvings(at)});
  });
}

void computeSoftmax(ComputeCall& call) {
  TensorHandle data = call.input(0), scale = call.input(1), zeroPoint = call.input(2);
  size_t axis = call.axis("axis", data.rank());
  TensorHandle unit = call.define({}, [&](const Position&) {
    Scalar steps = apply(ScalarFunction::Round, {1.0 / scale({})});
    return maximum(cast(steps, runtime::Int32), call.number(runtime::Int32, 1));
  });
  TensorHandle x = call.define(data.shape(), [&](const Position& at) {
    return cast(data(at), runtime::Int32) - zeroPoint({});
  });
  TensorHandle power = exponentials(call, x, unit, axis);
  TensorHandle total = call.define(x.without(axis), [&](const Position& at) {
    return call.sumOver({x.extent(axis)},
                        [&](const Position& k) { return power(insertAt(at, axis, k[0])); });
  });
  TensorHandle ownScale =
      call.define({}, [&](const Position&) { return call.number(runtime::Float32, 1.0 / 128); });
  Requantizer requantize(call, Requantization(), scaleRatio(call, ownScale, call.input(3)));
  Scalar zero = call.number(runtime::Int32, 0), one = call.number(runtime::Int32, 1);
  Scalar whole = call.number(runtime::Int32, 0x1p30);
  call.result([&](const Position& at) {
    Scalar sum = total(eraseAt(at, axis));
    Scalar inverse = apply(ScalarFunction::TruncDivide, {whole, select(sum == zero, one, sum)});
    Scalar share = shifted(inverse * power(at), 23);
    return saturated(requantize(share, zero, call.input(4)({}), {}), call.outputDType());
  });
}

constexpr AttributeRow leakyAttributes[] = {
    {"alpha", AttributeKind::Float, "0.25", "the slope below the zero point"}};
constexpr AttributeRow softmaxAttributes[] = {
    {"axis", AttributeKind::Int, "-1", "the dimension along which the results sum to one"}};

constexpr std::string_view details =
    "The integers are made floats, the function is applied in float32, and its values are rounded, "
    "halves away from zero, and saturated. NaN becomes the highest integer.";

constexpr Example tanhExamples[] = {
    {"qnn.tanh(cast([-4, 0, 2], dtype=\"int8\"), 0.5f, 0, 0.0078125f, 0)",
     "cast([-123, 0, 97], dtype=\"int8\")"}};
constexpr Example expExamples[] = {
    {"qnn.exp(cast([-4, 0, 2], dtype=\"int8\"), 0.5f, 0, 0.125f, -1)",
     "cast([0, 7, 21], dtype=\"int8\")"}};
constexpr Example sqrtExamples[] = {
    {"qnn.sqrt(cast([0, 4, 255], dtype=\"uint8\"), 1f, 0, 0.125f, 1)",
     "cast([1, 17, 129], dtype=\"uint8\")"}};
constexpr Example rsqrtExamples[] = {
    {"qnn.rsqrt(cast([0, 4, 16], dtype=\"uint8\"), 1f, 0, 0.125f, 1)",
     "cast([255, 5, 3], dtype=\"uint8\")"}};
constexpr Example erfExamples[] = {
    {"qnn.erf(cast([-4, 0, 2], dtype=\"int8\"), 0.5f, 0, 0.0078125f, 0)",
     "cast([-127, 0, 108], dtype=\"int8\")"}};
constexpr Example sigmoidExamples[] = {
    {"qnn.sigmoid(cast([-4, 0, 2], dtype=\"int8\"), 0.5f, 0, 0.0078125f, 0)",
     "cast([15, 64, 94], dtype=\"int8\")"}};
constexpr Example hardswishExamples[] = {
    {"qnn.hardswish(cast([-8, -2, 2, 8], dtype=\"int8\"), 0.5f, 0, 0.125f, 0)",
     "cast([0, -3, 5, 32], dtype=\"int8\")"}};
constexpr Example logExamples[] = {{"qnn.log(cast([0, 1, 16], dtype=\"uint8\"), 1f, 0, 0.125f, 1)",
                                    "cast([0, 1, 23], dtype=\"uint8\")"}};
constexpr Example absExamples[] = {{"qnn.abs(cast([-4, 0, 2], dtype=\"int8\"), 0.5f, 0, 0.25f, 1)",
                                    "cast([9, 1, 5], dtype=\"int8\")"}};
constexpr Example leakyExamples[] = {
    {"qnn.leaky_relu(cast([-8, -2, 2, 8], dtype=\"int8\"), 0.5f, 0, 0.25f, 4)",
     "cast([0, 3, 8, 20], dtype=\"int8\")"}};
constexpr Example softmaxExamples[] = {
    {"qnn.softmax(cast([[10, 10], [20, 10]], dtype=\"int8\"), 0.125f, 0, 0.0078125f, 0)",
     "cast([[64, 64], [97, 30]], dtype=\"int8\")"}};

/// The row of a function of floats.
constexpr OperatorRow row(std::string_view name, std::string_view doc,
                          void (*computeRow)(ComputeCall&), std::span<const Example> examples) {
  return {.name = name,
          .doc = doc,
          .details = details,
          .operands = operands,
          .relation = relate,
          .compute = computeRow,
          .gradient = integerValued,
          .examples = examples};
}

constexpr OperatorRow rows[] = {
    row("qnn.tanh", "The hyperbolic tangent of quantised integers.",
        compute<plain<ScalarFunction::Tanh>>, tanhExamples),
    row("qnn.exp", "The exponential of quantised integers.", compute<plain<ScalarFunction::Exp>>,
        expExamples),
    row("qnn.sqrt", "The square root of quantised integers.", compute<plain<ScalarFunction::Sqrt>>,
        sqrtExamples),
    row("qnn.rsqrt", "One over the square root of quantised integers.",
        compute<plain<ScalarFunction::Rsqrt>>, rsqrtExamples),
    row("qnn.erf", "The Gauss error function of quantised integers.",
        compute<plain<ScalarFunction::Erf>>, erfExamples),
    row("qnn.sigmoid", "The logistic function of quantised integers.",
        compute<plain<ScalarFunction::Sigmoid>>, sigmoidExamples),
    row("qnn.hardswish", "The function `x * clip(x + 3, 0, 6) / 6` of quantised integers.",
        compute<hardswish>, hardswishExamples),
    row("qnn.log", "The natural logarithm of quantised integers.",
        compute<plain<ScalarFunction::Log>>, logExamples),
    row("qnn.abs", "The magnitude of quantised integers.", compute<plain<ScalarFunction::Abs>>,
        absExamples),
    {.name = "qnn.leaky_relu",
     .doc = "Quantised integers in another scale, those below the zero point times a slope.",
     .details = "All are requantised in int32, x. Those of data below its zero point become "
                "`alpha * x + (1 - alpha) * output_zero_point`, each product in fixed point with "
                "halves rounded up; then all are saturated.",
     .operands = leakyOperands,
     .attributes = leakyAttributes,
     .attributesKey = "relay.attrs.LeakyReluAttrs",
     .relation = leakyRelation,
     .compute = computeLeakyRelu,
     .gradient = integerValued,
     .examples = leakyExamples},
    {.name = "qnn.softmax",
     .doc = "An approximation of softmax in integers, by shifts and divisions.",
     .details =
         "With `n = round(1 / scale)` and x the data less the highest along `axis`, the power of "
         "two `p = x + floor(x / 2) - floor(x / 16)` is cut into `q = clip(p / -n, 0, 20)` "
         "halvings and a rest r; the exponential is `(floor(r / 2) + n) * 2^(highest q - q)`, and "
         "`floor(2^30 / sum) * exponential / 2^23` is requantised from the scale `1 / 128`. All in "
         "int32, where it may wrap. Scales should be at most 1; n counts as 1 at least.",
     .operands = operands,
     .attributes = softmaxAttributes,
     .attributesKey = "relay.attrs.SoftmaxAttrs",
     .relation = softmaxRelation,
     .compute = computeSoftmax,
     .gradient = integerValued,
     .examples = softmaxExamples},
};

} // namespace

lang::OperatorFamily qnnTablesFamily() {
  return rows;
}

} // namespace stdlib

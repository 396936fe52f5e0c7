// Activations: relu and its kin, softmax and its kin, adding a bias, dropout at inference.
//
// Slopes and biases lie along one axis; their types follow from the data, so they may be left out
// of a program's annotations.
#include "stdlib/ops/averages.h"
#include "stdlib/ops/checks.h"
#include "stdlib/ops/common.h"
#include "stdlib/ops/families.h"
#include "stdlib/ops/gradient.h"
#include "stdlib/ops/shape_fixes.h"

#include <fmt/format.h>

namespace stdlib {

namespace {

using namespace lang;

/// The data's type, with a vector along `axis` as second operand.
RelationResult withVector(const RelationCall& call, std::string_view vector) {
  int64_t given = call.attributes.integer("axis");
  auto axis = call.normalAxis(given, call.rank(0));
  if (!axis)
    return axisFailure(call, "axis", given);
  RelationResult result = call.solved(call.operands[0]);
  demandVector(call, result, 1, vector, *axis);
  return result;
}

RelationResult preluRelation(const RelationCall& call) {
  return withVector(call, "alpha");
}

RelationResult biasAddRelation(const RelationCall& call) {
  return withVector(call, "bias");
}

Fixes fixPrelu(const RelationCall& call) {
  constexpr std::string_view names[] = {"alpha"};
  return vectorFix(call, preluRelation, names);
}

Fixes fixBiasAdd(const RelationCall& call) {
  constexpr std::string_view names[] = {"bias"};
  return vectorFix(call, biasAddRelation, names);
}

RelationResult softmaxRelation(const RelationCall& call) {
  int64_t axis = call.attributes.integer("axis");
  if (!call.normalAxis(axis, call.rank(0)))
    return axisFailure(call, "axis", axis);
  return call.solved(call.operands[0]);
}

RelationResult dropoutRelation(const RelationCall& call) {
  const Type* fields[] = {call.operands[0], call.operands[0]};
  return call.solved(call.types.tuple(fields));
}

void computeRelu(ComputeCall& call) {
  TensorHandle x = call.input(0);
  call.result([&](const Position& at) { return maximum(x(at), call.number(x.dtype(), 0)); });
}

void computeLeakyRelu(ComputeCall& call) {
  TensorHandle x = call.input(0);
  double alpha = call.attributes().real("alpha");
  call.result([&](const Position& at) {
    Scalar value = x(at);
    return select(value > 0.0, value, value * alpha);
  });
}

void computePrelu(ComputeCall& call) {
  TensorHandle x = call.input(0), alpha = call.input(1);
  size_t axis = call.axis("axis", x.rank());
  call.result([&](const Position& at) {
    Scalar value = x(at);
    return select(value > 0.0, value, value * alpha({at[axis]}));
  });
}

void computeBiasAdd(ComputeCall& call) {
  TensorHandle x = call.input(0), bias = call.input(1);
  size_t axis = call.axis("axis", x.rank());
  call.result([&](const Position& at) { return x(at) + bias({at[axis]}); });
}

/// The largest element along `axis`, for exponentials that cannot overflow.
TensorHandle highestAlong(ComputeCall& call, const TensorHandle& x, size_t axis) {
  return call.define(x.without(axis), [&](const Position& at) {
    return call.maximumOver({x.extent(axis)},
                            [&](const Position& k) { return x(insertAt(at, axis, k[0])); });
  });
}

void computeSoftmax(ComputeCall& call) {
  TensorHandle x = call.input(0);
  size_t axis = call.axis("axis", x.rank());
  TensorHandle highest = highestAlong(call, x, axis);
  TensorHandle power = call.define(
      x.shape(), [&](const Position& at) { return exp(x(at) - highest(eraseAt(at, axis))); });
  TensorHandle total = call.define(x.without(axis), [&](const Position& at) {
    return call.sumOver({x.extent(axis)}, [&](const Position& k) {
      return widened(power(insertAt(at, axis, k[0])));
    });
  });
  call.result([&](const Position& at) {
    return cast(widened(power(at)) / total(eraseAt(at, axis)), x.dtype());
  });
}

void computeLogSoftmax(ComputeCall& call) {
  TensorHandle x = call.input(0);
  size_t axis = call.axis("axis", x.rank());
  TensorHandle highest = highestAlong(call, x, axis);
  TensorHandle logarithm = call.define(x.without(axis), [&](const Position& at) {
    Scalar sum = call.sumOver({x.extent(axis)}, [&](const Position& k) {
      return widened(exp(x(insertAt(at, axis, k[0])) - highest(at)));
    });
    return cast(log(sum), x.dtype());
  });
  call.result([&](const Position& at) {
    Position rest = eraseAt(at, axis);
    return x(at) - highest(rest) - logarithm(rest);
  });
}

void computeDropout(ComputeCall& call) {
  TensorHandle x = call.input(0);
  call.result(x);
  call.result([&](const Position&) { return call.number(x.dtype(), 1); });
}

void reluGradient(GradientCall& d) {
  give(d, 0, maskedBy(d.operand(0) > 0, d.cotangent()));
}

void leakyReluGradient(GradientCall& d) {
  Term sloped = d.cotangent() * d.attributes().real("alpha");
  give(d, 0, where(d.operand(0) > 0, d.cotangent(), sloped));
}

void preluGradient(GradientCall& d) {
  Term x = d.operand(0), isPositive = x > 0;
  size_t axis = d.axis("axis", x.rank());
  Term sloped = d.cotangent() * alongAxis(d.operand(1), axis, x.rank());
  give(d, 0, where(isPositive, d.cotangent(), sloped));
  give(d, 1, summedExcept(unlessMasked(isPositive, d.cotangent() * x), axis));
}

void softmaxGradient(GradientCall& d) {
  Term y = d.result();
  Term pull = sum(y * d.cotangent(), {d.axis("axis", y.rank())}, true);
  give(d, 0, y * (d.cotangent() - pull));
}

void logSoftmaxGradient(GradientCall& d) {
  Term total = sum(d.cotangent(), {d.axis("axis", d.result().rank())}, true);
  give(d, 0, d.cotangent() - exp(d.result()) * total);
}

void biasAddGradient(GradientCall& d) {
  give(d, 0, d.cotangent());
  give(d, 1, summedExcept(d.cotangent(), d.axis("axis", d.operand(0).rank())));
}

void dropoutGradient(GradientCall& d) {
  if (d.hasCotangent(0))
    give(d, 0, d.cotangent(0));
}

constexpr GradientExample reluKink[] = {{"nn.relu([-1f, 0f, 1f])", "[2f, 2f, 2f]", "[0f, 0f, 2f]"}};
constexpr GradientExample leakyKink[] = {
    {"nn.leaky_relu([-1f, 0f, 1f], alpha=0.5f)", "[2f, 2f, 2f]", "[1f, 1f, 2f]"}};
constexpr GradientExample preluKink[] = {{"nn.prelu([[-1f, 0f, 1f]], [3f, 3f, 3f])",
                                          "[[2f, 2f, 2f]]", "([[6f, 6f, 2f]], [-2f, 0f, 0f])"}};

constexpr OperandRow data[] = {{"data", "the input"}};
constexpr OperandRow dataAlpha[] = {
    {"data", "the input"},
    {"alpha", "the slope of each channel below zero", OperandKind::Tensor, true}};
constexpr OperandRow dataBias[] = {{"data", "the input"},
                                   {"bias", "one summand per channel", OperandKind::Tensor, true}};

constexpr AttributeRow leakyAttributes[] = {
    {"alpha", AttributeKind::Float, "0.25f", "the slope below zero"}};
constexpr AttributeRow channelAxis[] = {
    {"axis", AttributeKind::Int, "1", "the dimension of the channels"}};
constexpr AttributeRow softmaxAttributes[] = {
    {"axis", AttributeKind::Int, "-1", "the dimension along which the result sums to one"}};
constexpr AttributeRow dropoutAttributes[] = {
    {"rate", AttributeKind::Float, "0.5f", "the share of elements that training would drop"}};

constexpr Example reluExamples[] = {{"nn.relu([-1f, 0f, 2f])", "[0f, 0f, 2f]"},
                                    {"nn.relu([-3, 4])", "[0, 4]"}};
constexpr Example leakyExamples[] = {{"nn.leaky_relu([-4f, 2f])", "[-1f, 2f]"},
                                     {"nn.leaky_relu([-4f, 2f], alpha=0.5f)", "[-2f, 2f]"}};
constexpr Example preluExamples[] = {
    {"nn.prelu([[-4f, 2f], [-2f, -1f]], [0.5f, 3f])", "[[-2f, 2f], [-1f, -3f]]"}};
constexpr Example softmaxExamples[] = {
    {"nn.softmax([0f, 0f, 0.6931472f])", "[0.25f, 0.25f, 0.5f]"},
    {"nn.softmax([[1000f, 5f], [1000f, 5f]], axis=0)", "[[0.5f, 0.5f], [0.5f, 0.5f]]"}};
constexpr Example fastSoftmaxExamples[] = {
    {"nn.fast_softmax([0f, 0f, 0.6931472f])", "[0.25f, 0.25f, 0.5f]"}};
constexpr Example logSoftmaxExamples[] = {
    {"nn.log_softmax([2f, 2f])", "[-0.6931472f, -0.6931472f]"}};
constexpr Example biasExamples[] = {
    {"nn.bias_add([[1f, 2f], [3f, 4f]], [10f, 20f])", "[[11f, 22f], [13f, 24f]]"},
    {"nn.bias_add([[1f, 2f], [3f, 4f]], [10f, 20f], axis=0)", "[[11f, 12f], [23f, 24f]]"}};
constexpr Example dropoutExamples[] = {{"nn.dropout([1f, 2f], rate=0.3f)", "([1f, 2f], [1f, 1f])"}};

constexpr OperatorRow rows[] = {
    {.name = "nn.relu",
     .doc = "The larger of each element and zero.",
     .details = "The derivative at zero is taken as zero.",
     .operands = data,
     .relation = sameAsFirst,
     .compute = computeRelu,
     .gradient = GradientRule{reluGradient, reluKink},
     .examples = reluExamples},
    {.name = "nn.leaky_relu",
     .doc = "Each positive element, and `alpha` times each other one.",
     .details = "The derivative at zero is taken as `alpha`.",
     .operands = data,
     .attributes = leakyAttributes,
     .attributesKey = "relay.attrs.LeakyReluAttrs",
     .relation = sameAsFirst,
     .compute = computeLeakyRelu,
     .gradient = GradientRule{leakyReluGradient, leakyKink},
     .examples = leakyExamples,
     .numbersMeant = NumbersMeant::Reals},
    {.name = "nn.prelu",
     .doc = "Each positive element, and the slope of its channel times each other one.",
     .details = "The derivative at zero is taken as the slope.",
     .operands = dataAlpha,
     .attributes = channelAxis,
     .attributesKey = "relay.attrs.PReluAttrs",
     .relation = withFix<preluRelation, fixPrelu>,
     .compute = computePrelu,
     .gradient = GradientRule{preluGradient, preluKink},
     .examples = preluExamples,
     .numbersMeant = NumbersMeant::Reals},
    {.name = "nn.softmax",
     .doc = "The exponentials of the elements, scaled so that they sum to one along an axis.",
     .details = "The largest element is subtracted first, so large elements do not overflow.",
     .operands = data,
     .attributes = softmaxAttributes,
     .attributesKey = "relay.attrs.SoftmaxAttrs",
     .relation = softmaxRelation,
     .compute = computeSoftmax,
     .gradient = GradientRule{softmaxGradient},
     .examples = softmaxExamples,
     .numbersMeant = NumbersMeant::Reals},
    {.name = "nn.fast_softmax",
     .doc = "`nn.softmax`, with leave to approximate the exponential.",
     .details = "Baton computes it exactly.",
     .operands = data,
     .attributes = softmaxAttributes,
     .attributesKey = "relay.attrs.SoftmaxAttrs",
     .relation = softmaxRelation,
     .compute = computeSoftmax,
     .gradient = GradientRule{softmaxGradient},
     .examples = fastSoftmaxExamples,
     .numbersMeant = NumbersMeant::Reals},
    {.name = "nn.log_softmax",
     .doc = "The logarithm of `nn.softmax`, computed without forming the quotient.",
     .operands = data,
     .attributes = softmaxAttributes,
     .attributesKey = "relay.attrs.SoftmaxAttrs",
     .relation = softmaxRelation,
     .compute = computeLogSoftmax,
     .gradient = GradientRule{logSoftmaxGradient},
     .examples = logSoftmaxExamples,
     .numbersMeant = NumbersMeant::Reals},
    {.name = "nn.bias_add",
     .doc = "Adds a vector along one dimension.",
     .operands = dataBias,
     .attributes = channelAxis,
     .attributesKey = "relay.attrs.BiasAddAttrs",
     .relation = withFix<biasAddRelation, fixBiasAdd>,
     .compute = computeBiasAdd,
     .gradient = GradientRule{biasAddGradient},
     .examples = biasExamples},
    {.name = "nn.dropout",
     .doc = "The input and a mask of ones: at inference nothing is dropped.",
     .operands = data,
     .attributes = dropoutAttributes,
     .attributesKey = "relay.attrs.DropoutAttrs",
     .relation = dropoutRelation,
     .compute = computeDropout,
     .gradient = GradientRule{dropoutGradient},
     .examples = dropoutExamples},
};

} // namespace

OperatorFamily activationFamily() {
  return rows;
}

} // namespace stdlib

// Normalisations: batch, layer, instance and group norm, l2_normalize, lrn.
//
// All variances are biased (divided by the count). Scale and shift are vectors along `axis`, whose
// types follow from the data. Instance norm averages over every dimension but 0 and `axis`; group
// norm over the channels of a group and the dimensions after `axis` only.
#include "stdlib/ops/averages.h"
#include "stdlib/ops/checks.h"
#include "stdlib/ops/common.h"
#include "stdlib/ops/families.h"
#include "stdlib/ops/layers/norm_gradients.h"
#include "stdlib/ops/shape_fixes.h"

#include <fmt/format.h>

namespace stdlib {

namespace {

using namespace lang;

/// The data's type, with vectors along `axis` as the operands after it.
RelationResult withVectors(const RelationCall& call, std::span<const std::string_view> names,
                           const Type* output) {
  int64_t given = call.attributes.integer("axis");
  auto axis = call.normalAxis(given, call.rank(0));
  if (!axis)
    return axisFailure(call, "axis", given);
  RelationResult result = call.solved(output);
  for (size_t i = 0; i < names.size(); ++i)
    if (!demandVector(call, result, i + 1, names[i], *axis))
      return result;
  return result;
}

RelationResult batchNormRelation(const RelationCall& call) {
  constexpr std::string_view names[] = {"gamma", "beta", "moving_mean", "moving_var"};
  RelationResult result = withVectors(call, names, call.operands[0]);
  if (result.outcome != RelationResult::Outcome::Solved)
    return result;
  const Type* vector = result.operands[0].second;
  const Type* fields[] = {call.operands[0], vector, vector};
  result.output = call.types.tuple(fields);
  return result;
}

constexpr std::string_view scaleAndShift[] = {"gamma", "beta"};

RelationResult layerNormRelation(const RelationCall& call) {
  return withVectors(call, scaleAndShift, call.operands[0]);
}

RelationResult instanceNormRelation(const RelationCall& call) {
  if (call.rank(0) < 3)
    return call.failedAt(0, words("the data must have 3 or more dimensions, but "
                                  "it is `{}`",
                                  call.operands[0]));
  int64_t axis = call.attributes.integer("axis");
  if (axis == 0 || axis == -int64_t(call.rank(0)))
    return call.failed("`axis` names dimension 0, which is the batch");
  return withVectors(call, scaleAndShift, call.operands[0]);
}

RelationResult groupNormRelation(const RelationCall& call) {
  int64_t given = call.attributes.integer("axis"), groups = call.attributes.integer("num_groups");
  auto axis = call.normalAxis(given, call.rank(0));
  if (!axis)
    return axisFailure(call, "axis", given);
  const Dim* channels = call.shape(0)[*axis];
  if (groups <= 0)
    return call.failed(fmt::format("`num_groups` must be positive, but it is {}", groups));
  if (channels->isConstant() && channels->value % groups != 0)
    return call.failed(fmt::format("{} channels can't be split into {} groups of equal size",
                                   channels->value, groups));
  RelationResult result = withVectors(call, scaleAndShift, call.operands[0]);
  requireMultiple(result, channels, groups);
  return result;
}

template <Relation relation>
Fixes fixVectors(const RelationCall& call) {
  constexpr std::string_view names[] = {"gamma", "beta", "moving_mean", "moving_var"};
  return vectorFix(call, relation, std::span(names).first(call.operands.size() - 1));
}

RelationResult l2NormalizeRelation(const RelationCall& call) {
  for (int64_t axis : call.attributes.integers("axis"))
    if (!call.normalAxis(axis, call.rank(0)))
      return axisFailure(call, "axis", axis);
  return call.solved(call.operands[0]);
}

RelationResult lrnRelation(const RelationCall& call) {
  int64_t axis = call.attributes.integer("axis"), size = call.attributes.integer("size");
  if (!call.normalAxis(axis, call.rank(0)))
    return axisFailure(call, "axis", axis);
  if (size <= 0 || size % 2 == 0)
    return call.failed(fmt::format("`size` must be odd and positive, but it is {}", size));
  return call.solved(call.operands[0]);
}

void computeBatchNorm(ComputeCall& call) {
  TensorHandle x = call.input(0), gamma = call.input(1), beta = call.input(2);
  TensorHandle mean = call.input(3), variance = call.input(4);
  const Attributes& attributes = call.attributes();
  size_t axis = call.axis("axis", x.rank());
  TensorHandle scale = call.define(mean.shape(), [&](const Position& at) {
    Scalar root = 1.0 / sqrt(variance(at) + attributes.real("epsilon"));
    return attributes.boolean("scale") ? root * gamma(at) : root;
  });
  call.result([&](const Position& at) {
    Position channel = {at[axis]};
    Scalar value = (x(at) - mean(channel)) * scale(channel);
    return attributes.boolean("center") ? value + beta(channel) : value;
  });
  call.result(mean);
  call.result(variance);
}

/// Which dimensions are averaged over, and the positions with and without them.
struct Averaging {
  std::vector<bool> isReduced;

  Extents kept(const Extents& shape) const { return pick(shape, false); }
  Extents reduced(const Extents& shape) const { return pick(shape, true); }
  Position whole(const Position& kept, const Position& reduced) const {
    Position at;
    size_t k = 0, r = 0;
    for (bool isIn : isReduced)
      at.push_back(isIn ? reduced[r++] : kept[k++]);
    return at;
  }

private:
  Extents pick(const Extents& shape, bool which) const {
    Extents picked;
    for (size_t i = 0; i < shape.size(); ++i)
      if (isReduced[i] == which)
        picked.push_back(shape[i]);
    return picked;
  }
};

/// `x` less its mean, over the root of its variance plus epsilon.
TensorHandle normalized(ComputeCall& call, const TensorHandle& x, const Averaging& over) {
  Extents kept = over.kept(x.shape()), reduced = over.reduced(x.shape());
  Arena* arena = call.integer(0).arena();
  auto averageOf = [&](const TensorHandle& of, bool squared, runtime::DType dtype) {
    return call.define(kept, [&](const Position& at) {
      Scalar sum = call.sumOver(reduced, [&](const Position& k) {
        Scalar value = widened(of(over.whole(at, k)));
        return squared ? value * value : value;
      });
      return average(sum, productOf(arena, reduced), dtype);
    });
  };
  TensorHandle mean = averageOf(x, false, x.dtype());
  TensorHandle centered =
      call.define(x.shape(), [&](const Position& at) { return x(at) - mean(over.kept(at)); });
  TensorHandle variance = averageOf(centered, true, wideDType(x.dtype()));
  TensorHandle root = call.define(kept, [&](const Position& at) {
    Scalar epsilon = wideNumber(call, x.dtype(), call.attributes().real("epsilon"));
    return cast(sqrt(variance(at) + epsilon), x.dtype());
  });
  return call.define(x.shape(),
                     [&](const Position& at) { return centered(at) / root(over.kept(at)); });
}

/// Names the result: `unit` times gamma plus beta along dimension `axis`, as the attributes say.
void scaleAndShiftResult(ComputeCall& call, const TensorHandle& unit, size_t axis) {
  TensorHandle gamma = call.input(1), beta = call.input(2);
  call.result([&](const Position& at) {
    Scalar value = unit(at);
    if (call.attributes().boolean("scale"))
      value = value * gamma({at[axis]});
    if (call.attributes().boolean("center"))
      value = value + beta({at[axis]});
    return value;
  });
}

void computeLayerNorm(ComputeCall& call) {
  TensorHandle x = call.input(0);
  size_t axis = call.axis("axis", x.rank());
  Averaging over{std::vector<bool>(x.rank(), false)};
  over.isReduced[axis] = true;
  scaleAndShiftResult(call, normalized(call, x, over), axis);
}

void computeInstanceNorm(ComputeCall& call) {
  TensorHandle x = call.input(0);
  size_t axis = call.axis("axis", x.rank());
  Averaging over{std::vector<bool>(x.rank(), true)};
  over.isReduced[0] = over.isReduced[axis] = false;
  scaleAndShiftResult(call, normalized(call, x, over), axis);
}

void computeGroupNorm(ComputeCall& call) {
  TensorHandle x = call.input(0);
  size_t axis = call.axis("axis", x.rank());
  int64_t groups = call.attributes().integer("num_groups");
  Extents grouped = replaceAt(x.shape(), axis, call.integer(groups));
  grouped = insertAt(grouped, axis + 1, floorDivide(x.extent(axis), groups));
  Averaging over{std::vector<bool>(x.rank() + 1, false)};
  for (size_t i = axis + 1; i < grouped.size(); ++i)
    over.isReduced[i] = true;
  TensorHandle unit = normalized(call, call.reshape(x, grouped), over);
  scaleAndShiftResult(call, call.reshape(unit, x.shape()), axis);
}

/// The dimensions that an axis list names; an empty list means all.
Averaging averagingOf(const Attributes& attributes, size_t rank) {
  std::vector<int64_t> axes = attributes.integers("axis");
  Averaging over{std::vector<bool>(rank, axes.empty())};
  for (int64_t axis : axes)
    over.isReduced[size_t(axis < 0 ? axis + int64_t(rank) : axis)] = true;
  return over;
}

void computeL2Normalize(ComputeCall& call) {
  TensorHandle x = call.input(0);
  Averaging over = averagingOf(call.attributes(), x.rank());
  TensorHandle norm = call.define(over.kept(x.shape()), [&](const Position& at) {
    Scalar sum = call.sumOver(over.reduced(x.shape()), [&](const Position& k) {
      Scalar value = widened(x(over.whole(at, k)));
      return value * value;
    });
    Scalar least = wideNumber(call, x.dtype(), call.attributes().real("eps"));
    return cast(sqrt(maximum(sum, least)), x.dtype());
  });
  call.result([&](const Position& at) { return x(at) / norm(over.kept(at)); });
}

void computeLrn(ComputeCall& call) {
  TensorHandle x = call.input(0);
  const Attributes& attributes = call.attributes();
  size_t axis = call.axis("axis", x.rank());
  // A window wider than the tensor reaches no further than one that covers it from every position.
  int64_t size = attributes.integer("size");
  Scalar half = minimum(call.integer(size / 2), x.extent(axis));
  Scalar zero = call.number(x.dtype(), 0);
  TensorHandle base = call.define(x.shape(), [&](const Position& at) {
    Scalar sum = call.sumOver({half + half + call.integer(1)}, [&](const Position& k) {
      Scalar value = widened(x.orElse(replaceAt(at, axis, at[axis] + k[0] - half), zero));
      return value * value;
    });
    Scalar alpha = wideNumber(call, x.dtype(), attributes.real("alpha"));
    Scalar bias = wideNumber(call, x.dtype(), attributes.real("bias"));
    return cast(sum * alpha / double(size) + bias, x.dtype());
  });
  call.result([&](const Position& at) {
    Scalar power = call.number(x.dtype(), attributes.real("beta"));
    return x(at) / apply(ScalarFunction::Power, {base(at), power});
  });
}

constexpr OperandRow data[] = {{"data", "the input"}};
constexpr OperandRow dataGammaBeta[] = {
    {"data", "the input"},
    {"gamma", "the factor of each channel", OperandKind::Tensor, true},
    {"beta", "the summand of each channel", OperandKind::Tensor, true}};
constexpr OperandRow batchNormOperands[] = {
    {"data", "the input"},
    {"gamma", "the factor of each channel", OperandKind::Tensor, true},
    {"beta", "the summand of each channel", OperandKind::Tensor, true},
    {"moving_mean", "the mean of each channel", OperandKind::Tensor, true},
    {"moving_var", "the variance of each channel", OperandKind::Tensor, true}};

constexpr AttributeRow epsilonRow = {"epsilon", AttributeKind::Float, "1e-05f",
                                     "added to the variance"};
constexpr AttributeRow centerRow = {"center", AttributeKind::Bool, "True", "whether beta is added"};
constexpr AttributeRow scaleRow = {"scale", AttributeKind::Bool, "True",
                                   "whether gamma multiplies"};
constexpr AttributeRow channelRow = {"axis", AttributeKind::Int, "1",
                                     "the dimension of the channels"};
constexpr AttributeRow batchNormAttributes[] = {channelRow, epsilonRow, centerRow, scaleRow};
constexpr AttributeRow layerNormAttributes[] = {
    {"axis", AttributeKind::Int, "-1", "the dimension that is averaged over"},
    epsilonRow,
    centerRow,
    scaleRow};
constexpr AttributeRow groupNormAttributes[] = {
    {"num_groups", AttributeKind::Int, "0", "how many groups the channels make; must be given"},
    channelRow,
    epsilonRow,
    centerRow,
    scaleRow};
constexpr AttributeRow l2Attributes[] = {
    {"eps", AttributeKind::Float, "", "the least sum of squares"},
    {"axis", AttributeKind::IntList, "", "the dimensions of the vectors; none means all", true}};
constexpr AttributeRow lrnAttributes[] = {
    {"size", AttributeKind::Int, "5", "the width of the window, odd"},
    {"axis", AttributeKind::Int, "1", "the dimension of the window"},
    {"bias", AttributeKind::Float, "2f", "added to the scaled sum"},
    {"alpha", AttributeKind::Float, "0.0001f", "scales the mean of squares"},
    {"beta", AttributeKind::Float, "0.75f", "the exponent"}};

constexpr Example batchNormExamples[] = {
    {"nn.batch_norm([[3f, 10f]], [2f, 1f], [1f, 0f], [1f, 6f], [4f, 16f], epsilon=0f)",
     "([[3f, 1f]], [1f, 6f], [4f, 16f])"}};
constexpr Example layerNormExamples[] = {
    {"nn.layer_norm([[1f, 3f]], [1f, 2f], [0f, 5f], epsilon=0f)", "[[-1f, 7f]]"}};
constexpr Example instanceNormExamples[] = {
    {"nn.instance_norm([[[1f, 3f], [0f, 8f]]], [1f, 1f], [0f, 1f], epsilon=0f)",
     "[[[-1f, 1f], [0f, 2f]]]"}};
constexpr Example groupNormExamples[] = {
    {"nn.group_norm([[1f, 3f, 0f, 8f]], [1f, 1f, 1f, 1f], [0f, 0f, 0f, 1f], num_groups=2, "
     "epsilon=0f)",
     "[[-1f, 1f, -1f, 2f]]"}};
constexpr Example l2Examples[] = {
    {"nn.l2_normalize([[3f, 4f]], eps=1e-10f, axis=[1])", "[[0.6f, 0.8f]]"}};
constexpr Example lrnExamples[] = {
    {"nn.lrn([[1f, 2f]], size=3, bias=1f, alpha=3f, beta=1f)", "[[0.16666667f, 0.33333333f]]"}};

constexpr OperatorRow rows[] = {
    {.name = "nn.batch_norm",
     .synonyms = "batch_normalization",
     .doc = "Normalises each channel by a given mean and variance.",
     .details =
         "`(data - moving_mean) / sqrt(moving_var + epsilon) * gamma + beta`. The second and "
         "third results are the moving mean and variance, unchanged: this is inference.",
     .operands = batchNormOperands,
     .attributes = batchNormAttributes,
     .attributesKey = "relay.attrs.BatchNormAttrs",
     .relation = withFix<batchNormRelation, fixVectors<batchNormRelation>>,
     .compute = computeBatchNorm,
     .gradient = GradientRule{batchNormGradient},
     .examples = batchNormExamples,
     .numbersMeant = NumbersMeant::Reals},
    {.name = "nn.layer_norm",
     .synonyms = "layer_normalization",
     .doc = "Normalises along one dimension by its own mean and variance.",
     .details = "The variance is divided by the count, and `epsilon` added to it.",
     .operands = dataGammaBeta,
     .attributes = layerNormAttributes,
     .attributesKey = "relay.attrs.LayerNormAttrs",
     .relation = withFix<layerNormRelation, fixVectors<layerNormRelation>>,
     .compute = computeLayerNorm,
     .gradient = GradientRule{layerNormGradient},
     .examples = layerNormExamples,
     .numbersMeant = NumbersMeant::Reals},
    {.name = "nn.instance_norm",
     .synonyms = "instance_normalization",
     .doc = "Normalises each channel of each sample by its own mean and variance.",
     .details = "Dimension 0 is the batch; all dimensions but it and `axis` are averaged over.",
     .operands = dataGammaBeta,
     .attributes = batchNormAttributes,
     .attributesKey = "relay.attrs.InstanceNormAttrs",
     .relation = withFix<instanceNormRelation, fixVectors<instanceNormRelation>>,
     .compute = computeInstanceNorm,
     .gradient = GradientRule{instanceNormGradient},
     .examples = instanceNormExamples,
     .numbersMeant = NumbersMeant::Reals},
    {.name = "nn.group_norm",
     .synonyms = "group_normalization",
     .doc = "Normalises groups of channels by their own mean and variance.",
     .details = "The channels of a group and the dimensions after `axis` are averaged over.",
     .operands = dataGammaBeta,
     .attributes = groupNormAttributes,
     .attributesKey = "relay.attrs.GroupNormAttrs",
     .relation = withFix<groupNormRelation, fixVectors<groupNormRelation>>,
     .compute = computeGroupNorm,
     .gradient = GradientRule{groupNormGradient},
     .examples = groupNormExamples,
     .numbersMeant = NumbersMeant::Reals},
    {.name = "nn.l2_normalize",
     .synonyms = "normalize",
     .doc = "Divides by the Euclidean norm along the given dimensions.",
     .details = "`data / sqrt(max(sum(data^2), eps))`.",
     .operands = data,
     .attributes = l2Attributes,
     .attributesKey = "relay.attrs.L2NormalizeAttrs",
     .relation = l2NormalizeRelation,
     .compute = computeL2Normalize,
     .gradient = GradientRule{l2NormalizeGradient},
     .examples = l2Examples,
     .numbersMeant = NumbersMeant::Reals},
    {.name = "nn.lrn",
     .synonyms = "local_response_norm",
     .doc = "Local response normalisation: divides by a power of the mean square of neighbours.",
     .details = "`data / (bias + alpha * sum(data^2 over the window) / size)^beta`; the window is "
                "centred and reads zeros outside the tensor.",
     .operands = data,
     .attributes = lrnAttributes,
     .attributesKey = "relay.attrs.LRNAttrs",
     .relation = lrnRelation,
     .compute = computeLrn,
     .gradient = GradientRule{lrnGradient},
     .examples = lrnExamples,
     .numbersMeant = NumbersMeant::Reals},
};

} // namespace

OperatorFamily normFamily() {
  return rows;
}

} // namespace stdlib

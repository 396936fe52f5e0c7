// Convolutions over one, two or three spatial dimensions.
//
// A weight comes in one of three forms: `OI..` with I channels per group; `GOI..`, where O counts
// within the group; and, when the groups are the channels of the data and also the weight's O, the
// depthwise form `[C, multiplier, ..]`, in which channel c gives the results c * multiplier + m.
#include "stdlib/ops/common.h"
#include "stdlib/ops/conv/conv_call.h"
#include "stdlib/ops/conv/conv_fixes.h"
#include "stdlib/ops/conv/conv_forms.h"
#include "stdlib/ops/conv/conv_gradient.h"
#include "stdlib/ops/families.h"

#include <fmt/format.h>

namespace stdlib {

using runtime::Problem;

namespace {

using namespace lang;

bool isDepthwiseForm(const ConvAttributes& conv, const Dim* channels, const Dim* weightOutputs) {
  return conv.groups > 1 && !conv.hasGroupAxis() && channels->isConstant(conv.groups) &&
         weightOutputs->isConstant(conv.groups);
}

/// Whether that could be the form at some sizes: then there may be more results.
bool mayBeDepthwise(const ConvAttributes& conv, const Dim* channels, const Dim* weightOutputs) {
  auto mayBeGroups = [&](const Dim* dim) {
    return !dim->isConstant() || dim->isConstant(conv.groups);
  };
  return conv.groups > 1 && !conv.hasGroupAxis() && mayBeGroups(channels) &&
         mayBeGroups(weightOutputs);
}

/// The weight whose type is not known, from `channels` and `kernel_size`.
ConvWeightAnswer inferWeight(const RelationCall& call, const ConvAttributes& conv,
                             const Dim* perGroup) {
  // Grouped 2-D weights come in two forms, so their type cannot be told from the attributes.
  bool isOpen = conv.dims == 2 && conv.groups > 1 && !conv.hasGroupAxis();
  if (!conv.channels || conv.kernelSize.empty() || isOpen)
    return call.waitFor(1);
  if (!conv.hasGroupAxis())
    return weightFromAttributes(call, conv, {call.types.constant(*conv.channels), perGroup});
  const Dim* groups = call.types.constant(conv.groups);
  const Dim* members = call.types.constant(*conv.channels / conv.groups);
  return weightFromAttributes(call, conv, {groups, members, perGroup});
}

/// The weight whose type is known, checked against attributes and the channels of the data.
ConvWeightAnswer checkWeight(const RelationCall& call, const ConvAttributes& conv,
                             const Dim* inputs, const Dim* perGroup) {
  if (auto problem = requireLikeNumbers(call))
    return *problem;
  TypeContext& types = call.types;
  auto shape = convertShape(types, conv.weight, conv.canonicalWeight, call.shape(1));
  if (!shape)
    return call.failedAt(1, shape.failure());
  size_t outputsAt = conv.hasGroupAxis() ? 1 : 0;
  const Dim* outputs = (*shape)[outputsAt];
  const Dim* expected = (*shape)[outputsAt + 1];
  if (isDepthwiseForm(conv, inputs, outputs))
    return weightFromType(call, conv, *shape, types.multiply(inputs, expected));
  const Dim* taken = types.multiply(expected, types.constant(conv.groups));
  if (call.differ(inputs, taken))
    return channelProblem(call, conv, perGroup, expected);
  if (matchDims(inputs, taken) != DimMatch::Same && mayBeDepthwise(conv, inputs, outputs) &&
      !expected->isConstant(1))
    outputs = types.any();
  if (conv.hasGroupAxis()) {
    const Dim* groups = types.constant(conv.groups);
    if (call.differ((*shape)[0], groups))
      return failedCall(call, {{1, *conv.weight.find('G')}},
                        fmt::format("`groups` is {}, but `weight` has {} groups", conv.groups,
                                    dimText((*shape)[0])));
    outputs = types.multiply(groups, outputs);
  }
  if (auto members = channelsPerGroup(types, outputs, conv.groups); !members)
    return call.failedAt(1, members.failure());
  return weightFromType(call, conv, *shape, outputs);
}

/// The problem that the window does not fit along spatial dimension `i`.
RelationResult windowProblem(const RelationCall& call, const ConvAttributes& conv, size_t i,
                             const Problem& problem) {
  char axis = spatialAxes(conv.dims)[i];
  std::vector<DimMark> marks{{0, *conv.data.find(axis)}};
  if (call.isKnown(1))
    marks.push_back({1, *conv.weight.find(axis)});
  return call.failedOn(marks, fmt::format("along `{}`, {}", axis, problem.text));
}

} // namespace

RelationResult convRelation(const RelationCall& call, size_t dims) {
  auto conv = readConv(call.attributes, dims, ConvKind::Forward);
  if (!conv)
    return call.failed(conv.failure());
  auto data = convertShape(call.types, conv->data, conv->canonicalData, call.shape(0));
  if (!data)
    return call.failedAt(0, data.failure());
  const Dim* inputs = (*data)[1];
  auto perGroup = channelsPerGroup(call.types, inputs, conv->groups);
  if (!perGroup)
    return failedCall(call, {{0, *conv->data.find('C')}}, perGroup.failure());
  ConvWeightAnswer answer = call.isKnown(1) ? checkWeight(call, *conv, inputs, *perGroup)
                                            : inferWeight(call, *conv, *perGroup);
  if (auto* other = std::get_if<RelationResult>(&answer))
    return *other;
  const auto& weight = std::get<ConvWeight>(answer);
  std::vector<const Dim*> shape{(*data)[0], weight.channels};
  for (size_t i = 0; i < dims; ++i) {
    auto positions = windowExtent(call, (*data)[2 + i], weight.kernel[i], conv->window, i, false);
    if (!positions)
      return windowProblem(call, *conv, i, positions.failure());
    shape.push_back(*positions);
  }
  RelationResult result = solvedInLayout(call, conv->canonicalData, conv->result, shape,
                                         conv->outDType.value_or(call.dtype(0)), weight.inferred);
  for (size_t i = 0; i < dims; ++i)
    requireWindow(result, call, (*data)[2 + i], weight.kernel[i], conv->window, i);
  for (const Dim* channels : {inputs, weight.channels})
    requireMultiple(result, channels, conv->groups);
  return result;
}

namespace {

template <size_t dims>
RelationResult relate(const RelationCall& call) {
  return convRelation(call, dims);
}

template <size_t dims>
Fixes fix(const RelationCall& call) {
  return convFix(call, relate<dims>, dims);
}

/// nn.conv2d where the attributes must tell the shape of the weight.
RelationResult relateBlocked(const RelationCall& call) {
  if (call.attributes.isNull("channels") || call.attributes.isNull("kernel_size"))
    return call.failed("`channels` and `kernel_size` must be given");
  return relate<2>(call);
}

Fixes fixBlocked(const RelationCall& call) {
  return convFix(call, relateBlocked, 2);
}

} // namespace

void convResult(ComputeCall& call, const ConvAttributes& conv, TensorHandle data,
                TensorHandle weight) {
  Extents dataShape = convertExtents(conv.data, conv.canonicalData, data.shape());
  Extents weightShape = convertExtents(conv.weight, conv.canonicalWeight, weight.shape());
  Scalar isDepthwise = call.number(runtime::Bool, conv.groups > 1 && !conv.hasGroupAxis()) &&
                       dataShape[1] == double(conv.groups) && weightShape[0] == double(conv.groups);
  Scalar inputs = floorDivide(dataShape[1], conv.groups);
  Scalar outputs = floorDivide(weightShape[0], conv.groups);
  auto dataAt = canonicalReader(call, data, conv.canonicalData, conv.data, conv.window.isPadded());
  auto weightAt = canonicalReader(call, weight, conv.canonicalWeight, conv.weight, false);
  Extents taps(weightShape.begin() + ptrdiff_t(conv.weightSpatial()), weightShape.end());
  taps.insert(taps.begin(), inputs);
  resultByGroups(call, conv.result, conv.canonicalData, 'C', conv.groups,
                 [&](Scalar group, const Position& at) {
                   return call.sumOver(taps, [&](const Position& tap) {
                     Position from{at[0], group * inputs + tap[0]};
                     for (size_t i = 0; i < conv.dims; ++i)
                       from.push_back(at[2 + i] * double(conv.window.strides[i]) +
                                      tap[1 + i] * double(conv.window.dilation[i]) -
                                      double(conv.window.before[i]));
                     Position of{group, at[1], tap[0]};
                     if (!conv.hasGroupAxis())
                       of = {select(isDepthwise, group, group * outputs + at[1]),
                             select(isDepthwise, at[1], tap[0])};
                     of.insert(of.end(), tap.begin() + 1, tap.end());
                     return dataAt(from) * weightAt(of);
                   });
                 });
}

namespace {

template <size_t dims>
void compute(ComputeCall& call) {
  convResult(call, *readConv(call.attributes(), dims, ConvKind::Forward), call.input(0),
             call.input(1));
}

constexpr OperandRow operands[] = {
    {"data", "the tensor that the window slides over"},
    {"weight", "the factors of the window's taps, per pair of channels", OperandKind::Tensor, true},
};

constexpr auto attributes1d = convAttributes(1);
constexpr auto attributes2d = convAttributes(2);
constexpr auto attributes3d = convAttributes(3);

constexpr std::string_view details =
    "result[n, o, y] = sum over i, k of data[n, g * I + i, y * stride + k * dilation - padding] * "
    "weight[o, i, k], where g is the group of channel o and I the number of data channels in a "
    "group; data outside reads zero. Both operands are converted to `out_dtype` first. When "
    "`channels` and `kernel_size` are given, the weight's type can be inferred (in two dimensions "
    "only without groups). When the groups are the data's channels and the weight's first extent, "
    "the weight is `[C, multiplier, ...]`. Layouts may be permuted or tiled (`NCHW4c`); a weight "
    "layout may have an axis `G` for the groups.";

constexpr Example examples1d[] = {
    {"nn.conv1d([[[1f, 2f, 3f, 4f]]], [[[1f, 10f]]])", "[[[21f, 32f, 43f]]]"},
    {"nn.conv1d([[[1f, 2f, 3f]]], [[[1f, 1f]]], padding=[1, 0], strides=[2])", "[[[1f, 5f]]]"},
};
constexpr Example examples2d[] = {
    {"nn.conv2d([[[[1f, 2f], [3f, 4f]]]], [[[[1f, 10f], [100f, 1000f]]]])", "[[[[4321f]]]]"},
    {"nn.conv2d([[[[1f]], [[2f]]]], [[[[3f]]], [[[5f]]]], groups=2, channels=2, kernel_size=[1, "
     "1])",
     "[[[[3f]], [[10f]]]]"},
    {"nn.conv2d([[[[1f, 2f], [3f, 4f]]]], [[[[10f], [1f]]]], data_layout=\"NHWC\", "
     "kernel_layout=\"HWIO\")",
     "[[[[12f], [34f]]]]"},
};
constexpr Example blockedExamples[] = {
    {"nn.contrib_conv2d_NCHWc([[[[[1f, 2f]]]]], [[[[[[3f], [4f]]]]]], channels=1, kernel_size=[1, "
     "1], data_layout=\"NCHW2c\", kernel_layout=\"OIHW2i1o\", out_layout=\"NCHW1c\")",
     "[[[[[11f]]]]]"},
    {"nn.contrib_conv2d_NCHWc([[[[1f, 2f]]]], [[[[3f]]]], channels=1, kernel_size=[1, 1])",
     "[[[[3f, 6f]]]]"},
};
constexpr Example blockedDepthwiseExamples[] = {
    {"nn.contrib_depthwise_conv2d_NCHWc([[[[[1f, 2f]]]]], [[[[[[3f, 4f]]]]]], groups=2, "
     "channels=2, kernel_size=[1, 1], data_layout=\"NCHW2c\", kernel_layout=\"OIHW1i2o\")",
     "[[[[[3f, 8f]]]]]"},
    {"nn.contrib_depthwise_conv2d_NCHWc([[[[1f, 2f]]]], [[[[3f]]]])", "[[[[3f, 6f]]]]"},
};
constexpr Example examples3d[] = {
    {"nn.conv3d([[[[[1f, 2f]], [[3f, 4f]]]]], [[[[[1f]], [[2f]]]]])", "[[[[[7f, 10f]]]]]"},
};

constexpr OperatorRow rows[] = {
    {
        .name = "nn.conv1d",
        .doc = "Cross-correlates a sequence with weights.",
        .details = details,
        .operands = operands,
        .attributes = attributes1d,
        .attributesKey = "relay.attrs.Conv1DAttrs",
        .relation = withFix<relate<1>, fix<1>>,
        .compute = compute<1>,
        .gradient = GradientRule{convGradient<1>},
        .examples = examples1d,
    },
    {
        .name = "nn.conv2d",
        .doc = "Cross-correlates pictures with weights.",
        .details = details,
        .operands = operands,
        .attributes = attributes2d,
        .attributesKey = "relay.attrs.Conv2DAttrs",
        .relation = withFix<relate<2>, fix<2>>,
        .compute = compute<2>,
        .gradient = GradientRule{convGradient<2>},
        .examples = examples2d,
    },
    {
        .name = "nn.contrib_conv2d_NCHWc",
        .doc = "Cross-correlates pictures with weights, both in blocked layouts.",
        .details = "As nn.conv2d, but `channels` and `kernel_size` must be given.",
        .operands = operands,
        .attributes = attributes2d,
        .attributesKey = "relay.attrs.Conv2DAttrs",
        .relation = withFix<relateBlocked, fixBlocked>,
        .compute = compute<2>,
        .gradient = GradientRule{convGradient<2>},
        .examples = blockedExamples,
    },
    {
        .name = "nn.contrib_depthwise_conv2d_NCHWc",
        .doc = "Cross-correlates each channel of pictures by itself, in blocked layouts.",
        .details = "As nn.conv2d.",
        .operands = operands,
        .attributes = attributes2d,
        .attributesKey = "relay.attrs.Conv2DAttrs",
        .relation = withFix<relate<2>, fix<2>>,
        .compute = compute<2>,
        .gradient = GradientRule{convGradient<2>},
        .examples = blockedDepthwiseExamples,
    },
    {
        .name = "nn.conv3d",
        .doc = "Cross-correlates volumes with weights.",
        .details = details,
        .operands = operands,
        .attributes = attributes3d,
        .attributesKey = "relay.attrs.Conv3DAttrs",
        .relation = withFix<relate<3>, fix<3>>,
        .compute = compute<3>,
        .gradient = GradientRule{convGradient<3>},
        .examples = examples3d,
    },
};

} // namespace

OperatorFamily convFamily() {
  return rows;
}

} // namespace stdlib

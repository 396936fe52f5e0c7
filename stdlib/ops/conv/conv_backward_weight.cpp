// The gradient of a convolution by its weight, as operators of their own.
//
// The attribute object is that of the convolution, with its layouts shifted: `data_layout` is that
// of the gradient, `kernel_layout` that of the data, `out_layout` that of the weight.
#include "stdlib/ops/common.h"
#include "stdlib/ops/conv/conv_call.h"
#include "stdlib/ops/conv/conv_gradient.h"
#include "stdlib/ops/families.h"

#include <fmt/format.h>

namespace stdlib {

namespace {

using namespace lang;

/// The gradient may have fewer positions than the window has in the data, but not more.
std::optional<RelationResult> checkPositions(const RelationCall& call, const ConvAttributes& conv,
                                             Dims data, Dims gradient) {
  for (size_t i = 0; i < conv.dims; ++i) {
    const Dim* kernel = call.types.constant(conv.kernelSize[i]);
    auto positions = windowExtent(call, data[2 + i], kernel, conv.window, i, false);
    if (!positions)
      return call.failedAt(1, positions.failure());
    const Dim* given = gradient[2 + i];
    const Dim* rest = call.types.subtract(*positions, given);
    if (rest->isConstant() && rest->value < 0)
      return call.failedAt(0, fmt::format("the gradient has an extent of {} at axis `{}`, but the "
                                          "window has only {} positions in the data",
                                          dimText(given), spatialAxes(conv.dims)[i],
                                          dimText(*positions)));
  }
  return std::nullopt;
}

void requirePositions(RelationResult& result, const RelationCall& call, const ConvAttributes& conv,
                      Dims data, Dims gradient) {
  for (size_t i = 0; i < conv.dims; ++i) {
    const Dim* kernel = call.types.constant(conv.kernelSize[i]);
    const Dim* positions = *windowExtent(call, data[2 + i], kernel, conv.window, i, false);
    requireWindow(result, call, data[2 + i], kernel, conv.window, i);
    requireAtLeast(result, call.types.subtract(positions, gradient[2 + i]), 0);
  }
}

template <size_t dims>
RelationResult relate(const RelationCall& call) {
  auto conv = readConv(call.attributes, dims, ConvKind::BackwardWeight);
  if (!conv)
    return call.failed(conv.failure());
  TypeContext& types = call.types;
  auto gradient = convertShape(types, conv->result, conv->canonicalData, call.shape(0));
  if (!gradient)
    return call.failedAt(0, gradient.failure());
  auto data = convertShape(types, conv->data, conv->canonicalData, call.shape(1));
  if (!data)
    return call.failedAt(1, data.failure());
  if (auto other = requireLikeNumbers(call))
    return *other;
  if (auto other = checkPositions(call, *conv, *data, *gradient))
    return *other;
  if (!call.meetDims((*data)[0], (*gradient)[0]))
    return call.failedOn({{0, *conv->result.find('N')}, {1, *conv->data.find('N')}},
                         fmt::format("the gradient has {} samples, but the data has {}",
                                     dimText((*gradient)[0]), dimText((*data)[0])));
  const Dim *outputs = (*gradient)[1], *inputs = (*data)[1];
  if (conv->channels && !call.meetDims(types.constant(*conv->channels), outputs))
    return call.failedOn({{0, *conv->result.find('C')}},
                         fmt::format("`channels` is {}, but the gradient has {} channels",
                                     *conv->channels, dimText(outputs)));
  auto outputsPerGroup = channelsPerGroup(types, outputs, conv->groups);
  if (!outputsPerGroup)
    return call.failedAt(0, outputsPerGroup.failure());
  auto inputsPerGroup = channelsPerGroup(types, inputs, conv->groups);
  if (!inputsPerGroup)
    return call.failedAt(1, inputsPerGroup.failure());
  std::vector<const Dim*> shape{outputs, *inputsPerGroup};
  if (conv->groups > 1 && inputs->isConstant(conv->groups))
    shape = {inputs, *outputsPerGroup};
  // Named channels may be as many as groups, or not.
  else if (conv->groups > 1 && !inputs->isConstant())
    shape = {types.any(), types.any()};
  for (int64_t extent : conv->kernelSize)
    shape.push_back(types.constant(extent));
  RelationResult result = solvedInLayout(call, conv->canonicalWeight, conv->weight, shape,
                                         conv->outDType.value_or(call.dtype(0)));
  requirePositions(result, call, *conv, *data, *gradient);
  for (const Dim* channels : {inputs, outputs})
    requireMultiple(result, channels, conv->groups);
  return result;
}

template <size_t dims>
void compute(ComputeCall& call) {
  ConvAttributes conv = *readConv(call.attributes(), dims, ConvKind::BackwardWeight);
  TensorHandle gradient = call.input(0), data = call.input(1);
  Extents over = convertExtents(conv.result, conv.canonicalData, gradient.shape());
  Extents dataShape = convertExtents(conv.data, conv.canonicalData, data.shape());
  Scalar isDepthwise =
      call.number(runtime::Bool, conv.groups > 1) && dataShape[1] == double(conv.groups);
  Scalar inputs = floorDivide(dataShape[1], conv.groups);
  Scalar outputs = floorDivide(over[1], conv.groups);
  auto gradientAt = canonicalReader(call, gradient, conv.canonicalData, conv.result, false);
  auto dataAt = canonicalReader(call, data, conv.canonicalData, conv.data, conv.window.isPadded());
  over.erase(over.begin() + 1);
  resultByGroups(call, conv.weight, conv.canonicalWeight, 'O', conv.groups,
                 [&](Scalar group, const Position& at) {
                   Scalar output = group * outputs + select(isDepthwise, at[1], at[0]);
                   Scalar input = select(isDepthwise, group, group * inputs + at[1]);
                   return call.sumOver(over, [&](const Position& y) {
                     Position of{y[0], output}, from{y[0], input};
                     of.insert(of.end(), y.begin() + 1, y.end());
                     for (size_t i = 0; i < dims; ++i)
                       from.push_back(y[1 + i] * double(conv.window.strides[i]) +
                                      at[2 + i] * double(conv.window.dilation[i]) -
                                      double(conv.window.before[i]));
                     return gradientAt(of) * dataAt(from);
                   });
                 });
}

constexpr OperandRow operands[] = {
    {"grad", "the gradient by the result of the convolution"},
    {"data", "the data of the convolution"},
};

constexpr auto attributes1d = convAttributes(1, true);
constexpr auto attributes2d = convAttributes(2, true);
constexpr auto attributes3d = convAttributes(3, true);

constexpr std::string_view details =
    "result[o, i, k] = sum over n, y of grad[n, o, y] * data[n, g * I + i, y * stride + k * "
    "dilation - padding], with zeros outside the data. `kernel_size` must be given. When the "
    "groups "
    "are the channels of the data, the result is `[C, channels / C, ...]`. The layouts of the "
    "attributes have other meanings than in the convolution: `data_layout` is that of the "
    "gradient, "
    "`kernel_layout` that of the data and `out_layout` that of the result; a `kernel_layout` with "
    "the axes of a weight counts for the result when `out_layout` is empty.";

constexpr Example examples1d[] = {
    {"nn.conv1d_backward_weight([[[1f, 10f]]], [[[1f, 2f, 3f]]], kernel_size=[2])",
     "[[[21f, 32f]]]"},
};
constexpr Example examples2d[] = {
    {"nn.conv2d_backward_weight([[[[1f, 10f]]]], [[[[1f, 2f, 3f]]]], kernel_size=[1, 2])",
     "[[[[21f, 32f]]]]"},
};
constexpr Example examples3d[] = {
    {"nn.conv3d_backward_weight([[[[[1f, 10f]]]]], [[[[[1f, 2f, 3f]]]]], kernel_size=[1, 1, 2])",
     "[[[[[21f, 32f]]]]]"},
};

constexpr OperatorRow rows[] = {
    {
        .name = "nn.conv1d_backward_weight",
        .doc = "The gradient of nn.conv1d by its weight.",
        .details = details,
        .operands = operands,
        .attributes = attributes1d,
        .attributesKey = "relay.attrs.Conv1DAttrs",
        .relation = relate<1>,
        .compute = compute<1>,
        .gradient = GradientRule{convBackwardWeightGradient<1>},
        .examples = examples1d,
    },
    {
        .name = "nn.conv2d_backward_weight",
        .doc = "The gradient of nn.conv2d by its weight.",
        .details = details,
        .operands = operands,
        .attributes = attributes2d,
        .attributesKey = "relay.attrs.Conv2DAttrs",
        .relation = relate<2>,
        .compute = compute<2>,
        .gradient = GradientRule{convBackwardWeightGradient<2>},
        .examples = examples2d,
    },
    {
        .name = "nn.conv3d_backward_weight",
        .doc = "The gradient of nn.conv3d by its weight.",
        .details = details,
        .operands = operands,
        .attributes = attributes3d,
        .attributesKey = "relay.attrs.Conv3DAttrs",
        .relation = relate<3>,
        .compute = compute<3>,
        .gradient = GradientRule{convBackwardWeightGradient<3>},
        .examples = examples3d,
    },
};

} // namespace

OperatorFamily convBackwardWeightFamily() {
  return rows;
}

} // namespace stdlib

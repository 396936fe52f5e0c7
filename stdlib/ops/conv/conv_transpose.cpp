// Transposed convolutions: what the gradient of a convolution by its data computes. The sums are in
// conv_transpose_sum.cpp.
//
// The weight is `[I, O per group, ...]` with I channels of the data.
#include "stdlib/ops/common.h"
#include "stdlib/ops/conv/conv_call.h"
#include "stdlib/ops/conv/conv_fixes.h"
#include "stdlib/ops/conv/conv_forms.h"
#include "stdlib/ops/conv/conv_gradient.h"
#include "stdlib/ops/families.h"

#include <algorithm>
#include <fmt/format.h>

namespace stdlib {

using runtime::Checked;
using runtime::Problem;

namespace {

using namespace lang;

ConvWeightAnswer inferWeight(const RelationCall& call, const ConvAttributes& conv,
                             const Dim* inputs) {
  if (!conv.channels || conv.kernelSize.empty())
    return call.waitFor(1);
  const Dim* members = call.types.constant(*conv.channels / conv.groups);
  return weightFromAttributes(call, conv, {inputs, members});
}

ConvWeightAnswer checkWeight(const RelationCall& call, const ConvAttributes& conv,
                             const Dim* inputs) {
  if (auto problem = requireLikeNumbers(call))
    return *problem;
  TypeContext& types = call.types;
  auto shape = convertShape(types, conv.weight, conv.canonicalWeight, call.shape(1));
  if (!shape)
    return call.failedAt(1, shape.failure());
  if (call.differ(inputs, (*shape)[0]))
    return channelProblem(call, conv, inputs, (*shape)[0]);
  return weightFromType(call, conv, *shape,
                        types.multiply((*shape)[1], types.constant(conv.groups)));
}

/// stride * (extent - 1) + (kernel - 1) * dilation + 1 - padding + added, which must not be
/// negative.
Checked<const Dim*> resultExtent(TypeContext& types, const Dim* extent, const Dim* kernel,
                                 const ConvAttributes& conv, size_t i) {
  if (extent->isAny() || kernel->isAny())
    return types.any();
  const Dim* one = types.constant(1);
  auto scaled = [&](const Dim* dim, int64_t factor) {
    return types.multiply(types.subtract(dim, one), types.constant(factor));
  };
  const Window& window = conv.window;
  int64_t rest = 1 + conv.outputPadding[i] - window.before[i] - window.after[i];
  const Dim* sum = types.add(scaled(extent, window.strides[i]), scaled(kernel, window.dilation[i]));
  const Dim* result = types.add(sum, types.constant(rest));
  if (!extent->isConstant() || !kernel->isConstant())
    return result;
  if (!result->isConstant())
    return Problem{fmt::format("the result of an extent of {} is too large", extent->value)};
  if (result->value >= 0)
    return result;
  if (extent->value == 0)
    return types.constant(0);
  return Problem{
      fmt::format("a padding of {} and {} leaves nothing of an extent of {} under a kernel "
                  "of {}",
                  window.before[i], window.after[i], extent->value, kernel->value)};
}

} // namespace

RelationResult convTransposeRelation(const RelationCall& call, size_t dims) {
  auto conv = readConv(call.attributes, dims, ConvKind::Transposed);
  if (!conv)
    return call.failed(conv.failure());
  auto data = convertShape(call.types, conv->data, conv->canonicalData, call.shape(0));
  if (!data)
    return call.failedAt(0, data.failure());
  const Dim* inputs = (*data)[1];
  if (auto members = channelsPerGroup(call.types, inputs, conv->groups); !members)
    return failedCall(call, {{0, *conv->data.find('C')}}, members.failure());
  ConvWeightAnswer answer =
      call.isKnown(1) ? checkWeight(call, *conv, inputs) : inferWeight(call, *conv, inputs);
  if (auto* other = std::get_if<RelationResult>(&answer))
    return *other;
  const auto& weight = std::get<ConvWeight>(answer);
  std::vector<const Dim*> shape{(*data)[0], weight.channels}, rooms;
  for (size_t i = 0; i < dims; ++i) {
    auto extent = resultExtent(call.types, (*data)[2 + i], weight.kernel[i], *conv, i);
    if (!extent)
      return call.failedAt(0, extent.failure());
    rooms.push_back(*extent);
    shape.push_back(notNegative(call, *extent));
  }
  RelationResult result = solvedInLayout(call, conv->canonicalData, conv->result, shape,
                                         conv->outDType.value_or(call.dtype(0)), weight.inferred);
  for (size_t i = 0; i < dims; ++i) {
    requireAtLeast(result, weight.kernel[i], 1);
    if (call.steps)
      requireRoom(result, call, rooms[i], (*data)[2 + i]);
  }
  requireMultiple(result, inputs, conv->groups);
  return result;
}

namespace {

template <size_t dims>
RelationResult relate(const RelationCall& call) {
  return convTransposeRelation(call, dims);
}

template <size_t dims>
Fixes fix(const RelationCall& call) {
  return convFix(call, relate<dims>, dims);
}

template <size_t dims>
void compute(ComputeCall& call) {
  convTransposeResult(call, *readConv(call.attributes(), dims, ConvKind::Transposed), call.input(0),
                      call.input(1));
}

constexpr OperandRow operands[] = {
    {"data", "the tensor whose elements spread the kernel"},
    {"weight", "the kernel, per pair of channels", OperandKind::Tensor, true},
};

constexpr auto attributes1d = convTransposeAttributes(1);
constexpr auto attributes2d = convTransposeAttributes(2);
constexpr auto attributes3d = convTransposeAttributes(3);

constexpr std::string_view details =
    "result[n, o, y * stride + k * dilation - padding] gathers data[n, i, y] * weight[i, o, k] "
    "over "
    "all i, y and k; the extents are stride * (extent - 1) + (kernel - 1) * dilation + 1 - padding "
    "+ output_padding. With groups, the weight has the result's channels per group at its axis O, "
    "and data channels meet only results of their group. When `channels` and `kernel_size` are "
    "given, the weight's type is inferred; otherwise the result has groups times the weight's O "
    "channels.";

constexpr Example examples1d[] = {
    {"nn.conv1d_transpose([[[1f, 2f]]], [[[1f, 10f]]])", "[[[1f, 12f, 20f]]]"},
    {"nn.conv1d_transpose([[[1f, 2f]]], [[[1f, 10f]]], strides=[2], output_padding=[1])",
     "[[[1f, 10f, 2f, 20f, 0f]]]"},
};
constexpr Example examples2d[] = {
    {"nn.conv2d_transpose([[[[1f, 2f]]]], [[[[1f], [3f]]]])", "[[[[1f, 2f], [3f, 6f]]]]"},
};
constexpr Example examples3d[] = {
    {"nn.conv3d_transpose([[[[[2f]]]]], [[[[[1f, 3f]]]]], padding=[0, 0, 0, 0, 0, 1])",
     "[[[[[2f]]]]]"},
};

constexpr OperatorRow rows[] = {
    {
        .name = "nn.conv1d_transpose",
        .synonyms = "conv_transpose1d",
        .doc = "The transposed convolution of a sequence with weights.",
        .details = details,
        .operands = operands,
        .attributes = attributes1d,
        .attributesKey = "relay.attrs.Conv1DTransposeAttrs",
        .relation = withFix<relate<1>, fix<1>>,
        .compute = compute<1>,
        .gradient = GradientRule{convTransposeGradient<1>},
        .examples = examples1d,
    },
    {
        .name = "nn.conv2d_transpose",
        .synonyms = "conv_transpose2d deconvolution",
        .doc = "The transposed convolution of pictures with weights.",
        .details = details,
        .operands = operands,
        .attributes = attributes2d,
        .attributesKey = "relay.attrs.Conv2DTransposeAttrs",
        .relation = withFix<relate<2>, fix<2>>,
        .compute = compute<2>,
        .gradient = GradientRule{convTransposeGradient<2>},
        .examples = examples2d,
    },
    {
        .name = "nn.conv3d_transpose",
        .synonyms = "conv_transpose3d",
        .doc = "The transposed convolution of volumes with weights.",
        .details = details,
        .operands = operands,
        .attributes = attributes3d,
        .attributesKey = "relay.attrs.Conv3DTransposeAttrs",
        .relation = withFix<relate<3>, fix<3>>,
        .compute = compute<3>,
        .gradient = GradientRule{convTransposeGradient<3>},
        .examples = examples3d,
    },
};

} // namespace

OperatorFamily convTransposeFamily() {
  return rows;
}

} // namespace stdlib

// Convolution at displaced taps.
//
// A tap that lies outside the picture by less than one element reads the edge at the high end, but
// zero at the low end.
#include "stdlib/ops/common.h"
#include "stdlib/ops/conv_call.h"
#include "stdlib/ops/families.h"

#include <fmt/format.h>

namespace stdlib {

namespace {

using namespace lang;
using runtime::Checked;
using runtime::DType;
using runtime::Problem;

constexpr DType Real = runtime::Float64;

/// The attributes of nn.deformable_conv2d.
Checked<ConvAttributes> readAttributes(const Attributes& attributes) {
  auto conv = readConv(attributes, 2, ConvKind::Forward);
  if (!conv)
    return conv.failure();
  if (conv->hasGroupAxis())
    return Problem{"`kernel_layout` must not have an axis `G`"};
  int64_t groups = attributes.integer("deformable_groups");
  if (groups < 1 || groups > INT32_MAX)
    return Problem{
        fmt::format("`deformable_groups` must be from 1 to {}, but it is {}", INT32_MAX, groups)};
  return conv;
}

/// The canonical shape of the weight: from its type or, when that is unknown, the attributes.
std::variant<std::vector<const Dim*>, RelationResult> canonicalWeight(const RelationCall& call,
                                                                      const ConvAttributes& conv,
                                                                      const Dim* inputs,
                                                                      const Dim* perGroup) {
  TypeContext& types = call.types;
  if (!call.isKnown(2)) {
    if (!conv.channels || conv.kernelSize.empty())
      return call.waitFor(2);
    return std::vector{types.constant(*conv.channels), perGroup, types.constant(conv.kernelSize[0]),
                       types.constant(conv.kernelSize[1])};
  }
  auto shape = convertShape(types, conv.weight, conv.canonicalWeight, call.shape(2));
  if (!shape)
    return call.failedAt(2, shape.failure());
  if (matchDims(perGroup, (*shape)[1]) == DimMatch::Different ||
      matchDims(inputs, types.multiply((*shape)[1], types.constant(conv.groups))) ==
          DimMatch::Different)
    return call.failedOn(
        {{2, *conv.weight.find('I')}, {0, *conv.data.find('C')}},
        fmt::format("the data has {} channels in a group, but the weight in layout "
                    "`{}` takes {}",
                    dimText(perGroup), layoutText(conv.weight), dimText((*shape)[1])));
  if (auto members = channelsPerGroup(types, (*shape)[0], conv.groups); !members)
    return call.failedAt(2, members.failure());
  if (conv.channels && !meetDims(types.constant(*conv.channels), (*shape)[0]))
    return call.failedAt(2, fmt::format("`channels` is {}, but the weight gives {}", *conv.channels,
                                        dimText((*shape)[0])));
  auto kernel = meetKernel(types, conv, *shape);
  if (!kernel)
    return call.failedAt(2, kernel.failure());
  return std::vector{(*shape)[0], perGroup, (*kernel)[0], (*kernel)[1]};
}

/// The types of result, offsets and weight, from the canonical shapes of weight and result.
RelationResult typesOf(const RelationCall& call, const ConvAttributes& conv,
                       const std::vector<const Dim*>& weight,
                       const std::vector<const Dim*>& shape) {
  TypeContext& types = call.types;
  const Dim* taps = types.multiply(weight[2], weight[3]);
  std::vector<const Dim*> offset = shape;
  offset[1] =
      types.multiply(taps, types.constant(2 * call.attributes.integer("deformable_groups")));
  auto offsetShape = tiledShape(types, conv.canonicalData, conv.data, offset);
  auto weightShape = tiledShape(types, conv.canonicalWeight, conv.weight, weight);
  auto output = tiledShape(types, conv.canonicalData, conv.result, shape);
  for (const auto* tiled : {&offsetShape, &weightShape, &output})
    if (!*tiled)
      return call.failed(tiled->failure());
  RelationResult result = call.solved(*output, conv.outDType.value_or(call.dtype(0)));
  DType dtype = call.isKnown(1) ? call.dtype(1) : call.dtype(0);
  result.operands.emplace_back(1, types.tensor(*offsetShape, dtype));
  if (!call.isKnown(2))
    result.operands.emplace_back(2, types.tensor(*weightShape, call.dtype(0)));
  return result;
}

RelationResult relate(const RelationCall& call) {
  auto conv = readAttributes(call.attributes);
  if (!conv)
    return call.failed(conv.failure());
  TypeContext& types = call.types;
  auto data = convertShape(types, conv->data, conv->canonicalData, call.shape(0));
  if (!data)
    return call.failedAt(0, data.failure());
  if (!call.dtype(0).isFloat() || (call.isKnown(2) && !call.dtype(2).isFloat()))
    return call.failedAt(0, "the data and the weight must be floating point");
  int64_t bends = call.attributes.integer("deformable_groups");
  const Dim* inputs = (*data)[1];
  auto perGroup = channelsPerGroup(types, inputs, conv->groups);
  if (!perGroup)
    return call.failedAt(0, perGroup.failure());
  if (inputs->isConstant() && inputs->value % bends != 0)
    return call.failedAt(0, fmt::format("`deformable_groups` is {}, which does not divide the {} "
                                        "channels",
                                        bends, inputs->value));
  auto answer = canonicalWeight(call, *conv, inputs, *perGroup);
  if (auto* other = std::get_if<RelationResult>(&answer))
    return *other;
  const auto& weight = std::get<0>(answer);
  std::vector<const Dim*> shape{(*data)[0], weight[0]};
  for (size_t i = 0; i < 2; ++i) {
    auto positions = windowPositions(types, (*data)[2 + i], weight[2 + i], conv->window, i, false);
    if (!positions)
      return call.failedAt(0, positions.failure());
    shape.push_back(*positions);
  }
  RelationResult result = typesOf(call, *conv, weight, shape);
  for (size_t i = 0; i < 2; ++i)
    requireWindow(result, types, (*data)[2 + i], weight[2 + i], conv->window, i);
  requireMultiple(result, inputs, bends);
  for (const Dim* channels : {inputs, weight[0]})
    requireMultiple(result, channels, conv->groups);
  return result;
}

/// The bilinear value of a picture at a position; `at` reads the element of a row and column.
Scalar bilinear(Scalar y, Scalar x, Scalar height, Scalar width, DType dtype,
                const std::function<Scalar(Scalar, Scalar)>& at) {
  auto floorOf = [](Scalar a) { return apply(ScalarFunction::Floor, {a}); };
  auto whole = [](Scalar a, Scalar extent) {
    return minimum(cast(a, runtime::Int64), extent - 1.0);
  };
  Scalar top = floorOf(y), left = floorOf(x), down = cast(y - top, dtype),
         across = cast(x - left, dtype);
  auto row = [&](Scalar line) {
    Scalar start = at(line, whole(left, width)), end = at(line, whole(left + 1.0, width));
    return start * (1.0 - across) + end * across;
  };
  Scalar value = row(whole(top, height)) * (1.0 - down) + row(whole(top + 1.0, height)) * down;
  Scalar isInside = y >= 0.0 && x >= 0.0 && y < cast(height, Real) && x < cast(width, Real);
  return select(isInside, value, number(value, 0));
}

void compute(ComputeCall& call) {
  ConvAttributes conv = *readAttributes(call.attributes());
  TensorHandle data = call.input(0), offset = call.input(1), weight = call.input(2);
  Extents from = convertExtents(conv.data, conv.canonicalData, data.shape());
  Extents kernel = convertExtents(conv.weight, conv.canonicalWeight, weight.shape());
  Extents to = convertExtents(conv.result, conv.canonicalData, call.outputShape());
  Scalar zero = call.number(data.dtype(), 0), taps = kernel[2] * kernel[3];
  Scalar perBend = floorDivide(from[1], call.attributes().integer("deformable_groups"));
  Scalar outputs = floorDivide(kernel[0], conv.groups);
  // Batch, channel, tap down and across, place down and across: the data as the taps see it.
  TensorHandle bent =
      call.define({from[0], from[1], kernel[2], kernel[3], to[2], to[3]}, [&](const Position& at) {
        Scalar first = (floorDivide(at[1], perBend) * taps + at[2] * kernel[3] + at[3]) * 2.0;
        auto place = [&](size_t i) {
          Scalar along = at[4 + i] * double(conv.window.strides[i]) +
                         at[2 + i] * double(conv.window.dilation[i]) -
                         double(conv.window.before[i]);
          Position where{at[0], first + double(i), at[4], at[5]};
          return cast(along, Real) +
                 cast(offset(convertPosition(conv.canonicalData, conv.data, where)), Real);
        };
        return bilinear(
            place(0), place(1), from[2], from[3], data.dtype(), [&](Scalar y, Scalar x) {
              Position where{at[0], at[1], y, x};
              return data.orElse(convertPosition(conv.canonicalData, conv.data, where), zero);
            });
      });
  auto weightAt = canonicalReader(call, weight, conv.canonicalWeight, conv.weight, false);
  call.result([&](const Position& place) {
    Position at = convertPosition(conv.result, conv.canonicalData, place);
    Scalar first = floorDivide(at[1], outputs) * kernel[1];
    return call.sumOver({kernel[1], kernel[2], kernel[3]}, [&](const Position& tap) {
      Scalar value = bent({at[0], first + tap[0], tap[1], tap[2], at[2], at[3]});
      return cast(value, call.outputDType()) * weightAt({at[1], tap[0], tap[1], tap[2]});
    });
  });
}

constexpr OperandRow operands[] = {
    {"data", "the pictures"},
    {"offset", "how far each tap is moved at each place, down and across", OperandKind::Tensor,
     true},
    {"weight", "the factors of the taps, per pair of channels", OperandKind::Tensor, true},
};

constexpr auto convRows = convAttributes(2);
constexpr AttributeRow attributes[] = {
    convRows[0],
    convRows[1],
    convRows[2],
    {"deformable_groups", AttributeKind::Int, "1",
     "how many groups of channels have offsets of their own"},
    convRows[3],
    convRows[4],
    convRows[5],
    convRows[6],
    convRows[7],
    convRows[8],
    convRows[9],
};

constexpr NoGradient scatters = {
    "adds to elements that positions name, which no operator does for real positions"};

constexpr Example examples[] = {
    {"nn.deformable_conv2d([[[[1f, 3f]]]], [[[[0f, 0f]], [[0.5f, 0f]]]], [[[[2f]]]])",
     "[[[[4f, 6f]]]]"},
};

constexpr OperatorRow rows[] = {
    {
        .name = "nn.deformable_conv2d",
        .doc = "A convolution whose taps are moved by offsets, at every place by others.",
        .details = "The data is read by bilinear interpolation; positions below 0 or not below "
                   "the extent read zero. The offsets are `[N, deformable_groups * taps * 2, "
                   "height, width]` in the layout of the data, down before across.",
        .operands = operands,
        .attributes = attributes,
        .attributesKey = "relay.attrs.DeformableConv2DAttrs",
        .relation = relate,
        .compute = compute,
        .gradient = scatters,
        .examples = examples,
    },
};

} // namespace

OperatorFamily deformableConvFamily() {
  return rows;
}

} // namespace stdlib

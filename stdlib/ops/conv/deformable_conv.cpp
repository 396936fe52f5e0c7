// Convolution at displaced taps.
//
// A tap is read between four elements. Those outside the picture count as zero, and so does a tap
// that lies outside itself, though by less than one element.
#include "stdlib/ops/common.h"
#include "stdlib/ops/conv/conv_call.h"
#include "stdlib/ops/families.h"
#include "stdlib/ops/pictures/picture_samples.h"

#include <fmt/format.h>
#include <numeric>

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
  if (call.differ(perGroup, (*shape)[1]) ||
      call.differ(inputs, types.multiply((*shape)[1], types.constant(conv.groups))))
    return call.failedOn(
        {{2, *conv.weight.find('I')}, {0, *conv.data.find('C')}},
        fmt::format("the data has {} channels in a group, but the weight in layout "
                    "`{}` takes {}",
                    dimText(perGroup), layoutText(conv.weight), dimText((*shape)[1])));
  if (auto members = channelsPerGroup(types, (*shape)[0], conv.groups); !members)
    return call.failedAt(2, members.failure());
  if (conv.channels && !call.meetDims(types.constant(*conv.channels), (*shape)[0]))
    return call.failedAt(2, fmt::format("`channels` is {}, but the weight gives {}", *conv.channels,
                                        dimText((*shape)[0])));
  auto kernel = meetKernel(call, conv, *shape);
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
  requireTiles(result, types, conv.canonicalData, conv.data, offset);
  requireTiles(result, types, conv.canonicalData, conv.result, shape);
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
    auto positions = windowExtent(call, (*data)[2 + i], weight[2 + i], conv->window, i, false);
    if (!positions)
      return call.failedAt(0, positions.failure());
    shape.push_back(*positions);
  }
  RelationResult result = typesOf(call, *conv, weight, shape);
  for (size_t i = 0; i < 2; ++i)
    requireWindow(result, call, (*data)[2 + i], weight[2 + i], conv->window, i);
  requireMultiple(result, inputs, bends);
  for (const Dim* channels : {inputs, weight[0]})
    requireMultiple(result, channels, conv->groups);
  return result;
}

template <typename Value>
Value isInPicture(const Value& at, const Value& extent) {
  return at >= 0.0 && at < extent;
}

/// The two elements around a position; the second lies outside behind the last one.
template <typename Value>
Taps<Value> tapsAround(const Value& at) {
  Value left = floorOf(at), part = at - left;
  return {{left, left + 1.0}, {1.0 - part, part}};
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
        Scalar isInside = call.number(runtime::Bool, 1);
        std::vector<Taps<Scalar>> lines;
        for (size_t i = 0; i < 2; ++i) {
          Scalar along = at[4 + i] * double(conv.window.strides[i]) +
                         at[2 + i] * double(conv.window.dilation[i]) -
                         double(conv.window.before[i]);
          Position where{at[0], first + double(i), at[4], at[5]};
          Scalar moved = offset(convertPosition(conv.canonicalData, conv.data, where));
          Scalar place = cast(along, Real) + cast(moved, Real), extent = cast(from[2 + i], Real);
          lines.push_back(tapsAround(place));
          isInside = isInside && isInPicture(place, extent);
        }
        auto read = [&](size_t i, size_t j) {
          auto element = [&](size_t line, size_t tap) {
            return cast(lines[line].places[tap], runtime::Int64);
          };
          Position where{at[0], at[1], element(0, i), element(1, j)};
          return data.orElse(convertPosition(conv.canonicalData, conv.data, where), zero) *
                 cast(lines[1].weights[j], data.dtype());
        };
        auto row = [&](size_t i) {
          return (read(i, 0) + read(i, 1)) * cast(lines[0].weights[i], data.dtype());
        };
        return select(isInside, row(0) + row(1), zero);
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

/// The terms of a rule, in canonical layouts and one type, and what they share. Positions of taps
/// are `[batch, bend, tap down, tap across, place down, place across]`.
struct Deformable {
  GradientCall& d;
  ConvAttributes conv;
  int64_t bends;
  Term data, offset, weight, cotangent;

  /// A vector along one of the dimensions of a tensor of `rank` dimensions.
  static Term along(const Term& a, size_t dim, size_t axis, size_t rank) {
    return alongAxis(positionsAlong(a, dim), axis, rank);
  }
  Term bendNumbers(size_t rank) const {
    std::vector<int64_t> numbers(size_t(bends), 0);
    std::iota(numbers.begin(), numbers.end(), 0);
    return alongAxis(integers(d, numbers), 1, rank);
  }

  /// The offsets as `[batch, bend, tap down, tap across, way, place down, place across]`.
  Term offsets() const {
    Term like = along(data, 0, 0, 7) + bendNumbers(7) + along(weight, 2, 2, 7) +
                along(weight, 3, 3, 7) + alongAxis(integers(d, {0, 1}), 4, 7) +
                along(cotangent, 2, 5, 7) + along(cotangent, 3, 6, 7);
    return reshapedLike(offset, like);
  }

  /// The data with a picture for each bend, channels last, and back.
  Term split() const {
    Term pictures = transposed(reshaped(data, {0, -4, bends, -1, 0, 0}), {0, 1, 3, 4, 2});
    return reshaped(pictures, {-3, -2});
  }
  Term joined(const Term& pictures) const {
    return reshapedLike(transposed(reshaped(pictures, {-4, -1, bends, -2}), {0, 1, 4, 2, 3}), data);
  }

  PictureSamples samples() const {
    Term pictures = split(), all = offsets();
    std::vector<Taps<Term>> lines;
    std::optional<Term> isInside;
    for (size_t i = 0; i < 2; ++i) {
      Term place = along(cotangent, 2 + i, 4 + i, 6) * double(conv.window.strides[i]) +
                   along(weight, 2 + i, 2 + i, 6) * double(conv.window.dilation[i]) -
                   double(conv.window.before[i]);
      Term at = castTo(place, Real) + castTo(partAt(all, int64_t(i), 4), Real);
      Term extent = castTo(extentOf(data, 2 + i), Real), isIn = isInPicture(at, extent);
      lines.push_back(withSlopes(tapsAround(at)));
      isInside = isInside ? *isInside && isIn : isIn;
    }
    Term picture = along(data, 0, 0, 6) * double(bends) + bendNumbers(6);
    return samplesOf(pictures, picture, lines, isInside);
  }

  /// Samples, channels of a bend last, as `[batch, group, channel, taps..., places...]`, and back.
  Term grouped(const Term& samples) const {
    Term channels = reshaped(transposed(samples, {0, 1, 6, 2, 3, 4, 5}), {0, -3, -2});
    return reshaped(channels, {0, -4, conv.groups, -1, -2});
  }
  Term ungrouped(const Term& samples) const {
    Term bent = reshaped(reshaped(samples, {0, -3, -2}), {0, -4, bends, -1, -2});
    return transposed(bent, {0, 1, 3, 4, 5, 6, 2});
  }
};

/// The convolution is linear in the samples at the taps and in the weight.
void gradient(GradientCall& d) {
  ConvAttributes conv = *readAttributes(d.attributes());
  DType wide = wideFloat(d.operand(0).dtype(), d.cotangent().dtype());
  auto canonical = [&](const Term& a, const Layout& from, const Layout& to) {
    return inLayout(castTo(a, wide), from, to);
  };
  Deformable call{d,
                  conv,
                  d.attributes().integer("deformable_groups"),
                  canonical(d.operand(0), conv.data, conv.canonicalData),
                  inLayout(d.operand(1), conv.data, conv.canonicalData),
                  canonical(d.operand(2), conv.weight, conv.canonicalWeight),
                  canonical(d.cotangent(), conv.result, conv.canonicalData)};
  auto product = [&](const Term& a, const Term& b, std::string_view equation) {
    return d.call("einsum", {d.tuple({a, b})}, {{"equation", equation}});
  };
  Term cotangent = reshaped(call.cotangent, {0, -4, conv.groups, -1, -2});
  Term weight = reshaped(call.weight, {-4, conv.groups, -1, -2});
  PictureSamples samples = call.samples();
  Term bySample = call.ungrouped(product(cotangent, weight, "ngoyx,gocij->ngcijyx"));
  Term byData = call.joined(toPictures(samples, bySample));
  give(d, 0, castTo(inLayout(byData, conv.canonicalData, conv.data), d.operand(0).dtype()));
  Term byOffset = reshapedLike(stacked(toPositions(samples, bySample), 4), call.offset);
  give(d, 1, castTo(inLayout(byOffset, conv.canonicalData, conv.data), d.operand(1).dtype()));
  Term byWeight = product(cotangent, call.grouped(valuesOf(samples)), "ngoyx,ngcijyx->gocij");
  give(d, 2,
       castTo(inLayout(reshapedLike(byWeight, call.weight), conv.canonicalWeight, conv.weight),
              d.operand(2).dtype()));
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

constexpr Example examples[] = {
    {"nn.deformable_conv2d([[[[1f, 3f]]]], [[[[0f, 0f]], [[0.5f, 0f]]]], [[[[2f]]]])",
     "[[[[4f, 6f]]]]"},
    {"nn.deformable_conv2d([[[[1f, 2f]], [[3f, 4f]]]], [[[[0.5f]], [[0f]], [[0f]], [[0f]], [[0f]], "
     "[[0f]], [[0f]], [[0.5f]]]], [[[[1f, 1f]]], [[[1f, 1f]]]], groups=2, deformable_groups=2)",
     "[[[[2.5f]], [[5f]]]]"},
    {"nn.deformable_conv2d([[[[1f], [2f]], [[3f], [4f]]]], [[[[0f, 0.5f]]]], [[[[1f]]]], "
     "strides=[2, 2], data_layout=\"NHWC\", kernel_layout=\"HWIO\")",
     "[[[[1.5f]]]]"},
};

constexpr GradientExample gradientExamples[] = {
    {"nn.deformable_conv2d([[[[1f, 3f]]]], [[[[0f, 0f]], [[0.5f, 0f]]]], [[[[2f]]]])",
     "[[[[1f, 1f]]]]", "([[[[1f, 3f]]]], [[[[-4f, -6f]], [[4f, -6f]]]], [[[[5f]]]])"},
};

constexpr OperatorRow rows[] = {
    {
        .name = "nn.deformable_conv2d",
        .doc = "A convolution whose taps are moved by offsets, at every place by others.",
        .details =
            "The data is read by bilinear interpolation between four elements, of which those "
            "outside the picture count as zero; positions below 0 or not below the extent "
            "read zero. The offsets are `[N, deformable_groups * taps * 2, "
            "height, width]` in the layout of the data, down before across.",
        .operands = operands,
        .attributes = attributes,
        .attributesKey = "relay.attrs.DeformableConv2DAttrs",
        .relation = relate,
        .compute = compute,
        .gradient = GradientRule{gradient, gradientExamples},
        .examples = examples,
    },
};

} // namespace

OperatorFamily deformableConvFamily() {
  return rows;
}

} // namespace stdlib

// Windows that slide over pictures for other ends than convolution: grey-scale dilation, the
// correlation of two pictures, convolution at displaced taps.
//
// Padding is zeros in all three, also under the maximum of a dilation. In a deformable convolution
// a tap outside the picture by less than one element reads the edge at its high end, but zero at
// its low end.
#include "stdlib/ops/conv_call.h"
#include "stdlib/ops/families.h"

#include <fmt/format.h>

namespace stdlib {

namespace {

using namespace lang;
using runtime::DType;

constexpr DType Real = runtime::Float64;

/// The attributes of image.dilation2d.
struct Dilation {
  Window window;
  Layout data, weight;
};

/// The layouts that the rule of a dilation is written in.
Layout dilationData() {
  return *parseLayout("NCHW");
}
Layout dilationWeight() {
  return *parseLayout("IHW");
}

std::optional<Dilation> readDilation(const Attributes& attributes, std::string& problem) {
  auto window = readWindow(attributes, 2, problem, "dilations");
  if (!window)
    return std::nullopt;
  Layout nchw = dilationData(), ihw = dilationWeight();
  auto data = readLayout(attributes, "data_layout", nchw, nchw, problem);
  if (!data)
    return std::nullopt;
  auto weight = readLayout(attributes, "kernel_layout", ihw, ihw, problem);
  if (!weight)
    return std::nullopt;
  return Dilation{*window, *data, *weight};
}

RelationResult dilationRelation(const RelationCall& call) {
  std::string problem;
  auto dilation = readDilation(call.attributes, problem);
  if (!dilation)
    return call.failed(problem);
  Layout nchw = dilationData(), ihw = dilationWeight();
  auto shape = convertShape(call.types, dilation->data, nchw, call.shape(0), &problem);
  if (!shape)
    return call.failedAt(0, problem);
  auto weight = convertShape(call.types, dilation->weight, ihw, call.shape(1), &problem);
  if (!weight)
    return call.failedAt(1, problem);
  if (auto other = requireLikeNumbers(call))
    return *other;
  if (matchDims((*shape)[1], (*weight)[0]) == DimMatch::Different)
    return call.failedAt(1, fmt::format("the data has {} channels, but the weight has {}",
                                        dimText((*shape)[1]), dimText((*weight)[0])));
  for (size_t i = 0; i < 2; ++i) {
    const Dim* taps = (*weight)[1 + i];
    if (taps->isConstant(0))
      return call.failedAt(
          1, fmt::format("the weight, of shape {}, has no taps", shapeText(call.shape(1))));
    (*shape)[2 + i] =
        windowPositions(call.types, (*shape)[2 + i], taps, dilation->window, i, false, problem);
    if (!(*shape)[2 + i])
      return call.failedAt(0, problem);
  }
  return solvedInLayout(call, nchw, dilation->data, *shape,
                        call.attributes.dtype("out_dtype").value_or(call.dtype(0)));
}

void computeDilation(ComputeCall& call) {
  std::string problem;
  Dilation dilation = *readDilation(call.attributes(), problem);
  const Window& window = dilation.window;
  Layout nchw = dilationData(), ihw = dilationWeight();
  TensorHandle weight = call.input(1);
  auto dataAt = canonicalReader(call, call.input(0), nchw, dilation.data, window.isPadded());
  auto weightAt = canonicalReader(call, weight, ihw, dilation.weight, false);
  Extents taps = convertExtents(dilation.weight, ihw, weight.shape());
  call.result([&](const Position& place) {
    Position at = convertPosition(dilation.data, nchw, place);
    return call.maximumOver({taps[1], taps[2]}, [&](const Position& tap) {
      Position from{at[0], at[1]};
      for (size_t i = 0; i < 2; ++i)
        from.push_back(at[2 + i] * double(window.strides[i]) + tap[i] * double(window.dilation[i]) -
                       double(window.before[i]));
      return dataAt(from) + weightAt({at[1], tap[0], tap[1]});
    });
  });
}

/// The attributes of nn.correlation; `reach` is the distance of the window's centre from the border
/// and `ways` the number of displacements along one dimension.
struct Correlation {
  Window window;
  int64_t kernel, displacement, stride, step, reach, ways;
};

std::optional<Correlation> readCorrelation(const Attributes& attributes, std::string& problem) {
  Correlation correlation{};
  auto read = [&](std::string_view name, int64_t least) -> int64_t {
    int64_t value = attributes.integer(name);
    constexpr int64_t most = 1 << 20;
    if (value < least || value > most)
      problem = fmt::format("`{}` must be from {} to {}, but it is {}", name, least, most, value);
    return value;
  };
  correlation.kernel = read("kernel_size", 1);
  correlation.displacement = read("max_displacement", 0);
  correlation.stride = read("stride1", 1);
  correlation.step = read("stride2", 1);
  if (problem.empty() && correlation.kernel % 2 == 0)
    problem = fmt::format("`kernel_size` must be odd, but it is {}", correlation.kernel);
  if (problem.empty() && attributes.text("layout") != "NCHW")
    problem = fmt::format("`layout` must be `NCHW`, but it is `{}`", attributes.text("layout"));
  if (!problem.empty() || !readPadding(attributes, 2, correlation.window, problem))
    return std::nullopt;
  correlation.reach = correlation.displacement + (correlation.kernel - 1) / 2;
  correlation.ways = 2 * (correlation.displacement / correlation.step) + 1;
  return correlation;
}

RelationResult correlationRelation(const RelationCall& call) {
  std::string problem;
  auto correlation = readCorrelation(call.attributes, problem);
  if (!correlation)
    return call.failed(problem);
  if (call.rank(0) != 4)
    return call.failedAt(0, fmt::format("the data must have 4 dimensions, but its shape is {}",
                                        shapeText(call.shape(0))));
  bool agrees = call.rank(1) == 4 && call.dtype(0) == call.dtype(1);
  for (size_t i = 0; agrees && i < 4; ++i)
    agrees = matchDims(call.shape(0)[i], call.shape(1)[i]) != DimMatch::Different;
  if (!agrees)
    return call.failedAt(1, fmt::format("both pictures must have one type, but they are `{}` and "
                                        "`{}`",
                                        typeText(call.operands[0]), typeText(call.operands[1])));
  TypeContext& types = call.types;
  std::vector<const Dim*> shape{call.shape(0)[0],
                                types.constant(correlation->ways * correlation->ways)};
  for (size_t i = 0; i < 2; ++i) {
    int64_t added = correlation->window.before[i] + correlation->window.after[i];
    const Dim* extent = call.shape(0)[2 + i];
    const Dim* room = types.add(extent, types.constant(added - 2 * correlation->reach));
    if (room->isConstant() && room->value < 1)
      return call.failedAt(0, fmt::format("an extent of {}, which with padding is {}, has no place "
                                          "at least {} away from both borders",
                                          dimText(extent), room->value + 2 * correlation->reach,
                                          correlation->reach));
    const Dim* last = types.add(room, types.constant(correlation->stride - 1));
    shape.push_back(types.floorDivide(last, correlation->stride));
  }
  return call.solved(shape, call.dtype(0));
}

void computeCorrelation(ComputeCall& call) {
  std::string problem;
  Correlation correlation = *readCorrelation(call.attributes(), problem);
  TensorHandle left = call.input(0), right = call.input(1);
  DType dtype = left.dtype();
  Scalar zero = call.number(dtype, 0), kernel = call.integer(correlation.kernel);
  bool multiplies = call.attributes().boolean("is_multiply");
  int64_t furthest = correlation.displacement / correlation.step;
  call.result([&](const Position& at) {
    Scalar ways[] = {floorDivide(at[1], correlation.ways), floorMod(at[1], correlation.ways)};
    Scalar sum = call.sumOver({left.extent(1), kernel, kernel}, [&](const Position& tap) {
      Position from{at[0], tap[0]}, to{at[0], tap[0]};
      for (size_t i = 0; i < 2; ++i) {
        Scalar place = at[2 + i] * double(correlation.stride) + tap[1 + i] +
                       double(correlation.displacement - correlation.window.before[i]);
        from.push_back(place);
        to.push_back(place + (ways[i] - double(furthest)) * double(correlation.step));
      }
      Scalar a = left.orElse(from, zero), b = right.orElse(to, zero);
      return multiplies ? a * b : apply(ScalarFunction::Abs, {a - b});
    });
    Scalar count = kernel * kernel * left.extent(1);
    if (dtype.isFloat())
      return sum / cast(count, dtype);
    return cast(cast(sum, runtime::Int64) / count, dtype);
  });
}

/// The attributes of nn.deformable_conv2d.
std::optional<ConvAttributes> readDeformable(const Attributes& attributes, std::string& problem) {
  auto conv = readConv(attributes, 2, ConvKind::Forward, problem);
  if (!conv)
    return std::nullopt;
  if (conv->hasGroupAxis())
    problem = "`kernel_layout` must not have an axis `G`";
  else if (int64_t groups = attributes.integer("deformable_groups");
           groups < 1 || groups > INT32_MAX)
    problem =
        fmt::format("`deformable_groups` must be from 1 to {}, but it is {}", INT32_MAX, groups);
  return problem.empty() ? conv : std::nullopt;
}

/// The canonical shape of the weight: from its type or, when that is unknown, the attributes.
std::variant<std::vector<const Dim*>, RelationResult>
deformableWeight(const RelationCall& call, const ConvAttributes& conv, const Dim* perGroup) {
  TypeContext& types = call.types;
  if (!call.isKnown(2)) {
    if (!conv.channels || conv.kernelSize.empty())
      return call.waitFor(2);
    return std::vector{types.constant(*conv.channels), perGroup, types.constant(conv.kernelSize[0]),
                       types.constant(conv.kernelSize[1])};
  }
  std::string problem;
  auto shape = convertShape(types, conv.weight, conv.canonicalWeight, call.shape(2), &problem);
  if (!shape)
    return call.failedAt(2, problem);
  if (matchDims(perGroup, (*shape)[1]) == DimMatch::Different)
    return call.failedAt(2, fmt::format("the data has {} channels in a group, but the weight, of "
                                        "shape {} in layout `{}`, takes {}",
                                        dimText(perGroup), shapeText(call.shape(2)),
                                        layoutText(conv.weight), dimText((*shape)[1])));
  if (!channelsPerGroup(types, (*shape)[0], conv.groups, problem))
    return call.failedAt(2, problem);
  if (conv.channels && !meetDims(types.constant(*conv.channels), (*shape)[0]))
    return call.failedAt(2, fmt::format("`channels` is {}, but the weight gives {}", *conv.channels,
                                        dimText((*shape)[0])));
  auto kernel = meetKernel(types, conv, *shape, problem);
  if (!kernel)
    return call.failedAt(2, problem);
  return std::vector{(*shape)[0], perGroup, (*kernel)[0], (*kernel)[1]};
}

RelationResult deformableRelation(const RelationCall& call) {
  std::string problem;
  auto conv = readDeformable(call.attributes, problem);
  if (!conv)
    return call.failed(problem);
  TypeContext& types = call.types;
  auto data = convertShape(types, conv->data, conv->canonicalData, call.shape(0), &problem);
  if (!data)
    return call.failedAt(0, problem);
  if (!call.dtype(0).isFloat() || (call.isKnown(2) && !call.dtype(2).isFloat()))
    return call.failedAt(0, "the data and the weight must be floating point");
  int64_t bends = call.attributes.integer("deformable_groups");
  const Dim* inputs = (*data)[1];
  const Dim* perGroup = channelsPerGroup(types, inputs, conv->groups, problem);
  if (!perGroup)
    return call.failedAt(0, problem);
  if (inputs->isConstant() && inputs->value % bends != 0)
    return call.failedAt(0, fmt::format("`deformable_groups` is {}, which does not divide the {} "
                                        "channels",
                                        bends, inputs->value));
  auto answer = deformableWeight(call, *conv, perGroup);
  if (auto* other = std::get_if<RelationResult>(&answer))
    return *other;
  const auto& weight = std::get<0>(answer);
  std::vector<const Dim*> shape{(*data)[0], weight[0]};
  for (size_t i = 0; i < 2; ++i) {
    shape.push_back(
        windowPositions(types, (*data)[2 + i], weight[2 + i], conv->window, i, false, problem));
    if (!shape.back())
      return call.failedAt(0, problem);
  }
  const Dim* taps = types.multiply(weight[2], weight[3]);
  std::vector<const Dim*> offset = shape;
  offset[1] = types.multiply(taps, types.constant(2 * bends));
  auto offsetShape = tiledShape(types, conv->canonicalData, conv->data, offset, problem);
  auto weightShape = tiledShape(types, conv->canonicalWeight, conv->weight, weight, problem);
  auto output = tiledShape(types, conv->canonicalData, conv->result, shape, problem);
  if (!offsetShape || !weightShape || !output)
    return call.failed(problem);
  RelationResult result = call.solved(*output, conv->outDType.value_or(call.dtype(0)));
  DType dtype = call.isKnown(1) ? call.dtype(1) : call.dtype(0);
  result.operands.emplace_back(1, types.tensor(*offsetShape, dtype));
  if (!call.isKnown(2))
    result.operands.emplace_back(2, types.tensor(*weightShape, call.dtype(0)));
  return result;
}

/// The bilinear value of `picture` at a position; `at` gives an element by its height and width.
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

void computeDeformable(ComputeCall& call) {
  std::string problem;
  ConvAttributes conv = *readDeformable(call.attributes(), problem);
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

constexpr OperandRow dilationOperands[] = {
    {"data", "the pictures"},
    {"weight", "what is added at each tap, per channel"},
};
constexpr OperandRow correlationOperands[] = {
    {"data1", "the pictures whose windows stand still"},
    {"data2", "the pictures whose windows are displaced"},
};
constexpr OperandRow deformableOperands[] = {
    {"data", "the pictures"},
    {"offset", "how far each tap is moved at each place, down and across", OperandKind::Tensor,
     true},
    {"weight", "the factors of the taps, per pair of channels", OperandKind::Tensor, true},
};

constexpr auto convRows = convAttributes(2);
constexpr AttributeRow strides = convRows[0], padding = convRows[1], dilation = convRows[2],
                       dataLayout = convRows[6], outDType = convRows[9];

constexpr AttributeRow dilationAttributes[] = {
    strides,
    padding,
    {"dilations", AttributeKind::IntList, "[1, 1]", "distances of the taps of the window"},
    dataLayout,
    {"kernel_layout", AttributeKind::String, "\"IHW\"", "layout of the weight"},
    {"out_dtype", AttributeKind::DType, "\"\"",
     "element type of the result; that of the data if empty"},
};
constexpr AttributeRow correlationAttributes[] = {
    {"kernel_size", AttributeKind::Int, "1", "the height and width of the windows, odd"},
    {"max_displacement", AttributeKind::Int, "1", "how far windows are displaced at the utmost"},
    {"stride1", AttributeKind::Int, "1", "steps of the windows"},
    {"stride2", AttributeKind::Int, "1", "steps of the displacements"},
    padding,
    {"is_multiply", AttributeKind::Bool, "True",
     "whether elements are multiplied, or the distances of their values taken"},
    {"layout", AttributeKind::String, "\"NCHW\"", "the layout of all pictures, `NCHW`"},
};
constexpr AttributeRow deformableAttributes[] = {
    strides,
    padding,
    dilation,
    {"deformable_groups", AttributeKind::Int, "1",
     "how many groups of channels have offsets of their own"},
    convRows[3],
    convRows[4],
    convRows[5],
    dataLayout,
    convRows[7],
    convRows[8],
    outDType,
};

constexpr NoGradient comparesValues = {
    "follows the places of the greatest sums, which no operator gives"};
constexpr NoGradient gathersWindows = {
    "adds up displaced windows of one operand, which no operator does"};
constexpr NoGradient scatters = {
    "adds to elements that positions name, which no operator does for real positions"};

constexpr Example dilationExamples[] = {
    {"image.dilation2d([[[[1f, 5f, 2f]]]], [[[0f, 1f]]])", "[[[[6f, 5f]]]]"},
};
constexpr Example correlationExamples[] = {
    {"nn.correlation([[[[2f]]]], [[[[5f]]]], max_displacement=0)", "[[[[10f]]]]"},
    {"nn.correlation([[[[2f]], [[1f]]]], [[[[5f]], [[3f]]]], max_displacement=0, "
     "is_multiply=False)",
     "[[[[2.5f]]]]"},
};
constexpr Example deformableExamples[] = {
    {"nn.deformable_conv2d([[[[1f, 3f]]]], [[[[0f, 0f]], [[0.5f, 0f]]]], [[[[2f]]]])",
     "[[[[4f, 6f]]]]"},
};

constexpr OperatorRow rows[] = {
    {
        .name = "image.dilation2d",
        .doc = "The greatest sum of an element and its tap's weight in each window.",
        .details = "Padding counts as zeros.",
        .operands = dilationOperands,
        .attributes = dilationAttributes,
        .attributesKey = "relay.attrs.Dilation2DAttrs",
        .relation = dilationRelation,
        .compute = computeDilation,
        .gradient = comparesValues,
        .examples = dilationExamples,
    },
    {
        .name = "nn.correlation",
        .doc = "How alike the windows of one picture and displaced windows of another are.",
        .details = "A channel of the result is one displacement, those down counting slower; an "
                   "element is the mean over channels and taps.",
        .operands = correlationOperands,
        .attributes = correlationAttributes,
        .attributesKey = "relay.attrs.CorrelationAttrs",
        .relation = correlationRelation,
        .compute = computeCorrelation,
        .gradient = gathersWindows,
        .examples = correlationExamples,
    },
    {
        .name = "nn.deformable_conv2d",
        .doc = "A convolution whose taps are moved by offsets, at every place by others.",
        .details = "The data is read by bilinear interpolation; positions below 0 or not below "
                   "the extent read zero. The offsets are `[N, deformable_groups * taps * 2, "
                   "height, width]` in the layout of the data, down before across.",
        .operands = deformableOperands,
        .attributes = deformableAttributes,
        .attributesKey = "relay.attrs.DeformableConv2DAttrs",
        .relation = deformableRelation,
        .compute = computeDeformable,
        .gradient = scatters,
        .examples = deformableExamples,
    },
};

} // namespace

OperatorFamily slidingFamily() {
  return rows;
}

} // namespace stdlib

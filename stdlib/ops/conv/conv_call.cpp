// Reading the attributes of convolutions, and splitting results into groups.
#include "stdlib/ops/conv/conv_call.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace stdlib {

using lang::Attributes;
using lang::Dim;
using lang::Dims;
using lang::Extents;
using lang::Position;
using lang::RelationCall;
using lang::RelationResult;
using lang::Scalar;
using lang::TensorHandle;
using runtime::Checked;
using runtime::Problem;

namespace {

Layout layoutOf(std::string_view leading, size_t dims) {
  Layout layout;
  for (char axis : leading)
    layout.dims.push_back({axis});
  for (char axis : spatialAxes(dims))
    layout.dims.push_back({axis});
  return layout;
}

/// Fills the numbers of channels and the kernel size, or says what is wrong with them.
std::optional<Problem> readSizes(const Attributes& attributes, ConvKind kind,
                                 ConvAttributes& conv) {
  conv.groups = attributes.integer("groups");
  if (conv.groups < 1 || conv.groups > INT32_MAX)
    return Problem{
        fmt::format("`groups` must be from 1 to {}, but it is {}", INT32_MAX, conv.groups)};
  if (!attributes.isNull("channels")) {
    conv.channels = attributes.integer("channels");
    if (*conv.channels < 1)
      return Problem{fmt::format("`channels` must be positive, but it is {}", *conv.channels)};
    if (*conv.channels % conv.groups != 0)
      return Problem{fmt::format("`channels` is {}, which `groups`, {}, does not divide",
                                 *conv.channels, conv.groups)};
  }
  if (!attributes.isNull("kernel_size")) {
    auto size = readNumbers(attributes, "kernel_size", conv.dims, 1);
    if (!size)
      return size.failure();
    conv.kernelSize = *size;
  } else if (kind == ConvKind::BackwardWeight)
    return Problem{"`kernel_size` must be given"};
  return std::nullopt;
}

/// The three layouts of a convolution or a transposed one.
std::optional<Problem> readLayouts(const Attributes& attributes, ConvKind kind,
                                   ConvAttributes& conv) {
  bool hasGroupAxis = kind == ConvKind::Forward &&
                      attributes.text("kernel_layout").find('G') != std::string_view::npos;
  std::string_view leading = kind == ConvKind::Transposed ? "IO" : hasGroupAxis ? "GOI" : "OI";
  conv.canonicalWeight = layoutOf(leading, conv.dims);
  auto data = readLayout(attributes, "data_layout", conv.canonicalData, conv.canonicalData);
  if (!data)
    return data.failure();
  auto weight = readLayout(attributes, "kernel_layout", conv.canonicalWeight, conv.canonicalWeight);
  if (!weight)
    return weight.failure();
  auto result = readLayout(attributes, "out_layout", conv.canonicalData, *data);
  if (!result)
    return result.failure();
  conv.data = *data;
  conv.weight = *weight;
  conv.result = *result;
  return std::nullopt;
}

/// The layouts of the gradient by the weight. Its attributes are those of a convolution with other
/// meanings: `data_layout` is of the gradient, `kernel_layout` of the data, `out_layout` of the
/// result; but a `kernel_layout` with the axes of a weight, such as the default, is of the result.
std::optional<Problem> readBackwardLayouts(const Attributes& attributes, ConvAttributes& conv) {
  conv.canonicalWeight = layoutOf("OI", conv.dims);
  auto gradient = readLayout(attributes, "data_layout", conv.canonicalData, conv.canonicalData);
  if (!gradient)
    return gradient.failure();
  conv.result = conv.data = *gradient;
  Layout fallback = conv.canonicalWeight;
  if (auto given = parseLayout(attributes.text("kernel_layout"));
      given && areConvertible(*given, conv.canonicalWeight)) {
    fallback = *given;
  } else {
    auto data = readLayout(attributes, "kernel_layout", conv.canonicalData, *gradient);
    if (!data)
      return data.failure();
    conv.data = *data;
  }
  auto weight = readLayout(attributes, "out_layout", conv.canonicalWeight, fallback);
  if (!weight)
    return weight.failure();
  conv.weight = *weight;
  return std::nullopt;
}

} // namespace

Checked<ConvAttributes> readConv(const Attributes& attributes, size_t dims, ConvKind kind) {
  ConvAttributes conv;
  conv.dims = dims;
  conv.canonicalData = layoutOf("NC", dims);
  conv.outDType = attributes.dtype("out_dtype");
  auto window = readWindow(attributes, dims);
  if (!window)
    return window.failure();
  if (auto problem = readSizes(attributes, kind, conv))
    return *problem;
  conv.window = *window;
  if (kind == ConvKind::Transposed) {
    auto added = readNumbers(attributes, "output_padding", dims, 0);
    if (!added)
      return added.failure();
    conv.outputPadding = *added;
  }
  auto problem = kind == ConvKind::BackwardWeight ? readBackwardLayouts(attributes, conv)
                                                  : readLayouts(attributes, kind, conv);
  return problem ? Checked<ConvAttributes>(*problem) : conv;
}

std::optional<RelationResult> requireLikeNumbers(const RelationCall& call) {
  if (call.dtype(0).isFloat() == call.dtype(1).isFloat())
    return std::nullopt;
  size_t integers = call.dtype(0).isFloat() ? 1 : 0;
  return call.failedAt(integers, words("both operands must be floats or both integers, but "
                                       "they are `{}` and `{}`",
                                       call.dtype(0), call.dtype(1)));
}

Checked<const Dim*> channelsPerGroup(lang::TypeContext& types, const Dim* channels,
                                     int64_t groups) {
  if (channels->isConstant() && channels->value % groups != 0)
    return Problem{
        fmt::format("{} channels cannot be split into {} groups", channels->value, groups)};
  return types.floorDivide(channels, groups);
}

Checked<std::vector<const Dim*>> meetKernel(const RelationCall& call, const ConvAttributes& conv,
                                            Dims weight) {
  Dims spatial = weight.last(conv.dims);
  std::vector<const Dim*> kernel(spatial.begin(), spatial.end());
  for (size_t i = 0; i < conv.kernelSize.size(); ++i) {
    kernel[i] = call.meetDims(call.types.constant(conv.kernelSize[i]), spatial[i]);
    if (!kernel[i])
      return Problem{fmt::format(
          "`kernel_size` is [{}], but `weight` in layout `{}` has the extents "
          "{}",
          fmt::join(conv.kernelSize, ", "), layoutText(conv.weight), shapeText(spatial))};
  }
  for (const Dim* extent : kernel)
    if (extent->isConstant(0))
      return Problem{
          fmt::format("the weight has no taps: its spatial extents are {}", shapeText(spatial))};
  return kernel;
}

ConvWeightAnswer weightFromAttributes(const RelationCall& call, const ConvAttributes& conv,
                                      std::vector<const Dim*> leading) {
  ConvWeight weight;
  weight.channels = call.types.constant(*conv.channels);
  for (int64_t extent : conv.kernelSize)
    weight.kernel.push_back(call.types.constant(extent));
  leading.insert(leading.end(), weight.kernel.begin(), weight.kernel.end());
  auto shape = tiledShape(call.types, conv.canonicalWeight, conv.weight, leading);
  if (!shape)
    return call.failed(shape.failure());
  weight.inferred = call.types.tensor(*shape, call.dtype(0));
  return weight;
}

ConvWeightAnswer weightFromType(const RelationCall& call, const ConvAttributes& conv,
                                Dims canonical, const Dim* channels) {
  ConvWeight weight;
  weight.channels = channels;
  if (conv.channels)
    weight.channels = call.meetDims(call.types.constant(*conv.channels), channels);
  if (!weight.channels)
    return call.failedOn({{1, *conv.weight.find('O')}},
                         fmt::format("`channels` is {}, but `weight` in layout `{}` makes {}",
                                     *conv.channels, layoutText(conv.weight), dimText(channels)));
  auto kernel = meetKernel(call, conv, canonical);
  if (!kernel)
    return call.failedAt(1, kernel.failure());
  weight.kernel = *kernel;
  return weight;
}

RelationResult channelProblem(const RelationCall& call, const ConvAttributes& conv,
                              const Dim* perGroup, const Dim* expected) {
  size_t data = *conv.data.find('C');
  std::string group = conv.groups == 1 ? "" : fmt::format(" in each of {} groups", conv.groups);
  return call.failedOn({{1, *conv.weight.find('I')}, {0, data}},
                       fmt::format("the input channels differ: `data` in layout `{}` has {}{}, but "
                                   "`weight` in layout `{}` takes {}",
                                   layoutText(conv.data), dimText(perGroup), group,
                                   layoutText(conv.weight), dimText(expected)));
}

RelationResult solvedInLayout(const RelationCall& call, const Layout& canonical,
                              const Layout& layout, Dims shape, runtime::DType dtype,
                              const lang::Type* inferredWeight) {
  auto tiled = tiledShape(call.types, canonical, layout, shape);
  if (!tiled)
    return call.failed(tiled.failure());
  auto isNumber = [](const Dim* dim) { return dim->isConstant(); };
  auto isStatic = [&](Dims dims) { return std::ranges::all_of(dims, isNumber); };
  bool isConcrete = call.isKnown(1) && isStatic(call.shape(0)) && isStatic(call.shape(1));
  if (isConcrete && !isStatic(*tiled))
    return call.failedForSize("the shape of the result is too large");
  RelationResult result = call.solved(*tiled, dtype);
  if (inferredWeight)
    result.operands.emplace_back(1, inferredWeight);
  requireTiles(result, call.types, canonical, layout, shape);
  return result;
}

void resultByGroups(lang::ComputeCall& call, const Layout& layout, const Layout& canonical,
                    char axis, int64_t groups, const GroupBody& body) {
  size_t channel = *canonical.find(axis), place = *layout.find(axis);
  Extents shape = call.outputShape();
  Scalar members = convertExtents(layout, canonical, shape)[channel];
  members = floorDivide(members, groups);
  auto canonicalOf = [&](const Position& at) { return convertPosition(layout, canonical, at); };
  if (groups == 1)
    return call.result([&](const Position& at) { return body(call.integer(0), canonicalOf(at)); });
  if (surelyEqual(members, call.integer(1)))
    return call.result([&](const Position& at) {
      Position where = canonicalOf(at);
      return body(where[channel], replaceAt(where, channel, call.integer(0)));
    });
  if (layout.tileOf(axis) != 1)
    return call.result([&](const Position& at) {
      Position where = canonicalOf(at);
      return body(floorDivide(where[channel], members),
                  replaceAt(where, channel, floorMod(where[channel], members)));
    });
  Extents split = insertAt(replaceAt(shape, place, members), place, call.integer(groups));
  TensorHandle grouped = call.define(
      split, [&](const Position& at) { return body(at[place], canonicalOf(eraseAt(at, place))); });
  call.result(call.reshape(grouped, shape));
}

std::function<Scalar(const Position&)> canonicalReader(lang::ComputeCall& call, TensorHandle tensor,
                                                       const Layout& canonical,
                                                       const Layout& layout, bool padded,
                                                       std::optional<runtime::DType> wanted) {
  Scalar zero = call.number(tensor.dtype(), 0);
  runtime::DType dtype = wanted.value_or(call.outputDType());
  return [=](const Position& at) {
    Position where = convertPosition(canonical, layout, at);
    return cast(padded ? tensor.orElse(where, zero) : tensor(where), dtype);
  };
}

} // namespace stdlib

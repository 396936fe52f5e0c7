// Gradient rules of the convolution family. Weights with a group axis, and depthwise ones whose
// form the other operators do not take, are brought to the plain form and back by reshapes.
#include "stdlib/ops/conv/conv_gradient.h"

#include "stdlib/ops/conv/conv_call.h"
#include "stdlib/ops/gradient.h"

#include <algorithm>
#include <fmt/format.h>

namespace stdlib {

using lang::Dim;
using lang::Setting;

namespace {

using Shape = std::vector<const Dim*>;

/// How a weight is laid out beyond its layout; see conv.cpp.
enum class WeightForm : uint8_t { Plain, Depthwise, GroupAxis };

/// A term and its layout.
struct Laid {
  Term term;
  Layout layout;
};

/// What the rules share: attributes, and the shapes of the trilinear form's three tensors. `data`
/// is the tensor that windows slide over, `result` the one with an element per window.
struct Convolution {
  const ConvAttributes& conv;
  Shape data, result, kernel;
  WeightForm form = WeightForm::Plain;
  /// What the positions of all windows leave at the end of the data; nothing when it is not known.
  std::vector<std::optional<int64_t>> uncovered = {};

  bool isDepthwise() const {
    return conv.groups > 1 && data[1]->isConstant(conv.groups) &&
           !result[1]->isConstant(conv.groups);
  }
};

/// Weights of convolution and transposed convolution name their channels the other way round.
Layout swappedChannels(Layout layout) {
  for (LayoutDim& dim : layout.dims)
    dim.axis = dim.axis == 'I' ? 'O' : dim.axis == 'O' ? 'I' : dim.axis;
  return layout;
}

Term inLayout(const Laid& value, const Layout& layout) {
  return inLayout(value.term, value.layout, layout);
}

Layout plainWeight(size_t dims) {
  Layout layout{{{'O'}, {'I'}}};
  for (char axis : spatialAxes(dims))
    layout.dims.push_back({axis});
  return layout;
}

/// The leading dimensions joined or split as by reshape, the spatial ones copied.
Term leadingReshaped(const Term& a, std::vector<int64_t> leading, size_t dims) {
  leading.insert(leading.end(), dims, 0);
  return reshaped(a, leading);
}

/// A weight in the form `[channels, channels per group, ...]`.
Laid asPlain(const Convolution& c, const Laid& weight) {
  size_t dims = c.conv.dims;
  if (c.form == WeightForm::Plain)
    return weight;
  Term canonical = inLayout(weight, c.conv.canonicalWeight);
  if (c.form == WeightForm::GroupAxis)
    return {leadingReshaped(canonical, {-3, 0}, dims), plainWeight(dims)};
  // One channel per group: the dimensions of channels and multipliers are joined.
  return {leadingReshaped(leadingReshaped(canonical, {-3}, dims), {-4, -1, 1}, dims),
          plainWeight(dims)};
}

/// The attributes that all three operators have, with the layouts of a call.
std::vector<Setting> settingsOf(const Convolution& c, const Layout& data, const Layout& kernel,
                                const Layout& result) {
  const Window& window = c.conv.window;
  return {{"strides", window.strides},       {"padding", window.padding()},
          {"dilation", window.dilation},     {"groups", c.conv.groups},
          {"data_layout", layoutText(data)}, {"kernel_layout", layoutText(kernel)},
          {"out_layout", layoutText(result)}};
}

std::string nameOf(const Convolution& c, std::string_view suffix) {
  return fmt::format("nn.conv{}d{}", c.conv.dims, suffix);
}

/// Makes the call of an operator whose result has the given layout.
using MakeCall = std::function<Term(const Layout&)>;

/// A call whose result has the layout of `like`, cut to its extents. Before the cut its extents may
/// not fit tiles, so it is made without them.
Term cutLike(const MakeCall& make, const Laid& like, const Layout& canonical) {
  Layout layout = like.layout.hasTiles() ? canonical : like.layout;
  std::vector<size_t> axes;
  for (size_t i = 0; i < layout.rank(); ++i)
    if (layout.dims[i].axis != 'N' && layout.dims[i].axis != 'C')
      axes.push_back(i);
  Term cut = slicedLike(make(layout), inLayout(like, layout), axes);
  return inLayout({cut, layout}, like.layout);
}

/// Convolution::uncovered from the shapes.
std::vector<std::optional<int64_t>> uncovered(const Convolution& c, lang::TypeContext& types) {
  std::vector<std::optional<int64_t>> rests(c.conv.dims);
  const Window& window = c.conv.window;
  auto times = [&](const Dim* dim, int64_t factor) {
    return types.multiply(dim, types.constant(factor));
  };
  for (size_t i = 0; i < c.conv.dims; ++i) {
    const Dim* one = types.constant(1);
    const Dim* reach = times(types.subtract(c.kernel[i], one), window.dilation[i]);
    const Dim* steps = times(types.subtract(c.result[2 + i], one), window.strides[i]);
    const Dim* padded =
        types.add(c.data[2 + i], types.constant(window.before[i] + window.after[i] - 1));
    const Dim* rest = types.subtract(types.subtract(padded, reach), steps);
    if (rest->isConstant())
      rests[i] = rest->value;
  }
  return rests;
}

std::vector<int64_t> paddingBefore(Window window) {
  window.after.assign(window.after.size(), 0);
  return window.padding();
}

/// Whether the windows surely end before the data begins, along some dimension.
bool endBeforeData(const Convolution& c, lang::TypeContext& types) {
  for (size_t i = 0; i < c.conv.dims; ++i) {
    const Window& window = c.conv.window;
    auto times = [&](const Dim* dim, int64_t factor) {
      return types.multiply(types.subtract(dim, types.constant(1)), types.constant(factor));
    };
    const Dim* end = types.add(times(c.result[2 + i], window.strides[i]),
                               times(c.kernel[i], window.dilation[i]));
    if (end->isConstant() && end->value < window.before[i])
      return true;
  }
  return false;
}

/// The gradient by `data` where it is not known how far the windows reach: what none reads lies at
/// the ends and gets nothing, and what they read of the padding is cut off.
Term byReachedData(const Convolution& c, const MakeCall& make, const Term& like) {
  if (endBeforeData(c, like.rule().types()))
    return zerosLike(like);
  std::vector<std::pair<int64_t, int64_t>> widths(2);
  std::vector<size_t> axes;
  for (size_t i = 0; i < c.conv.dims; ++i) {
    widths.emplace_back(0, c.conv.window.after[i]);
    if (c.conv.window.after[i] > 0)
      axes.push_back(2 + i);
  }
  if (axes.empty())
    return placedAtStart(make(c.conv.canonicalData), like);
  Term placed = placedAtStart(make(c.conv.canonicalData), padded(like, widths));
  return slicedLike(placed, like, axes);
}

/// The gradient by `data`: the transposed convolution of the gradient by the result.
Term byData(const Convolution& c, const Laid& gradient, const Laid& weight, const Laid& data) {
  std::vector<int64_t> added;
  bool isWhole = true;
  for (size_t i = 0; i < c.conv.dims; ++i) {
    auto rest = c.uncovered[i];
    bool isExact = rest && *rest >= 0;
    added.push_back(isExact ? *rest : 0);
    isWhole = isWhole && isExact;
  }
  Laid plain = asPlain(c, weight);
  auto make = [&](const Layout& layout) {
    std::vector<Setting> settings =
        settingsOf(c, gradient.layout, swappedChannels(plain.layout), layout);
    settings.emplace_back("output_padding", added);
    if (!isWhole)
      settings.emplace_back("padding", paddingBefore(c.conv.window));
    return gradient.term.rule().call(nameOf(c, "_transpose"), {gradient.term, plain.term},
                                     settings);
  };
  if (isWhole)
    return make(data.layout);
  Term like = inLayout(data, c.conv.canonicalData);
  return inLayout({byReachedData(c, make, like), c.conv.canonicalData}, data.layout);
}

/// The gradient by `result`: the convolution.
Term byResult(const Convolution& c, const Laid& data, const Laid& weight, const Laid& result) {
  bool mustCut = false;
  for (size_t i = 0; i < c.conv.dims; ++i) {
    auto rest = c.uncovered[i];
    mustCut |= !rest || *rest >= c.conv.window.strides[i];
  }
  auto make = [&](const Layout& layout) {
    return data.term.rule().call(nameOf(c, ""), {data.term, weight.term},
                                 settingsOf(c, data.layout, weight.layout, layout));
  };
  return mustCut ? cutLike(make, result, c.conv.canonicalData) : make(result.layout);
}

/// The gradient by the weight as `[channels, channels per group, ...]`, where extents of the kernel
/// are not known: the convolution of the data by the gradient, with batch and channels exchanged,
/// and steps and distances too. It may be larger than the kernel at the end.
Term byUnknownKernel(const Convolution& c, const Laid& gradient, const Laid& data) {
  size_t dims = c.conv.dims;
  std::vector<size_t> swapped = allAxes(2 + dims), groupsSwapped = allAxes(3 + dims);
  std::swap(swapped[0], swapped[1]);
  std::swap(groupsSwapped[0], groupsSwapped[2]);
  Term pictures = inLayout(data, c.conv.canonicalData);
  pictures = transposed(leadingReshaped(pictures, {0, -4, c.conv.groups, -1}, dims), groupsSwapped);
  pictures = leadingReshaped(pictures, {0, -3}, dims);
  Term filters = transposed(inLayout(gradient, c.conv.canonicalData), swapped);
  Window turned = c.conv.window;
  std::swap(turned.strides, turned.dilation);
  Term sums = pictures.rule().call(nameOf(c, ""), {pictures, filters},
                                   {{"strides", turned.strides},
                                    {"padding", turned.padding()},
                                    {"dilation", turned.dilation},
                                    {"groups", c.conv.groups}});
  return transposed(sums, swapped);
}

std::vector<int64_t> kernelSize(const Convolution& c) {
  std::vector<int64_t> size;
  for (const Dim* extent : c.kernel)
    if (extent->isConstant())
      size.push_back(extent->value);
  return size;
}

/// The gradient by the weight `weight`, whose letters are those of a convolution.
Term byWeight(const Convolution& c, const Laid& gradient, const Laid& data, const Laid& weight) {
  size_t dims = c.conv.dims;
  std::vector<int64_t> size = kernelSize(c);
  auto backward = [&](const Layout& layout) {
    std::vector<Setting> settings = settingsOf(c, gradient.layout, data.layout, layout);
    settings.emplace_back("kernel_size", size);
    return gradient.term.rule().call(nameOf(c, "_backward_weight"), {gradient.term, data.term},
                                     settings);
  };
  bool isPlain = c.form == WeightForm::Plain, isKnown = size.size() == dims;
  if (isKnown && (c.form == WeightForm::Depthwise || (isPlain && !c.isDepthwise())))
    return backward(weight.layout);
  Laid shape{inLayout(weight, c.conv.canonicalWeight), c.conv.canonicalWeight};
  Term plainShape = inLayout(asPlain(c, weight), plainWeight(dims));
  Term sums = isKnown ? backward(plainWeight(dims)) : byUnknownKernel(c, gradient, data);
  if (isKnown && isPlain)
    sums = reshapedLike(sums, inLayout(weight, plainWeight(dims)));
  else if (!isKnown)
    sums = slicedLike(sums, plainShape, allAxes(2 + dims));
  if (isPlain)
    return inLayout({sums, plainWeight(dims)}, weight.layout);
  return inLayout({reshapedLike(sums, shape.term), shape.layout}, weight.layout);
}

Shape canonicalShape(const Term& operand, const Layout& layout, const Layout& canonical) {
  return *convertShape(operand.rule().types(), layout, canonical, operand.shape());
}

Shape lastDims(const Shape& shape, size_t count) {
  return {shape.end() - ptrdiff_t(count), shape.end()};
}

} // namespace

bool isEmptyConvolution(GradientCall& d) {
  auto isZero = [](const Dim* dim) { return dim->isConstant(0); };
  return std::ranges::any_of(d.operand(0).shape(), isZero) ||
         std::ranges::any_of(d.operand(1).shape(), isZero) ||
         std::ranges::any_of(d.result().shape(), isZero);
}

ConvCotangents convCotangents(GradientCall& d, const ConvAttributes& conv, const Term& data,
                              const Term& weight) {
  Shape shape = canonicalShape(weight, conv.weight, conv.canonicalWeight);
  Convolution c{
      conv, canonicalShape(data, conv.data, conv.canonicalData), {}, lastDims(shape, conv.dims)};
  for (size_t i = 0; i < conv.kernelSize.size(); ++i)
    c.kernel[i] = d.types().constant(conv.kernelSize[i]);
  c.form = conv.hasGroupAxis() ? WeightForm::GroupAxis : WeightForm::Plain;
  const Dim* channels = shape[0];
  if (conv.hasGroupAxis())
    channels = d.types().multiply(shape[0], shape[1]);
  else if (conv.groups > 1 && c.data[1]->isConstant(conv.groups) &&
           shape[0]->isConstant(conv.groups) && !shape[1]->isConstant(1)) {
    c.form = WeightForm::Depthwise;
    channels = d.types().multiply(shape[0], shape[1]);
  }
  c.result = {c.data[0], channels};
  for (size_t i = 0; i < conv.dims; ++i)
    c.result.push_back(
        *windowPositions(d.types(), c.data[2 + i], c.kernel[i], conv.window, i, false));
  c.uncovered = uncovered(c, d.types());
  auto wide = d.cotangent().dtype();
  Laid gradient{d.cotangent(), conv.result}, pictures{castTo(data, wide), conv.data},
      kernel{castTo(weight, wide), conv.weight};
  return {castTo(byData(c, gradient, kernel, pictures), data.dtype()),
          castTo(byWeight(c, gradient, pictures, kernel), weight.dtype())};
}

void convGradientOver(GradientCall& d, size_t dims) {
  if (isEmptyConvolution(d))
    return giveZeros(d);
  ConvAttributes conv = *readConv(d.attributes(), dims, ConvKind::Forward);
  auto [byData, byWeight] = convCotangents(d, conv, d.operand(0), d.operand(1));
  give(d, 0, byData);
  give(d, 1, byWeight);
}

void convTransposeGradientOver(GradientCall& d, size_t dims) {
  if (isEmptyConvolution(d))
    return giveZeros(d);
  ConvAttributes conv = *readConv(d.attributes(), dims, ConvKind::Transposed);
  Shape weight = canonicalShape(d.operand(1), conv.weight, conv.canonicalWeight);
  // The transposed convolution's data are the results of the windows, and its result their data.
  Convolution c{conv,
                {},
                canonicalShape(d.operand(0), conv.data, conv.canonicalData),
                lastDims(weight, dims)};
  c.data = {c.result[0], d.types().multiply(weight[1], d.types().constant(conv.groups))};
  c.uncovered.assign(conv.outputPadding.begin(), conv.outputPadding.end());
  auto wide = d.cotangent().dtype();
  Laid gradient{d.cotangent(), conv.result}, data{castTo(d.operand(0), wide), conv.data},
      kernel{castTo(d.operand(1), wide), swappedChannels(conv.weight)};
  give(d, 0, castTo(byResult(c, gradient, kernel, data), d.operand(0).dtype()));
  give(d, 1, castTo(byWeight(c, data, gradient, kernel), d.operand(1).dtype()));
}

void convBackwardWeightGradientOver(GradientCall& d, size_t dims) {
  if (isEmptyConvolution(d))
    return giveZeros(d);
  ConvAttributes conv = *readConv(d.attributes(), dims, ConvKind::BackwardWeight);
  Convolution c{conv,
                canonicalShape(d.operand(1), conv.data, conv.canonicalData),
                canonicalShape(d.operand(0), conv.result, conv.canonicalData),
                {}};
  for (int64_t extent : conv.kernelSize)
    c.kernel.push_back(d.types().constant(extent));
  c.uncovered = uncovered(c, d.types());
  c.form = c.isDepthwise() ? WeightForm::Depthwise : WeightForm::Plain;
  auto wide = d.cotangent().dtype();
  Laid weight{d.cotangent(), conv.weight}, gradient{castTo(d.operand(0), wide), conv.result},
      data{castTo(d.operand(1), wide), conv.data};
  give(d, 0, castTo(byResult(c, data, weight, gradient), d.operand(0).dtype()));
  give(d, 1, castTo(byData(c, gradient, weight, data), d.operand(1).dtype()));
}

} // namespace stdlib

// Gradient rules of the convolution family. Weights with a group axis, and depthwise ones whose
// form the other operators do not take, are brought to the plain form and back by reshapes.
#include "stdlib/ops/conv_gradient.h"

#include "stdlib/ops/conv_call.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace stdlib {

using lang::Dim;
using lang::RelationCall;

namespace {

using Shape = std::vector<const Dim*>;

/// How a weight is laid out beyond its layout; see conv.cpp.
enum class WeightForm : uint8_t { Plain, Depthwise, GroupAxis };

/// An expression and the layout of its value.
struct Laid {
  std::string text;
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

std::string inLayout(const Laid& value, const Layout& layout) {
  if (value.layout == layout)
    return value.text;
  return fmt::format("layout_transform({}, src_layout=\"{}\", dst_layout=\"{}\")", value.text,
                     layoutText(value.layout), layoutText(layout));
}

std::string inDType(const std::string& text, runtime::DType has, runtime::DType wanted) {
  return has == wanted ? text : fmt::format("cast({}, dtype=\"{}\")", text, dtypeName(wanted));
}

Layout plainWeight(size_t dims) {
  Layout layout{{{'O'}, {'I'}}};
  for (char axis : spatialAxes(dims))
    layout.dims.push_back({axis});
  return layout;
}

/// `newshape` that joins or splits the leading dimensions and copies the spatial ones.
std::string reshaped(const std::string& text, std::string_view leading, size_t dims) {
  std::string copies;
  for (size_t i = 0; i < dims; ++i)
    copies += ", 0";
  return fmt::format("reshape({}, newshape=[{}{}])", text, leading, copies);
}

/// A weight in the form `[channels, channels per group, ...]`.
Laid asPlain(const Convolution& c, const Laid& weight) {
  size_t dims = c.conv.dims;
  if (c.form == WeightForm::Plain)
    return weight;
  std::string canonical = inLayout(weight, c.conv.canonicalWeight);
  return {reshaped(canonical, c.form == WeightForm::Depthwise ? "-1, 1" : "-3, 0", dims),
          plainWeight(dims)};
}

std::string windowText(const ConvAttributes& conv) {
  return fmt::format("strides=[{}], padding=[{}], dilation=[{}], groups={}",
                     fmt::join(conv.window.strides, ", "), fmt::join(conv.window.padding(), ", "),
                     fmt::join(conv.window.dilation, ", "), conv.groups);
}

/// Writes the call of an operator whose result has the given layout.
using WriteCall = std::function<std::string(const Layout&)>;

/// A call whose result has the layout of `like`, cut to its extents. Before the cut its extents may
/// not fit tiles, so it is made without them.
std::string cutLike(const WriteCall& write, const Laid& like, const Layout& canonical) {
  Layout layout = like.layout.hasTiles() ? canonical : like.layout;
  std::vector<size_t> axes;
  for (size_t i = 0; i < layout.rank(); ++i)
    if (layout.dims[i].axis != 'N' && layout.dims[i].axis != 'C')
      axes.push_back(i);
  std::string cut = fmt::format("slice_like({}, {}, axes=[{}])", write(layout),
                                inLayout(like, layout), fmt::join(axes, ", "));
  return inLayout({cut, layout}, like.layout);
}

/// Convolution::uncovered from the shapes.
std::vector<std::optional<int64_t>> uncovered(const Convolution& c) {
  std::vector<std::optional<int64_t>> rests(c.conv.dims);
  const Window& window = c.conv.window;
  for (size_t i = 0; i < c.conv.dims; ++i) {
    const Dim *extent = c.data[2 + i], *positions = c.result[2 + i], *kernel = c.kernel[i];
    if (!extent->isConstant() || !positions->isConstant() || !kernel->isConstant())
      continue;
    int64_t reach = (kernel->value - 1) * window.dilation[i] + 1;
    rests[i] = extent->value + window.before[i] + window.after[i] - reach -
               (positions->value - 1) * window.strides[i];
  }
  return rests;
}

/// The gradient by `data`: the transposed convolution of the gradient by the result.
std::string byData(const Convolution& c, const Laid& gradient, const Laid& weight,
                   const Laid& data) {
  std::vector<int64_t> added;
  bool mustCut = false;
  for (size_t i = 0; i < c.conv.dims; ++i) {
    auto rest = c.uncovered[i];
    bool isExact = rest && *rest >= 0;
    added.push_back(isExact ? *rest : c.conv.window.strides[i] - 1);
    mustCut |= !isExact && (c.conv.window.strides[i] != 1 || rest);
  }
  Laid plain = asPlain(c, weight);
  auto write = [&](const Layout& layout) {
    return fmt::format("nn.conv{}d_transpose({}, {}, {}, output_padding=[{}], data_layout=\"{}\", "
                       "kernel_layout=\"{}\", out_layout=\"{}\")",
                       c.conv.dims, gradient.text, plain.text, windowText(c.conv),
                       fmt::join(added, ", "), layoutText(gradient.layout),
                       layoutText(swappedChannels(plain.layout)), layoutText(layout));
  };
  return mustCut ? cutLike(write, data, c.conv.canonicalData) : write(data.layout);
}

/// The gradient by `result`: the convolution.
std::string byResult(const Convolution& c, const Laid& data, const Laid& weight,
                     const Laid& result) {
  bool mustCut = false;
  for (size_t i = 0; i < c.conv.dims; ++i) {
    auto rest = c.uncovered[i];
    mustCut |= !rest || *rest >= c.conv.window.strides[i];
  }
  auto write = [&](const Layout& layout) {
    return fmt::format(
        "nn.conv{}d({}, {}, {}, data_layout=\"{}\", kernel_layout=\"{}\", out_layout=\"{}\")",
        c.conv.dims, data.text, weight.text, windowText(c.conv), layoutText(data.layout),
        layoutText(weight.layout), layoutText(layout));
  };
  return mustCut ? cutLike(write, result, c.conv.canonicalData) : write(result.layout);
}

/// The gradient by the weight `weight`, whose letters are those of a convolution.
std::string byWeight(const Convolution& c, const Laid& gradient, const Laid& data,
                     const Laid& weight) {
  size_t dims = c.conv.dims;
  std::string kernel;
  for (const Dim* extent : c.kernel)
    kernel += (kernel.empty() ? "" : ", ") + dimText(extent);
  auto backward = [&](const Layout& layout) {
    return fmt::format("nn.conv{}d_backward_weight({}, {}, {}, kernel_size=[{}], "
                       "data_layout=\"{}\", kernel_layout=\"{}\", out_layout=\"{}\")",
                       dims, gradient.text, data.text, windowText(c.conv), kernel,
                       layoutText(gradient.layout), layoutText(data.layout), layoutText(layout));
  };
  bool isPlain = c.form == WeightForm::Plain;
  if (c.form == WeightForm::Depthwise || (isPlain && !c.isDepthwise()))
    return backward(weight.layout);
  std::string canonical = backward(plainWeight(dims));
  if (isPlain)
    return inLayout({reshaped(canonical, "-1, 1", dims), plainWeight(dims)}, weight.layout);
  std::string shape = inLayout(weight, c.conv.canonicalWeight);
  return inLayout({fmt::format("reshape_like({}, {})", canonical, shape), c.conv.canonicalWeight},
                  weight.layout);
}

Shape canonicalShape(const RelationCall& call, size_t operand, const Layout& layout,
                     const Layout& canonical) {
  return *convertShape(call.types, layout, canonical, call.shape(operand));
}

Shape lastDims(const Shape& shape, size_t count) {
  return {shape.end() - ptrdiff_t(count), shape.end()};
}

} // namespace

std::string convGradient(const RelationCall& call, size_t dims) {
  ConvAttributes conv = *readConv(call.attributes, dims, ConvKind::Forward);
  Shape weight = canonicalShape(call, 1, conv.weight, conv.canonicalWeight);
  Convolution c{conv,
                canonicalShape(call, 0, conv.data, conv.canonicalData),
                {},
                *meetKernel(call.types, conv, weight)};
  c.form = conv.hasGroupAxis() ? WeightForm::GroupAxis : WeightForm::Plain;
  const Dim* channels = weight[0];
  if (conv.hasGroupAxis())
    channels = call.types.multiply(weight[0], weight[1]);
  else if (conv.groups > 1 && c.data[1]->isConstant(conv.groups) &&
           weight[0]->isConstant(conv.groups) && !weight[1]->isConstant(1)) {
    c.form = WeightForm::Depthwise;
    channels = call.types.multiply(weight[0], weight[1]);
  }
  c.result = {c.data[0], channels};
  for (size_t i = 0; i < dims; ++i)
    c.result.push_back(
        *windowPositions(call.types, c.data[2 + i], c.kernel[i], conv.window, i, false));
  c.uncovered = uncovered(c);
  auto has = conv.outDType.value_or(call.dtype(0));
  Laid gradient{"%cotangent", conv.result}, data{"%data", conv.data},
      kernel{"%weight", conv.weight};
  return fmt::format("({}, {})", inDType(byData(c, gradient, kernel, data), has, call.dtype(0)),
                     inDType(byWeight(c, gradient, data, kernel), has, call.dtype(1)));
}

std::string convTransposeGradient(const RelationCall& call, size_t dims) {
  ConvAttributes conv = *readConv(call.attributes, dims, ConvKind::Transposed);
  Shape weight = canonicalShape(call, 1, conv.weight, conv.canonicalWeight);
  // The transposed convolution's data are the results of the windows, and its result their data.
  Convolution c{
      conv, {}, canonicalShape(call, 0, conv.data, conv.canonicalData), lastDims(weight, dims)};
  c.data = {c.result[0], call.types.multiply(weight[1], call.types.constant(conv.groups))};
  c.uncovered.assign(conv.outputPadding.begin(), conv.outputPadding.end());
  auto has = conv.outDType.value_or(call.dtype(0));
  Laid kernel{"%weight", swappedChannels(conv.weight)};
  Laid gradient{"%cotangent", conv.result}, data{"%data", conv.data};
  return fmt::format("({}, {})", inDType(byResult(c, gradient, kernel, data), has, call.dtype(0)),
                     inDType(byWeight(c, data, gradient, kernel), call.dtype(0), call.dtype(1)));
}

std::string convBackwardWeightGradient(const RelationCall& call, size_t dims) {
  ConvAttributes conv = *readConv(call.attributes, dims, ConvKind::BackwardWeight);
  Convolution c{conv,
                canonicalShape(call, 1, conv.data, conv.canonicalData),
                canonicalShape(call, 0, conv.result, conv.canonicalData),
                {}};
  for (int64_t extent : conv.kernelSize)
    c.kernel.push_back(call.types.constant(extent));
  c.uncovered = uncovered(c);
  c.form = c.isDepthwise() ? WeightForm::Depthwise : WeightForm::Plain;
  Laid weight{"%cotangent", conv.weight}, gradient{"%grad", conv.result}, data{"%data", conv.data};
  return fmt::format("({}, {})",
                     inDType(byResult(c, data, weight, gradient), call.dtype(1), call.dtype(0)),
                     inDType(byData(c, gradient, weight, data), call.dtype(0), call.dtype(1)));
}

} // namespace stdlib

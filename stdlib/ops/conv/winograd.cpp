// Convolutions by Winograd's method, whose weights are transformed beforehand.
//
// A tile of results needs a patch of data that is larger by the taps less one. Patch and weight are
// transformed, multiplied element by element, summed over channels and transformed back, see
// winograd_matrices.h. That is bilinear in data and weight whatever the weight is, so a weight that
// no kernel was transformed into has results too.
#include "stdlib/ops/checks.h"
#include "stdlib/ops/common.h"
#include "stdlib/ops/conv/conv_call.h"
#include "stdlib/ops/conv/winograd_call.h"
#include "stdlib/ops/families.h"
#include "stdlib/ops/gradient.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace stdlib {

using runtime::Checked;
using runtime::DType;
using runtime::Problem;

namespace {

using namespace lang;

/// The attributes of a convolution with a transformed weight.
struct WinogradConv {
  ConvAttributes conv;
  WinogradKernel kernel;
  int64_t tile = 0;
  /// Whether the weight has data channels before channels of the result. As in TVM, it has where
  /// pictures are channel by channel, but not over volumes.
  bool inputsFirst = false;

  int64_t points() const { return tile + kernel.width() - 1; }
};

Checked<WinogradConv> readWinogradConv(const Attributes& attributes, size_t dims) {
  auto conv = readConv(attributes, dims, ConvKind::Forward);
  if (!conv)
    return conv.failure();
  if (!conv->channels || conv->kernelSize.empty())
    return Problem{"`channels` and `kernel_size` must be given"};
  auto isOne = [](int64_t number) { return number == 1; };
  if (conv->groups != 1 || !std::ranges::all_of(conv->window.strides, isOne) ||
      !std::ranges::all_of(conv->window.dilation, isOne))
    return Problem{"Winograd's method knows neither strides nor dilation nor groups: all must "
                   "be 1"};
  auto tile = readTile(attributes);
  if (!tile)
    return tile.failure();
  auto kernel = readKernel(conv->kernelSize);
  if (!kernel)
    return kernel.failure();
  bool inputsFirst = dims == 2 && *conv->data.find('C') < *conv->data.find('H');
  return WinogradConv{*conv, *kernel, *tile, inputsFirst};
}

/// The shape of the transformed weight.
std::vector<const Dim*> weightShape(TypeContext& types, const WinogradConv& winograd,
                                    const Dim* inputs) {
  std::vector<const Dim*> shape(winograd.kernel.transformed.size(),
                                types.constant(winograd.points()));
  for (size_t i : winograd.kernel.plain)
    shape.push_back(types.constant(winograd.kernel.taps[i]));
  const Dim* outputs = types.constant(*winograd.conv.channels);
  shape.push_back(winograd.inputsFirst ? inputs : outputs);
  shape.push_back(winograd.inputsFirst ? outputs : inputs);
  return shape;
}

template <size_t dims>
RelationResult relateConv(const RelationCall& call) {
  auto winograd = readWinogradConv(call.attributes, dims);
  if (!winograd)
    return call.failed(winograd.failure());
  const ConvAttributes& conv = winograd->conv;
  if (auto problem = requireFloats(call, "data", conv.data.rank()))
    return *problem;
  DType dtype = conv.outDType.value_or(call.dtype(0));
  if (!dtype.isFloat())
    return call.failed("`out_dtype` must be a floating-point type");
  auto data = convertShape(call.types, conv.data, conv.canonicalData, call.shape(0));
  if (!data)
    return call.failedAt(0, data.failure());
  std::vector<const Dim*> shape{(*data)[0], call.types.constant(*conv.channels)}, kernel;
  for (size_t i = 0; i < dims; ++i) {
    kernel.push_back(call.types.constant(conv.kernelSize[i]));
    auto positions = windowExtent(call, (*data)[2 + i], kernel[i], conv.window, i, false);
    if (!positions)
      return call.failedOn(
          {{0, *conv.data.find(spatialAxes(dims)[i])}},
          fmt::format("along `{}`, {}", spatialAxes(dims)[i], positions.failure().text));
    shape.push_back(*positions);
  }
  RelationResult result = solvedInLayout(call, conv.canonicalData, conv.result, shape, dtype);
  if (result.outcome != RelationResult::Outcome::Solved)
    return result;
  const Type* weight =
      call.types.tensor(weightShape(call.types, *winograd, (*data)[1]), call.dtype(0));
  if (!demandOperand(call, result, 1, "weight", weight))
    return result;
  for (size_t i = 0; i < dims; ++i)
    requireWindow(result, call, (*data)[2 + i], kernel[i], conv.window, i);
  return result;
}

/// The transformed patches of the data: points, then batch and channel, then one index per spatial
/// dimension, which counts tiles where the dimension is transformed.
TensorHandle patches(ComputeCall& call, const WinogradConv& w, const TensorHandle& table,
                     const Extents& result) {
  const ConvAttributes& conv = w.conv;
  TensorHandle data = call.input(0);
  Extents canonical = convertExtents(conv.data, conv.canonicalData, data.shape());
  auto dataAt = canonicalReader(call, data, conv.canonicalData, conv.data, true);
  size_t count = w.kernel.transformed.size();
  Extents shape = repeated(call, w.kernel, w.points());
  shape.insert(shape.end(), canonical.begin(), canonical.end());
  for (size_t i : w.kernel.transformed)
    shape[count + 2 + i] = floorDivide(result[2 + i] + double(w.tile - 1), w.tile);
  for (size_t i : w.kernel.plain)
    shape[count + 2 + i] = result[2 + i] + double(w.kernel.taps[i] - 1);
  return call.define(shape, [&](const Position& at) {
    return call.sumOver(repeated(call, w.kernel, w.points()), [&](const Position& place) {
      Position from(at.begin() + ptrdiff_t(count), at.end());
      for (size_t i = 0; i < count; ++i) {
        Scalar& index = from[2 + w.kernel.transformed[i]];
        index = index * double(w.tile) + place[i];
      }
      for (size_t i = 0; i < conv.dims; ++i)
        from[2 + i] = from[2 + i] - double(conv.window.before[i]);
      Position points(at.begin(), at.begin() + ptrdiff_t(count));
      return dataAt(from) * productOfEntries(table, place, points);
    });
  });
}

/// The sums over channels, and over taps that are not transformed, of patches times weights; in the
/// shape of the patches with the result's channels and extents.
TensorHandle pointProducts(ComputeCall& call, const WinogradConv& w, const TensorHandle& patches,
                           const Extents& result) {
  TensorHandle weight = call.input(1);
  size_t count = w.kernel.transformed.size();
  Extents shape = patches.shape(), taps{patches.extent(count + 1)};
  shape[count + 1] = result[1];
  for (size_t i : w.kernel.plain) {
    shape[count + 2 + i] = result[2 + i];
    taps.push_back(call.integer(w.kernel.taps[i]));
  }
  return call.define(shape, [&](const Position& at) {
    return call.sumOver(taps, [&](const Position& tap) {
      Position from = replaceAt(at, count + 1, tap[0]);
      Position of(at.begin(), at.begin() + ptrdiff_t(count));
      for (size_t i = 0; i < w.kernel.plain.size(); ++i) {
        Scalar& index = from[count + 2 + w.kernel.plain[i]];
        index = index + tap[1 + i];
        of.push_back(tap[1 + i]);
      }
      of.push_back(w.inputsFirst ? tap[0] : at[count + 1]);
      of.push_back(w.inputsFirst ? at[count + 1] : tap[0]);
      return patches(from) * cast(weight(of), call.outputDType());
    });
  });
}

template <size_t dims>
void computeConv(ComputeCall& call) {
  WinogradConv w = *readWinogradConv(call.attributes(), dims);
  const ConvAttributes& conv = w.conv;
  WinogradMatrices matrices = winogradMatrices(w.tile, w.kernel.width());
  Extents shape = convertExtents(conv.result, conv.canonicalData, call.outputShape());
  TensorHandle dataTable = constantTable(call, matrices.data, call.outputDType());
  TensorHandle resultTable = constantTable(call, matrices.result, call.outputDType());
  TensorHandle products = pointProducts(call, w, patches(call, w, dataTable, shape), shape);
  call.result([&](const Position& at) {
    Position where = convertPosition(conv.result, conv.canonicalData, at), places;
    for (size_t i : w.kernel.transformed) {
      places.push_back(floorMod(where[2 + i], w.tile));
      where[2 + i] = floorDivide(where[2 + i], w.tile);
    }
    return call.sumOver(repeated(call, w.kernel, w.points()), [&](const Position& points) {
      return products(joined(points, where)) * productOfEntries(resultTable, points, places);
    });
  });
}

/// The letters of the dimensions that equations of einsum name: batch, channels of data and result,
/// and for each spatial dimension those below.
constexpr std::string_view windowLetters = "pqr", dataLetters = "xyz", resultLetters = "uvw",
                           pointLetters = "efg";

/// The steps of the method as products over named dimensions.
class WinogradTerms {
public:
  WinogradTerms(GradientCall& d, const WinogradConv& winograd)
      : d_(d), w_(winograd), dims_(winograd.conv.dims),
        matrices_(winogradMatrices(winograd.tile, winograd.kernel.width())),
        data_(castTo(inLayout(d.operand(0), w_.conv.data, w_.conv.canonicalData), dtype())),
        padded_(padded(data_, widths(1))), weight_(castTo(d.operand(1), dtype())),
        products_(productCotangent()) {}

  /// The cotangent of the data: patches are transformed back and added up where they lie.
  Term byData() const {
    Term points = product({products_, weight_}, {productTerm(), weightTerm()}, patchTerm());
    Term patches = transformed(points, patchTerm(), matrices_.data, dataLetters, "nc", true);
    Term sums = addedAtPlaces(patches, windows(placesLike(padded_), true), padded_);
    return inLayout(padded(sums, widths(-1)), w_.conv.canonicalData, w_.conv.data);
  }

  /// The cotangent of the weight.
  Term byWeight() const {
    std::string from = "nc" + spatial(windowLetters) + spatial(dataLetters);
    Term patches =
        transformed(windows(padded_, true), from, matrices_.data, dataLetters, "nc", false);
    return product({patches, products_}, {patchTerm(), productTerm()}, weightTerm());
  }

private:
  DType dtype() const { return d_.cotangent().dtype(); }
  std::string spatial(std::string_view letters) const {
    return std::string(letters.substr(0, dims_));
  }
  bool isTransformed(size_t i) const { return std::ranges::count(w_.kernel.transformed, i) > 0; }

  /// How far the data is padded, with what the last tile reads past it, or by -1 cut again.
  std::vector<std::pair<int64_t, int64_t>> widths(int64_t sign) const {
    std::vector<std::pair<int64_t, int64_t>> result(2);
    for (size_t i = 0; i < dims_; ++i)
      result.emplace_back(sign * w_.conv.window.before[i],
                          sign * (w_.conv.window.after[i] + (isTransformed(i) ? w_.tile - 1 : 0)));
    return result;
  }

  /// Patches of padded data or tiles of a padded result: one dimension per spatial one for their
  /// number, then one for the place inside.
  Term windows(const Term& a, bool isData) const {
    std::vector<int64_t> shape, strides;
    for (size_t i = 0; i < dims_; ++i) {
      int64_t plain = isData ? w_.kernel.taps[i] : 1, whole = isData ? w_.points() : w_.tile;
      shape.push_back(isTransformed(i) ? whole : plain);
      strides.push_back(isTransformed(i) ? w_.tile : 1);
    }
    return d_.call("sliding_window", {a},
                   {{"axis", int64_t(2)}, {"window_shape", shape}, {"strides", strides}});
  }

  Term product(const std::vector<Term>& terms, const std::vector<std::string>& from,
               const std::string& to) const {
    std::string equation = fmt::format("{}->{}", fmt::join(from, ","), to);
    return d_.call("einsum", {d_.tuple(terms)}, {{"equation", std::string_view(equation)}});
  }

  /// Places inside windows, which have `letters`, become points or, with `isBack`, the reverse.
  /// `from` names the dimensions of `a`; the result begins with `leading`.
  Term transformed(const Term& a, const std::string& from, const ConstantMatrix& matrix,
                   std::string_view letters, const std::string& leading, bool isBack) const {
    std::vector<Term> terms{a};
    std::vector<std::string> names{from};
    for (size_t i : w_.kernel.transformed) {
      // The matrix of the data has its places as rows, that of the result its points.
      bool isData = letters == dataLetters;
      names.push_back(isData ? fmt::format("{}{}", letters[i], pointLetters[i])
                             : fmt::format("{}{}", pointLetters[i], letters[i]));
      terms.push_back(constantTerm(d_, matrix, dtype()));
    }
    std::string to = leading + spatial(windowLetters);
    for (size_t i = 0; i < dims_; ++i)
      if (isTransformed(i))
        to += isBack ? letters[i] : pointLetters[i];
      else if (letters == dataLetters)
        to += letters[i];
    return product(terms, names, to);
  }

  /// The names of a transformed patch; a dimension that is not transformed has its taps.
  std::string patchTerm() const {
    std::string term = "nc" + spatial(windowLetters);
    for (size_t i = 0; i < dims_; ++i)
      term += isTransformed(i) ? pointLetters[i] : dataLetters[i];
    return term;
  }

  std::string productTerm() const {
    std::string term = "no" + spatial(windowLetters);
    for (size_t i : w_.kernel.transformed)
      term += pointLetters[i];
    return term;
  }

  std::string weightTerm() const {
    std::string term;
    for (size_t i : w_.kernel.transformed)
      term += pointLetters[i];
    for (size_t i : w_.kernel.plain)
      term += dataLetters[i];
    return term + (w_.inputsFirst ? "co" : "oc");
  }

  /// The cotangent of the products of patches and weight, summed over channels.
  Term productCotangent() const {
    Term gradient = inLayout(d_.cotangent(), w_.conv.result, w_.conv.canonicalData);
    std::vector<std::pair<int64_t, int64_t>> past(2 + dims_);
    for (size_t i : w_.kernel.transformed)
      past[2 + i].second = w_.tile - 1;
    std::string from = "no" + spatial(windowLetters) + spatial(resultLetters);
    return transformed(windows(padded(gradient, past), false), from, matrices_.result,
                       resultLetters, "no", false);
  }

  GradientCall& d_;
  const WinogradConv& w_;
  size_t dims_;
  WinogradMatrices matrices_;
  Term data_, padded_, weight_, products_;
};

template <size_t dims>
void convGradient(GradientCall& d) {
  auto isZero = [](const Dim* dim) { return dim->isConstant(0); };
  for (const Term& term : {d.operand(0), d.operand(1), d.result()})
    if (std::ranges::any_of(term.shape(), isZero))
      return giveZeros(d);
  WinogradConv winograd = *readWinogradConv(d.attributes(), dims);
  WinogradTerms terms(d, winograd);
  give(d, 0, castTo(terms.byData(), d.operand(0).dtype()));
  give(d, 1, castTo(terms.byWeight(), d.operand(1).dtype()));
}

constexpr OperandRow convOperands[] = {
    {"data", "the tensor that the window slides over"},
    {"weight", "the transformed weight", OperandKind::Tensor, true},
};

constexpr AttributeRow tileRow{"tile_size", AttributeKind::Int, "",
                               "how many neighbouring results are computed together along each "
                               "dimension"};

constexpr std::array<AttributeRow, 11> convRowsOf(size_t dims) {
  std::array<AttributeRow, 11> rows{tileRow};
  auto base = convAttributes(dims);
  std::copy(base.begin(), base.end(), rows.begin() + 1);
  rows[5].doc = "channels of the result; they must be given";
  rows[6].doc = "spatial extents of the weight before it was transformed; they must be given";
  rows[8].doc = "layout of the weight before it was transformed";
  return rows;
}
constexpr auto attributes2d = convRowsOf(2);
constexpr auto attributes3d = convRowsOf(3);

constexpr std::string_view convDetails =
    "The convolution whose weight nn.contrib_conv2d_winograd_weight_transform transformed with the "
    "same tile size. As in TVM, the weight is `[p, q, I, O]` where the channels of the data come "
    "before its height, so the transformed weight has to be transposed, and `[p, q, O, I]` for "
    "`NHWC`. Strides, dilation and groups must be 1; `channels` and `kernel_size` must be given.";
constexpr std::string_view convDepthDetails =
    "The convolution whose weight nn.contrib_conv3d_winograd_weight_transform transformed with the "
    "same tile size. Strides, dilation and groups must be 1; `channels` and `kernel_size` must be "
    "given.";

constexpr Example convExamples[] = {
    {"nn.contrib_conv2d_winograd_without_weight_transform([[[[1f, 2f, 3f]]]], "
     "transpose(nn.contrib_conv2d_winograd_weight_transform([[[[0f, 0f, 0f], [1f, 10f, 100f], [0f, "
     "0f, 0f]]]], tile_size=2), axes=[0, 1, 3, 2]), tile_size=2, padding=[1, 1], channels=1, "
     "kernel_size=[3, 3])",
     "[[[[210f, 321f, 32f]]]]"},
};
constexpr Example convDepthExamples[] = {
    {"nn.contrib_conv3d_winograd_without_weight_transform([[[[[1f, 2f, 3f]]]]], "
     "nn.contrib_conv3d_winograd_weight_transform([[[[[0f, 0f, 0f], [1f, 10f, 100f], [0f, 0f, "
     "0f]]]]], tile_size=2), tile_size=2, padding=[0, 1, 1], channels=1, kernel_size=[1, 3, 3])",
     "[[[[[210f, 321f, 32f]]]]]"},
    {"nn.contrib_conv3d_winograd_without_weight_transform([[[[[1f, 2f, 3f], [4f, 5f, 6f], [7f, 8f, "
     "9f]]]]], nn.contrib_conv3d_winograd_weight_transform([[[[[1f, 0f, 0f], [0f, 0f, 0f], [0f, "
     "0f, 10f]]]]], tile_size=2), tile_size=2, channels=1, kernel_size=[1, 3, 3])",
     "[[[[[91f]]]]]"},
};

constexpr OperatorRow rows[] = {
    {
        .name = "nn.contrib_conv2d_winograd_without_weight_transform",
        .doc = "Convolves pictures by Winograd's method with a weight transformed beforehand.",
        .details = convDetails,
        .operands = convOperands,
        .attributes = attributes2d,
        .attributesKey = "relay.attrs.Conv2DWinogradAttrs",
        .relation = relateConv<2>,
        .compute = computeConv<2>,
        .gradient = GradientRule{convGradient<2>},
        .examples = convExamples,
    },
    {
        .name = "nn.contrib_conv3d_winograd_without_weight_transform",
        .doc = "Convolves volumes by Winograd's method with a weight transformed beforehand.",
        .details = convDepthDetails,
        .operands = convOperands,
        .attributes = attributes3d,
        .attributesKey = "relay.attrs.Conv3DWinogradAttrs",
        .relation = relateConv<3>,
        .compute = computeConv<3>,
        .gradient = GradientRule{convGradient<3>},
        .examples = convDepthExamples,
    },
};

} // namespace

OperatorFamily winogradFamily() {
  return rows;
}

} // namespace stdlib

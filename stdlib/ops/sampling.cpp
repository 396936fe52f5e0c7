// Reading pictures at real positions: grid_sample and its affine_grid, roi_align.
//
// A grid holds coordinates from -1 to 1, x (the last dimension of the picture) first. Positions are
// computed in float64. roi_align is a kernel, as the regions decide how many samples it takes.
#include "stdlib/ops/checks.h"
#include "stdlib/ops/common.h"
#include "stdlib/ops/families.h"
#include "stdlib/ops/gradient.h"
#include "stdlib/ops/kernel_data.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace stdlib {

namespace {

using namespace lang;
using runtime::Tensor;

constexpr runtime::DType Real = runtime::Float64;

RelationResult affineGridRelation(const RelationCall& call) {
  Dims shape = call.shape(0);
  if (shape.size() != 3 || cannotBe(call.types, shape[1], 2) || cannotBe(call.types, shape[2], 3))
    return call.failedAt(0, fmt::format("the matrices must have the shape (batch, 2, 3), but they "
                                        "are `{}`",
                                        typeText(call.operands[0])));
  auto target = shapeAttribute(call, "target_shape");
  if (!target || target->size() != 2 || (*target)[0]->value < 2 || (*target)[1]->value < 2)
    return call.failed("`target_shape` must hold a height and a width of 2 or more");
  return call.solved(call.types.tensor(
      {shape[0], call.types.constant(2), (*target)[0], (*target)[1]}, call.dtype(0)));
}

void computeAffineGrid(ComputeCall& call) {
  TensorHandle x = call.input(0);
  std::vector<int64_t> target = call.attributes().integers("target_shape");
  auto along = [&](Scalar place, int64_t extent) {
    // Relay keeps the last place a little inside, so that sampling there reads no neighbour.
    return cast(cast(place, Real) * ((2.0 - 1e-7) / double(extent - 1)) - 1.0, x.dtype());
  };
  call.result([&](const Position& at) {
    auto entry = [&](int64_t column) { return x({at[0], at[1], call.integer(column)}); };
    return entry(0) * along(at[3], target[1]) + entry(1) * along(at[2], target[0]) + entry(2);
  });
}

RelationResult gridSampleRelation(const RelationCall& call) {
  size_t rank = call.rank(0);
  if ((rank != 4 && rank != 5) || call.rank(1) != rank)
    return call.failedAt(1, fmt::format("the data and the grid must both have 4 or 5 dimensions, "
                                        "but they are `{}` and `{}`",
                                        typeText(call.operands[0]), typeText(call.operands[1])));
  if (!call.dtype(0).isFloat() || !call.dtype(1).isFloat())
    return call.failed(fmt::format("the data and the grid must be floating point, but they are "
                                   "`{}` and `{}`",
                                   typeText(call.operands[0]), typeText(call.operands[1])));
  std::string_view method = call.attributes.text("method");
  if (rank == 4 ? !isOneOf(method, {"nearest", "bilinear", "bicubic"})
                : !isOneOf(method, {"nearest", "bilinear"}))
    return choiceFailure(call, "method",
                         rank == 4 ? "`nearest`, `bilinear` or `bicubic`"
                                   : "`nearest` or `bilinear` for 5 dimensions");
  if (!isOneOf(call.attributes.text("padding_mode"), {"zeros", "border", "reflection"}))
    return choiceFailure(call, "padding_mode", "`zeros`, `border` or `reflection`");
  if (call.attributes.text("layout") != (rank == 4 ? "NCHW" : "NCDHW"))
    return choiceFailure(call, "layout", rank == 4 ? "`NCHW`" : "`NCDHW`");
  const Dim* batch = meetDims(call.shape(0)[0], call.shape(1)[0]);
  const Dim* ways = call.shape(1)[1];
  if (!batch || cannotBe(call.types, ways, int64_t(rank) - 2))
    return call.failedAt(1,
                         fmt::format("the grid must have the batch of the data and {} "
                                     "coordinates, but their shapes are `{}` and `{}`",
                                     rank - 2, shapeText(call.shape(1)), shapeText(call.shape(0))));
  std::vector<const Dim*> shape(call.shape(1).begin(), call.shape(1).end());
  shape[0] = batch;
  shape[1] = call.shape(0)[1];
  return call.solved(shape, call.dtype(0));
}

Scalar floorOf(Scalar a) {
  return apply(ScalarFunction::Floor, {a});
}

/// How grid_sample maps coordinates of one dimension.
struct GridLine {
  Scalar extent;
  bool alignsCorners;
  std::string_view padding;

  Scalar position(Scalar coordinate) const {
    return alignsCorners ? (coordinate + 1.0) * (extent - 1.0) / 2.0
                         : (coordinate + 1.0) * extent / 2.0 - 0.5;
  }

  /// The position moved inside, unless outside counts as zero.
  Scalar inside(Scalar at) const {
    if (padding == "zeros")
      return at;
    Scalar zero = number(at, 0);
    if (padding == "reflection")
      at = reflected(at);
    return maximum(minimum(at, extent - 1.0), zero);
  }

private:
  /// Mirrored about the first and last element, or about their outer edges.
  Scalar reflected(Scalar at) const {
    double start = alignsCorners ? 0 : -0.5;
    Scalar span = alignsCorners ? extent - 1.0 : extent;
    Scalar away = apply(ScalarFunction::Abs, {at - start});
    Scalar times = floorOf(away / span), rest = away - times * span;
    Scalar isEven = times - floorOf(times / 2.0) * 2.0 == 0.0;
    Scalar mirrored = select(isEven, rest, span - rest) + start;
    return select(span > 0.0, mirrored, number(at, 0));
  }
};

/// The weights of the neighbours of a position whose fraction is `t`: two for bilinear, four for
/// bicubic.
std::vector<Scalar> gridWeights(std::string_view method, Scalar t) {
  if (method == "bilinear")
    return {1.0 - t, t};
  constexpr double a = -0.75;
  auto near = [&](Scalar d) { return (d * (a + 2) - (a + 3)) * d * d + 1.0; };
  auto far = [&](Scalar d) { return ((d * a - 5 * a) * d + 8 * a) * d - 4 * a; };
  return {far(t + 1.0), near(t), near(1.0 - t), far(2.0 - t)};
}

/// What to read along one dimension: elements and weights (none for nearest).
struct GridTaps {
  std::vector<Scalar> places, weights;
};

GridTaps tapsOf(std::string_view method, const GridLine& line, Scalar coordinate,
                runtime::DType dtype) {
  Scalar at = line.position(coordinate);
  // Bicubic moves each neighbour inside by itself, the others move the position.
  if (method != "bicubic")
    at = line.inside(at);
  GridTaps taps;
  if (method == "nearest") {
    taps.places = {cast(apply(ScalarFunction::RoundEven, {at}), runtime::Int64)};
    return taps;
  }
  Scalar left = floorOf(at);
  std::vector<Scalar> weights = gridWeights(method, at - left);
  for (size_t k = 0; k < weights.size(); ++k) {
    Scalar place = left + (double(k) - (weights.size() == 4 ? 1 : 0));
    taps.places.push_back(cast(method == "bicubic" ? line.inside(place) : place, runtime::Int64));
    taps.weights.push_back(cast(weights[k], dtype));
  }
  return taps;
}

void computeGridSample(ComputeCall& call) {
  TensorHandle x = call.input(0), grid = call.input(1);
  const Attributes& attributes = call.attributes();
  std::string_view method = attributes.text("method");
  Scalar zero = call.number(x.dtype(), 0);
  size_t ways = x.rank() - 2;
  call.result([&](const Position& at) {
    std::vector<GridTaps> taps;
    for (size_t i = 0; i < ways; ++i) {
      GridLine line{cast(x.extent(i + 2), Real), attributes.boolean("align_corners"),
                    attributes.text("padding_mode")};
      Scalar coordinate = grid(replaceAt(at, 1, call.integer(int64_t(ways - 1 - i))));
      taps.push_back(tapsOf(method, line, cast(coordinate, Real), x.dtype()));
    }
    size_t perWay = taps[0].places.size(), count = 1;
    for (size_t i = 0; i < ways; ++i)
      count *= perWay;
    Scalar sum;
    for (size_t flat = 0; flat < count; ++flat) {
      Position from = at;
      Scalar weight;
      for (size_t i = ways, rest = flat; i-- > 0; rest /= perWay) {
        from[i + 2] = taps[i].places[rest % perWay];
        if (!taps[i].weights.empty()) {
          Scalar factor = taps[i].weights[rest % perWay];
          weight = i + 1 == ways ? factor : weight * factor;
        }
      }
      Scalar value = x.orElse(from, zero);
      if (weight.node())
        value = value * weight;
      sum = flat == 0 ? value : sum + value;
    }
    return sum;
  });
}

RelationResult roiAlignRelation(const RelationCall& call) {
  std::string_view layout = call.attributes.text("layout");
  if (!isOneOf(layout, {"NCHW", "NHWC"}))
    return choiceFailure(call, "layout", "`NCHW` or `NHWC`");
  if (!isOneOf(call.attributes.text("mode"), {"avg", "max"}))
    return choiceFailure(call, "mode", "`avg` or `max`");
  Dims rois = call.shape(1);
  if (call.rank(0) != 4)
    return call.failedAt(0, fmt::format("the data must have 4 dimensions, but it is `{}`",
                                        typeText(call.operands[0])));
  if (rois.size() != 2 || cannotBe(call.types, rois[1], 5))
    return call.failedAt(1, fmt::format("the regions must have the shape (count, 5), but they are "
                                        "`{}`",
                                        typeText(call.operands[1])));
  if (!call.dtype(0).isFloat())
    return call.failedAt(0, fmt::format("the data must be floating point, but it is `{}`",
                                        typeText(call.operands[0])));
  if (call.attributes.integer("sample_ratio") > 1024)
    return call.failed("`sample_ratio` must be 1024 or less");
  auto size = shapeAttribute(call, "pooled_size");
  if (!size || size->size() != 2 || (*size)[0]->value == 0 || (*size)[1]->value == 0)
    return call.failed("`pooled_size` must hold a positive height and width");
  if (layout == "NCHW")
    return call.solved(
        call.types.tensor({rois[0], call.shape(0)[1], (*size)[0], (*size)[1]}, call.dtype(0)));
  return call.solved(
      call.types.tensor({rois[0], (*size)[0], (*size)[1], call.shape(0)[3]}, call.dtype(0)));
}

/// One picture plane in a tensor of either layout.
struct Plane {
  const double* start;
  int64_t height, width, rowStep, step;

  /// The bilinear value; zero more than one element outside.
  double at(double y, double x) const {
    if (y < -1 || x < -1 || y > double(height) || x > double(width))
      return 0;
    y = std::clamp(y, 0.0, double(height - 1));
    x = std::clamp(x, 0.0, double(width - 1));
    int64_t top = int64_t(y), left = int64_t(x);
    int64_t bottom = std::min(top + 1, height - 1), right = std::min(left + 1, width - 1);
    double down = y - double(top), across = x - double(left);
    auto value = [&](int64_t row, int64_t column) { return start[row * rowStep + column * step]; };
    return (value(top, left) * (1 - across) + value(top, right) * across) * (1 - down) +
           (value(bottom, left) * (1 - across) + value(bottom, right) * across) * down;
  }
};

/// A region in elements of the picture, cut into bins with samples.
struct Region {
  double top, left, binHeight, binWidth;
  int64_t batch, down, across;
};

/// Reads row `at` of the regions; nothing when its numbers make no sense.
std::optional<Region> regionAt(const double* row, const Attributes& attributes, int64_t batches) {
  std::vector<int64_t> size = attributes.integers("pooled_size");
  double scale = attributes.real("spatial_scale");
  int64_t samples = attributes.integer("sample_ratio");
  if (!(row[0] >= 0 && row[0] < double(batches)))
    return std::nullopt;
  Region region{row[2] * scale, row[1] * scale, 0, 0, int64_t(row[0]), samples, samples};
  region.binHeight = std::max(row[4] * scale - region.top, 1.0) / double(size[0]);
  region.binWidth = std::max(row[3] * scale - region.left, 1.0) / double(size[1]);
  if (!std::isfinite(region.top + region.left) ||
      !(std::max(region.binHeight, region.binWidth) < 8192))
    return std::nullopt;
  if (samples <= 0) {
    region.down = int64_t(std::ceil(region.binHeight));
    region.across = int64_t(std::ceil(region.binWidth));
  }
  return region;
}

/// The average or maximum of the samples of one bin.
double pooledBin(const Plane& plane, const Region& region, int64_t row, int64_t column,
                 bool isAverage) {
  double sum = 0, most = -INFINITY;
  for (int64_t i = 0; i < region.down; ++i)
    for (int64_t j = 0; j < region.across; ++j) {
      double y =
          region.top + (double(row) + (double(i) + 0.5) / double(region.down)) * region.binHeight;
      double x = region.left +
                 (double(column) + (double(j) + 0.5) / double(region.across)) * region.binWidth;
      double value = plane.at(y, x);
      sum += value;
      most = std::max(most, value);
    }
  return isAverage ? sum / double(region.down * region.across) : most;
}

KernelResult roiAlign(const KernelCall& call) {
  const Tensor& data = call.inputs[0];
  const Attributes& attributes = call.attributes;
  std::vector<double> values = readReals(data), rois = readReals(call.inputs[1]);
  std::vector<int64_t> size = attributes.integers("pooled_size");
  bool isLast = attributes.text("layout") == "NHWC", isAverage = attributes.text("mode") == "avg";
  const runtime::Shape& shape = data.shape();
  int64_t channels = shape[isLast ? 3 : 1], height = shape[isLast ? 1 : 2],
          width = shape[isLast ? 2 : 3], count = call.inputs[1].shape()[0];
  Tensor result(data.dtype(), isLast ? runtime::Shape{count, size[0], size[1], channels}
                                     : runtime::Shape{count, channels, size[0], size[1]});
  if (result.size() > 0 && height * width == 0)
    return {{}, "the pictures have no elements to sample"};
  for (int64_t roi = 0; roi < count; ++roi) {
    auto region = regionAt(&rois[size_t(roi) * 5], attributes, shape[0]);
    if (!region)
      return {{},
              fmt::format("region {} has no finite extents below 8192 per bin, or names a "
                          "picture outside the batch of {}",
                          roi, shape[0])};
    for (int64_t channel = 0; channel < channels; ++channel) {
      int64_t first = region->batch * channels * height * width;
      Plane plane{values.data() + first + (isLast ? channel : channel * height * width), height,
                  width, isLast ? width * channels : width, isLast ? channels : 1};
      for (int64_t row = 0; row < size[0]; ++row)
        for (int64_t column = 0; column < size[1]; ++column) {
          int64_t at = isLast ? ((roi * size[0] + row) * size[1] + column) * channels + channel
                              : ((roi * channels + channel) * size[0] + row) * size[1] + column;
          writeReal(result, at, pooledBin(plane, *region, row, column, isAverage));
        }
    }
  }
  return {{result}, {}};
}

constexpr OperandRow affineOperands[] = {{"data", "a matrix of 2 rows and 3 columns per picture"}};
constexpr OperandRow gridOperands[] = {
    {"data", "the pictures"},
    {"grid", "where to read, from -1 to 1: batch, coordinate (x first), height, width"}};
constexpr OperandRow roiOperands[] = {{"data", "the pictures"},
                                      {"rois", "rows of (batch item, left, top, right, bottom)"}};

constexpr AttributeRow affineAttributes[] = {
    {"target_shape", AttributeKind::IntList, "", "the height and width of the grid"}};
constexpr AttributeRow gridAttributes[] = {
    {"method", AttributeKind::String, "\"bilinear\"", "`nearest`, `bilinear` or `bicubic`"},
    {"layout", AttributeKind::String, "\"NCHW\"", "`NCHW`, or `NCDHW` for volumes"},
    {"padding_mode", AttributeKind::String, "\"zeros\"",
     "what is outside: `zeros`, `border` or `reflection`"},
    {"align_corners", AttributeKind::Bool, "True",
     "whether -1 and 1 are the centres of the outer elements, not their outer edges"}};
constexpr AttributeRow roiAttributes[] = {
    {"pooled_size", AttributeKind::IntList, "", "the height and width of the result"},
    {"spatial_scale", AttributeKind::Float, "", "the factor from regions to elements"},
    {"sample_ratio", AttributeKind::Int, "-1",
     "how many samples a bin has each way; one per element when not positive"},
    {"layout", AttributeKind::String, "\"NCHW\"", "`NCHW` or `NHWC`"},
    {"mode", AttributeKind::String, "\"avg\"", "`avg` or `max` of the samples of a bin"}};

constexpr NoGradient scatters = {
    "adds to elements that positions name, which no operator does for real positions"};

constexpr Example affineExamples[] = {
    {"image.affine_grid([[[1f, 0f, 0f], [0f, 2f, 1f]]], target_shape=[2, 2])",
     "[[[[-1f, 1f], [-1f, 1f]], [[-1f, -1f], [3f, 3f]]]]"}};
constexpr Example gridExamples[] = {
    {"image.grid_sample([[[[0f, 1f], [2f, 3f]]]], [[[[0f, 3f]], [[0f, 0f]]]])", "[[[[1.5f, 0f]]]]"},
    {"image.grid_sample([[[[0f, 1f], [2f, 3f]]]], [[[[0.9f, 3f]], [[-1f, -1f]]]], "
     "method=\"nearest\", padding_mode=\"border\")",
     "[[[[1f, 1f]]]]"}};
constexpr Example roiExamples[] = {
    {"vision.roi_align([[[[0f, 1f], [2f, 3f]]]], [[0f, 0f, 0f, 1f, 1f]], pooled_size=[1, 1], "
     "spatial_scale=1f, attrs_type_key=\"relay.attrs.ROIAlignAttrs\")",
     "[[[[1.5f]]]]"}};

/// The grid is linear in the matrix; its factors are the coordinates of the regular grid.
void affineGradient(GradientCall& d) {
  runtime::Tensor identity(runtime::Float32, {1, 2, 3});
  std::ranges::copy(std::array{1.f, 0.f, 0.f, 0.f, 1.f, 0.f}, identity.elements<float>().begin());
  Term grid = d.call("image.affine_grid", {d.constant(identity)}, sameAttributes(d));
  auto part = [&](int64_t i) {
    Term coordinate = castTo(sliced(grid, 1, i, i + 1), d.cotangent().dtype());
    return expandDims(sum(d.cotangent() * coordinate, {2, 3}), 2);
  };
  give(d, 0, concatenated({part(0), part(1), expandDims(sum(d.cotangent(), {2, 3}), 2)}, 2));
}

constexpr OperatorRow rows[] = {
    {.name = "image.affine_grid",
     .doc = "The sampling grid of an affine map, for `image.grid_sample`.",
     .details = "The point (x, y) of a regular grid from -1 to 1 goes to the matrix times "
                "(x, y, 1).",
     .operands = affineOperands,
     .attributes = affineAttributes,
     .attributesKey = "relay.attrs.AffineGridAttrs",
     .relation = affineGridRelation,
     .compute = computeAffineGrid,
     .gradient = GradientRule{affineGradient},
     .examples = affineExamples},
    {.name = "image.grid_sample",
     .doc = "Reads pictures at the positions that a grid gives.",
     .operands = gridOperands,
     .attributes = gridAttributes,
     .attributesKey = "relay.attrs.GridSampleAttrs",
     .relation = gridSampleRelation,
     .compute = computeGridSample,
     .gradient = scatters,
     .examples = gridExamples},
    {.name = "vision.roi_align",
     .doc = "Cuts regions out of pictures and resamples them to one size.",
     .details =
         "Regions times `spatial_scale` are at least one element wide and high; each bin "
         "averages (or takes the largest of) bilinear samples; samples more than one element "
         "outside the picture are zero.",
     .operands = roiOperands,
     .attributes = roiAttributes,
     .attributesKey = "relay.attrs.ROIAlignAttrs",
     .relation = roiAlignRelation,
     .kernel = roiAlign,
     .gradient = scatters,
     .examples = roiExamples,
     .unregisteredAttributes = true},
};

} // namespace

OperatorFamily samplingFamily() {
  return rows;
}

} // namespace stdlib

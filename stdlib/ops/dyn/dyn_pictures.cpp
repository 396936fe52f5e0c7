// Resizing, scaling and padding by sizes that are computed: image.resize2d, nn.upsampling* and
// nn.pad whose numbers come from operands.
//
// Where the values are known the relations give exact shapes, else `?`. The attributes repeat those
// of the static operators; only those that no operand replaces count.
#include "stdlib/ops/checks.h"
#include "stdlib/ops/common.h"
#include "stdlib/ops/dyn_rules.h"
#include "stdlib/ops/families.h"
#include "stdlib/ops/pictures/resize_rules.h"
#include "stdlib/ops/shapes/pad.h"

#include <cmath>
#include <fmt/format.h>

namespace stdlib {

namespace {

using namespace lang;

constexpr std::string_view cropMode = "tf_crop_and_resize";

RelationResult resizeRelation(const RelationCall& call) {
  if (auto problem = resizeChoiceProblem(call))
    return *problem;
  auto axes = checkedAxes(call, 2);
  if (auto* failure = std::get_if<RelationResult>(&axes))
    return *failure;
  if (call.rank(1) != 1 || !call.dtype(1).isInteger() || cannotBe(call, call.shape(1)[0], 2))
    return call.failedAt(1, words("`size` must hold 2 integers, but it is `{}`", call.operands[1]));
  bool isCrop = call.attributes.text("coordinate_transformation_mode") == cropMode;
  if (isCrop &&
      (call.rank(2) != 1 || !call.dtype(2).isFloat() || cannotBe(call, call.shape(2)[0], 4)))
    return call.failedAt(2, words("`roi` must hold 4 floats, but it is `{}`", call.operands[2]));
  DimVector shape(call.shape(0).begin(), call.shape(0).end());
  auto size = call.value(1) ? integerValues(*call.value(1)) : std::nullopt;
  if (call.value(1) && (!size || (*size)[0] < 0 || (*size)[1] < 0))
    return call.failedAt(1, "the size has an extent that no picture has");
  for (size_t i = 0; i < 2; ++i) {
    const Dim*& dim = shape[std::get<0>(axes)[i]];
    const Dim* wanted = size ? call.types.constant((*size)[i]) : call.types.any();
    if (auto problem = emptyProblem(call, dim, wanted))
      return *problem;
    dim = wanted;
  }
  return call.solved(shape, call.attributes.dtype("out_dtype").value_or(call.dtype(0)));
}

void computeDynResize(ComputeCall& call) {
  Sampling sampling = resizeSampling(call.attributes());
  TensorHandle region = call.input(2);
  for (int64_t i = 0; i < 4 && sampling.coordinates == cropMode; ++i)
    sampling.region.push_back(cast(region({call.integer(i)}), runtime::Float64));
  computeResize(call, sampling, *spatialAxes(call.attributes().text("layout"), 2));
}

/// `extent * scale` in the float type of the scale, halves away from zero, as Relay rounds when it
/// runs; nothing when the scale is no factor or the result is too large.
std::optional<int64_t> scaledExtent(int64_t extent, const runtime::Tensor& scale) {
  std::vector<double> values = natives::readReals(scale);
  if (values.size() != 1 || !(values[0] > 0) || !std::isfinite(values[0]))
    return std::nullopt;
  bool isDouble = scale.dtype() == runtime::Float64;
  double scaled = isDouble ? std::round(double(extent) * values[0])
                           : double(std::round(float(extent) * float(values[0])));
  return scaled < 0x1p62 ? std::optional(int64_t(scaled)) : std::nullopt;
}

template <size_t count>
RelationResult upsamplingRelation(const RelationCall& call) {
  if (auto problem = upsamplingChoiceProblem(call, count))
    return *problem;
  auto axes = checkedAxes(call, count);
  if (auto* failure = std::get_if<RelationResult>(&axes))
    return *failure;
  DimVector shape(call.shape(0).begin(), call.shape(0).end());
  for (size_t i = 0; i < count; ++i) {
    std::string_view name = scaleNames[3 - count + i];
    if (auto problem = requireScalar(call, i + 1, name))
      return *problem;
    if (!call.dtype(i + 1).isFloat() && !call.dtype(i + 1).isInteger())
      return call.failedAt(
          i + 1, words("`{}` must be a number, but it is `{}`", name, call.operands[i + 1]));
    const Dim*& dim = shape[std::get<0>(axes)[i]];
    const runtime::Tensor* scale = call.value(i + 1);
    if (!scale || !dim->isConstant()) {
      dim = call.types.any();
      continue;
    }
    auto scaled = scaledExtent(dim->value, *scale);
    if (!scaled)
      return call.failedAt(
          i + 1, fmt::format("a dimension of {} can't be scaled by `{}`, which is {}", dim->value,
                             name, fmt::join(natives::readReals(*scale), ", ")));
    dim = call.types.constant(*scaled);
  }
  return call.solved(shape, call.dtype(0));
}

template <size_t count>
void computeUpsampling(ComputeCall& call) {
  computeResize(call, upsamplingSampling(call.attributes(), count),
                *spatialAxes(call.attributes().text("layout"), count));
}

RelationResult padRelation(const RelationCall& call) {
  if (auto problem = requirePadMode(call))
    return *problem;
  int64_t rank = int64_t(call.rank(0));
  if (call.rank(1) != 2 || !call.dtype(1).isInteger() || cannotBe(call, call.shape(1)[0], rank) ||
      cannotBe(call, call.shape(1)[1], 2))
    return call.failedAt(1, words("`pad_width` must hold a pair of integers for each "
                                  "dimension of `{}`, but it is `{}`",
                                  shapeText(call.shape(0)), call.operands[1]));
  if (auto problem = requireScalar(call, 2, "pad_val"))
    return *problem;
  if (!call.value(1))
    return allAny(call, size_t(rank), call.dtype(0));
  auto numbers = integerValues(*call.value(1));
  if (!numbers || numbers->size() != size_t(2 * rank))
    return call.failedAt(1, "a width is too large");
  std::vector<std::vector<int64_t>> widths;
  for (size_t i = 0; i < numbers->size(); i += 2)
    widths.push_back({(*numbers)[i], (*numbers)[i + 1]});
  return paddedType(call, *padMode(call.attributes.text("pad_mode")), widths, true);
}

void computePad(ComputeCall& call) {
  TensorHandle x = call.input(0), widths = call.input(1), value = call.input(2);
  PadMode mode = *padMode(call.attributes().text("pad_mode"));
  call.result([&](const Position& at) {
    Position from;
    for (size_t i = 0; i < at.size(); ++i) {
      Scalar before = widths({call.integer(int64_t(i)), call.integer(0)});
      Scalar shifted = at[i] - cast(before, runtime::Int64);
      from.push_back(mode == PadMode::Constant ? shifted : inside(mode, shifted, x.extent(i)));
    }
    return mode == PadMode::Constant ? x.orElse(from, cast(value({}), x.dtype())) : x(from);
  });
}

constexpr OperandRow resizeOperands[] = {
    {"data", "the pictures"},
    {"size", "the height and width of the result"},
    {"roi", "the part to read for `tf_crop_and_resize`, from 0 to 1: the starts, then the ends"}};
constexpr OperandRow scaleH = {"scale_h", "the factor of the height, of rank 0"};
constexpr OperandRow scaleW = {"scale_w", "the factor of the width, of rank 0"};
constexpr OperandRow upsamplingOperands[] = {{"data", "the pictures"}, scaleH, scaleW};
constexpr OperandRow upsampling3dOperands[] = {
    {"data", "the volumes"}, {"scale_d", "the factor of the depth, of rank 0"}, scaleH, scaleW};
constexpr OperandRow padOperands[] = {
    {"data", "the input"},
    {"pad_width", "how many elements to add before and after each dimension, `[rank, 2]`; negative "
                  "ones are cut off"},
    {"pad_val", "the scalar that fills a constant padding"}};

constexpr std::string_view unused = "unused: the operand counts";
constexpr AttributeRow unusedScale(std::string_view name) {
  return {name, AttributeKind::Float, "", unused, true};
}
constexpr auto resize2dAttributes =
    resizeAttributes({"size", AttributeKind::IntList, "None", unused},
                     {"roi", AttributeKind::FloatList, "None", unused}, "\"NCHW\"");
constexpr AttributeRow upsamplingAttributes[] = {unusedScale("scale_h"), unusedScale("scale_w"),
                                                 layoutRow("\"NCHW\""), upsamplingMethodRow,
                                                 alignRow};
constexpr AttributeRow upsampling3dAttributes[] = {unusedScale("scale_d"), unusedScale("scale_h"),
                                                   unusedScale("scale_w"), layoutRow("\"NCDHW\""),
                                                   upsampling3dMethodRow,  modeRow};
constexpr AttributeRow padAttributes[] = {
    {"pad_width", AttributeKind::IntListList, "", unused, true},
    {"pad_mode", AttributeKind::String, "\"constant\"", "`constant`, `edge` or `reflect`"}};

constexpr Example resizeExamples[] = {
    {"dyn.image.resize2d([[[[0f, 2f], [4f, 6f]]]], [3, 3], [0f, 0f, 1f, 1f], "
     "coordinate_transformation_mode=\"align_corners\")",
     "[[[[0f, 1f, 2f], [2f, 3f, 4f], [4f, 5f, 6f]]]]"},
    {"dyn.image.resize2d([[[[0f, 2f], [4f, 6f]]]], [1, 2], [0f, 0f, 1f, 2f], "
     "coordinate_transformation_mode=\"tf_crop_and_resize\", extrapolation_value=9f)",
     "[[[[2f, 9f]]]]"}};
constexpr Example upsamplingExamples[] = {
    {"dyn.nn.upsampling([[[[1f, 2f]]]], 2f, 1.5f, scale_h=0f, scale_w=0f)",
     "[[[[1f, 1f, 2f], [1f, 1f, 2f]]]]"}};
constexpr Example upsampling3dExamples[] = {
    {"dyn.nn.upsampling3d([[[[[1f, 2f]]]]], 1f, 1f, 2f, scale_d=0f, scale_h=0f, scale_w=0f, "
     "coordinate_transformation_mode=\"asymmetric\")",
     "[[[[[1f, 1f, 2f, 2f]]]]]"}};
constexpr Example padExamples[] = {
    {"dyn.nn.pad([1f, 2f, 3f], [[1, 2]], 9f, pad_width=[])", "[9f, 1f, 2f, 3f, 9f, 9f]"},
    {"dyn.nn.pad([1f, 2f, 3f], [[2, -1]], 9f, pad_width=[], pad_mode=\"reflect\")",
     "[3f, 2f, 1f, 2f]"}};

/// A vector of the number before an entry of another vector, for the one element high pictures that
/// a rule resizes.
Term behind(double first, const Term& vector, int64_t entry) {
  Term part = sliced(vector, 0, entry, entry + 1);
  return concatenated({onesLike(part) * first, part}, 0);
}

/// The matrix `[elements, results]` by which resizing along one dimension multiplies.
Term resizeMatrix(GradientCall& d, const Term& unit, size_t i) {
  std::vector<Setting> settings;
  for (std::string_view name : {"method", "coordinate_transformation_mode", "rounding_method",
                                "cubic_alpha", "cubic_exclude"})
    settings.emplace_back(name, d.attributes().get(name));
  Term roi = d.operand(2), size = behind(1, d.operand(1), int64_t(i));
  if (d.attributes().text("coordinate_transformation_mode") == cropMode)
    roi = concatenated({behind(0, roi, int64_t(i)), behind(0, roi, int64_t(i) + 2)}, 0);
  return squeezed(d.call("dyn.image.resize2d", {expandDims(unit, 2), size, roi}, settings), {0, 2});
}

/// The weights of the neighbours of a coordinate whose fraction is `t`, and their slopes.
struct Weights {
  std::vector<Term> values, slopes;
};

Weights weightsAt(const Sampling& sampling, const Term& t) {
  if (sampling.method == ResizeMethod::Linear)
    return {{1.0 - t, t}, {-onesLike(t), onesLike(t)}};
  double a = sampling.cubicAlpha;
  Term square = t * t, cube = square * t;
  return {{(cube - square * 2.0 + t) * a, cube * (a + 2) - square * (a + 3) + 1.0,
           square * (2 * a + 3) - cube * (a + 2) - t * a, (square - cube) * a},
          {(square * 3.0 - t * 4.0 + 1.0) * a, square * (3 * a + 6) - t * (2 * a + 6),
           t * (4 * a + 6) - square * (3 * a + 6) - a, (t * 2.0 - square * 3.0) * a}};
}

/// How the matrix of one dimension changes with the coordinates at which the results are read: a
/// vector, for a dimension of `count` elements at `places`.
Term slopeMatrix(const Sampling& sampling, const Term& at, const Term& places, const Term& count) {
  Term left = map("floor", at), last = count - 1.0;
  Weights weights = weightsAt(sampling, at - left);
  bool isCubic = sampling.method == ResizeMethod::Cubic;
  std::vector<Term> neighbours;
  for (size_t k = 0; k < weights.values.size(); ++k)
    neighbours.push_back(left + (double(k) - (isCubic ? 1 : 0)));
  if (isCubic && sampling.excludesOutside) {
    std::optional<Term> total, slope;
    for (size_t k = 0; k < neighbours.size(); ++k) {
      Term isInside = neighbours[k] >= 0.0 && neighbours[k] < count;
      Term& value = weights.values[k] = maskedBy(isInside, weights.values[k]);
      Term& change = weights.slopes[k] = maskedBy(isInside, weights.slopes[k]);
      total = total ? *total + value : value;
      slope = slope ? *slope + change : change;
    }
    for (size_t k = 0; k < neighbours.size(); ++k)
      weights.slopes[k] = (weights.slopes[k] - weights.values[k] * *slope / *total) / *total;
  }
  Term isRead = at >= 0.0 && at <= last;
  std::optional<Term> sum;
  for (size_t k = 0; k < neighbours.size(); ++k) {
    Term place = maximum(minimum(neighbours[k], last), zerosLike(at));
    Term part = maskedBy(expandDims(places, 1) == place, maskedBy(isRead, weights.slopes[k]));
    sum = sum ? *sum + part : part;
  }
  return *sum;
}

/// Multiplies along one dimension by a matrix `[elements, results]`.
Term multipliedAlong(const Term& x, size_t axis, const Term& matrix) {
  std::vector<size_t> order = allAxes(x.rank());
  std::swap(order[axis], order.back());
  Term product = x.rule().call("nn.dense", {transposed(x, order), transposed(matrix, {1, 0})},
                               {{"units", AttributeValue{}}});
  return transposed(product, order);
}

/// Gives the region its cotangent: it moves the coordinates, whose slopes are matrices as well.
void giveRegion(GradientCall& d, const std::vector<size_t>& axes) {
  Sampling sampling = resizeSampling(d.attributes());
  if (sampling.method == ResizeMethod::Nearest)
    return give(d, 2, zerosLike(d.operand(2)));
  auto real = [](const Term& a) { return castTo(a, runtime::Float64); };
  Term x = real(d.operand(0)), pull = real(d.cotangent()), roi = real(d.operand(2));
  std::vector<Term> starts, ends;
  for (size_t i = 0; i < 2; ++i) {
    Term other = x;
    size_t across = axes[1 - i];
    Term places = positionsAlong(x, axes[i]), lines = positionsAlong(x, across);
    Term unit = expandDims(real(expandDims(lines, 1) == lines), 0);
    other = multipliedAlong(x, across, resizeMatrix(d, unit, 1 - i));
    Term count = real(extentOf(x, axes[i])), results = real(extentOf(pull, axes[i]));
    Term at = real(positionsAlong(pull, axes[i]));
    Term part =
        where(results > 1.0, at / maximum(results - 1.0, onesLike(results)), onesLike(at) * 0.5);
    Term start = partAt(roi, int64_t(i), 0), end = partAt(roi, int64_t(i) + 2, 0);
    Term coordinates = (start + part * (end - start)) * (count - 1.0);
    Term slopes = slopeMatrix(sampling, coordinates, real(places), count);
    Term moved = summedExcept(multipliedAlong(other, axes[i], slopes) * pull, axes[i]);
    ends.push_back(sumOfAll(moved * part) * (count - 1.0));
    starts.push_back(sumOfAll(moved * (1.0 - part)) * (count - 1.0));
  }
  Term bounds = stacked({starts[0], starts[1], ends[0], ends[1]}, 0);
  give(d, 2, castTo(bounds, d.operand(2).dtype()));
}

void resizeGradient(GradientCall& d) {
  const Attributes& attributes = d.attributes();
  std::vector<size_t> axes = *spatialAxes(attributes.text("layout"), 2);
  Term pull = d.cotangent();
  for (size_t i = 0; i < 2; ++i)
    pull = pulledBackAlong(pull, d.operand(0), axes[i],
                           [&](const Term& unit) { return resizeMatrix(d, unit, i); });
  give(d, 0, castTo(pull, d.operand(0).dtype()));
  if (attributes.text("coordinate_transformation_mode") == cropMode)
    giveRegion(d, axes);
}

template <size_t count>
void upsamplingGradient(GradientCall& d) {
  const Attributes& attributes = d.attributes();
  std::vector<size_t> axes = *spatialAxes(attributes.text("layout"), count);
  std::string_view mode = count == 3 ? "coordinate_transformation_mode" : "align_corners";
  std::vector<Setting> settings{{"scale_h", 1.0},
                                {"scale_w", 1.0},
                                {"method", attributes.get("method")},
                                {mode, attributes.get(mode)}};
  if (count == 3)
    settings.emplace_back("scale_d", 1.0);
  Term pull = d.cotangent();
  for (size_t i = 0; i < count; ++i)
    pull = pulledBackAlong(pull, d.operand(0), axes[i], [&](const Term& unit) {
      // The unit vectors as a picture of the operator's rank that is one element high and deep.
      std::vector<Term> operands{expandDims(unit, 2, count - 1)};
      for (size_t k = 1; k < count; ++k)
        operands.push_back(number(d.operand(k), 1));
      operands.push_back(d.operand(i + 1));
      Term scaled =
          d.call(count == 3 ? "dyn.nn.upsampling3d" : "dyn.nn.upsampling", operands, settings);
      return squeezed(scaled,
                      count == 3 ? std::vector<size_t>{0, 2, 3} : std::vector<size_t>{0, 2});
    });
  give(d, 0, pull);
}

void padGradient(GradientCall& d) {
  Term x = d.operand(0), widths = d.operand(1), value = d.operand(2), pull = d.cotangent();
  auto padded = [&](const Term& a, const Term& by, double fill) {
    return d.call("dyn.nn.pad", {a, by, number(a, fill)}, sameAttributes(d));
  };
  if (d.attributes().text("pad_mode") != "constant") {
    give(d, 0, addedAtPlaces(pull, padded(placesLike(x), widths, 0), x));
    return give(d, 2, zerosLike(value));
  }
  give(d, 0, padded(pull, -castTo(widths, runtime::Int64), 0));
  give(d, 2, castTo(sumOfAll(pull * padded(zerosLike(x), widths, 1)), value.dtype()));
}

constexpr OperatorRow rows[] = {
    {.name = "dyn.image.resize2d",
     .doc = "Resizes pictures to a height and width that are computed.",
     .details = "Positions map as in `image.resize2d`.",
     .operands = resizeOperands,
     .attributes = resize2dAttributes,
     .attributesKey = "relay.attrs.Resize2DAttrs",
     .relation = resizeRelation,
     .compute = computeDynResize,
     .gradient = GradientRule{resizeGradient},
     .examples = resizeExamples,
     .shapeNeeds = ShapeNeeds::Values},
    {.name = "dyn.nn.upsampling",
     .doc = "Scales the height and width of pictures by factors that are computed.",
     .details = "An extent times its factor is rounded, halves up. The rest is as in "
                "`nn.upsampling`.",
     .operands = upsamplingOperands,
     .attributes = upsamplingAttributes,
     .attributesKey = "relay.attrs.UpSamplingAttrs",
     .relation = upsamplingRelation<2>,
     .compute = computeUpsampling<2>,
     .gradient = GradientRule{upsamplingGradient<2>},
     .examples = upsamplingExamples,
     .shapeNeeds = ShapeNeeds::Values},
    {.name = "dyn.nn.upsampling3d",
     .doc = "Scales the depth, height and width of volumes by factors that are computed.",
     .details = "An extent times its factor is rounded, halves up. The rest is as in "
                "`nn.upsampling3d`.",
     .operands = upsampling3dOperands,
     .attributes = upsampling3dAttributes,
     .attributesKey = "relay.attrs.UpSampling3DAttrs",
     .relation = upsamplingRelation<3>,
     .compute = computeUpsampling<3>,
     .gradient = GradientRule{upsamplingGradient<3>},
     .examples = upsampling3dExamples,
     .shapeNeeds = ShapeNeeds::Values},
    {.name = "dyn.nn.pad",
     .doc =
         "Adds elements at the ends of each dimension, or cuts them off, as many as is computed.",
     .details = "The modes are those of `nn.pad`.",
     .operands = padOperands,
     .attributes = padAttributes,
     .attributesKey = "relay.attrs.PadAttrs",
     .relation = padRelation,
     .compute = computePad,
     .gradient = GradientRule{padGradient},
     .examples = padExamples,
     .shapeNeeds = ShapeNeeds::Values},
};

} // namespace

OperatorFamily dynPicturesFamily() {
  return rows;
}

} // namespace stdlib

// Resizing pictures to a given size (image.resize*) or by a factor (nn.upsampling*).
//
// The extents that upsampling gives are rounded in float32, halves to even, as Relay does. Layouts
// may be any that keep the spatial dimensions whole.
#include "stdlib/ops/pictures/resize_rules.h"

#include "runtime/checks/size_value.h"
#include "stdlib/ops/checks.h"
#include "stdlib/ops/common.h"
#include "stdlib/ops/families.h"
#include "stdlib/ops/gradient.h"

#include <bit>
#include <cmath>
#include <fmt/format.h>

namespace stdlib {

namespace {

using namespace lang;

/// The problem of a `roi` that does not fit the coordinates, or nothing.
std::optional<RelationResult> regionProblem(const RelationCall& call, size_t count) {
  size_t given = call.attributes.reals("roi").size();
  bool isUsed = call.attributes.text("coordinate_transformation_mode") == "tf_crop_and_resize";
  if (given == 2 * count || (given == 0 && !isUsed))
    return std::nullopt;
  return call.failed(fmt::format("`roi` must hold {} numbers, but it holds {}", 2 * count, given));
}

template <size_t count>
RelationResult resizeRelation(const RelationCall& call) {
  if (auto problem = resizeChoiceProblem(call))
    return *problem;
  if (auto problem = regionProblem(call, count))
    return *problem;
  auto axes = checkedAxes(call, count);
  if (auto* failure = std::get_if<RelationResult>(&axes))
    return *failure;
  auto size = shapeAttribute(call, "size");
  if (!size || size->size() != count)
    return call.failed(fmt::format("`size` must hold {} extents", count));
  std::vector<const Dim*> shape(call.shape(0).begin(), call.shape(0).end());
  std::vector<DimBound> bounds;
  for (size_t i = 0; i < count; ++i) {
    const Dim*& dim = shape[std::get<0>(axes)[i]];
    if (auto problem = emptyProblem(call, dim, (*size)[i]))
      return *problem;
    bounds.push_back({dim, (*size)[i]->isConstant(0) ? 0 : 1});
    dim = (*size)[i];
  }
  RelationResult result =
      call.solved(shape, call.attributes.dtype("out_dtype").value_or(call.dtype(0)));
  for (const DimBound& bound : bounds)
    requireAtLeast(result, bound.dim, bound.least);
  return result;
}

template <size_t count>
void computeSizedResize(ComputeCall& call) {
  Sampling sampling = resizeSampling(call.attributes());
  for (double bound : call.attributes().reals("roi"))
    sampling.region.push_back(call.number(runtime::Float64, bound));
  computeResize(call, sampling, *spatialAxes(call.attributes().text("layout"), count));
}

/// `dim * scale` rounded; null when the scale is no factor or the result does not fit.
const Dim* scaledExtent(const RelationCall& call, const Dim* dim, double scale) {
  TypeContext& types = call.types;
  if (!(scale > 0) || !std::isfinite(scale))
    return nullptr;
  if (dim->isConstant()) {
    int64_t scaled = 0;
    return checks::scaleRounded(dim->value, float(scale), scaled) ? types.constant(scaled)
                                                                  : nullptr;
  }
  if (scale == std::floor(scale) && scale < 0x1p31)
    return types.multiply(dim, types.constant(int64_t(scale)));
  const Dim* bits = types.constant(std::bit_cast<uint32_t>(float(scale)));
  return call.steps ? call.steps->compute(checks::SizeKind::Scaled, dim, bits) : types.any();
}

template <size_t count>
RelationResult upsamplingRelation(const RelationCall& call) {
  if (auto problem = upsamplingChoiceProblem(call, count))
    return *problem;
  auto axes = checkedAxes(call, count);
  if (auto* failure = std::get_if<RelationResult>(&axes))
    return *failure;
  std::vector<const Dim*> shape(call.shape(0).begin(), call.shape(0).end());
  for (size_t i = 0; i < count; ++i) {
    const Dim*& dim = shape[std::get<0>(axes)[i]];
    double scale = call.attributes.real(scaleNames[3 - count + i]);
    const Dim* scaled = scaledExtent(call, dim, scale);
    if (!scaled)
      return call.failed(fmt::format("a dimension of {} can't be scaled by `{}={}`", dimText(dim),
                                     scaleNames[3 - count + i], scale));
    dim = scaled;
  }
  return call.solved(shape, call.dtype(0));
}

template <size_t count>
void computeUpsampling(ComputeCall& call) {
  computeResize(call, upsamplingSampling(call.attributes(), count),
                *spatialAxes(call.attributes().text("layout"), count));
}

constexpr OperandRow data[] = {{"data", "the pictures"}};

constexpr AttributeRow sizeRow = {"size", AttributeKind::IntList, "None",
                                  "the spatial extents of the result"};
constexpr AttributeRow roiRow = {
    "roi", AttributeKind::FloatList, "None",
    "the part to read for `tf_crop_and_resize`, from 0 to 1: the starts, then the ends"};
constexpr auto resize1dAttributes = resizeAttributes(sizeRow.ofLength(1), roiRow, "\"NCW\"");
constexpr auto resize2dAttributes = resizeAttributes(sizeRow.ofLength(2), roiRow, "\"NCHW\"");
constexpr auto resize3dAttributes = resizeAttributes(sizeRow.ofLength(3), roiRow, "\"NCDHW\"");

constexpr AttributeRow scaleDRow = {"scale_d", AttributeKind::Float, "", "the factor of the depth"};
constexpr AttributeRow scaleHRow = {"scale_h", AttributeKind::Float, "",
                                    "the factor of the height"};
constexpr AttributeRow scaleWRow = {"scale_w", AttributeKind::Float, "", "the factor of the width"};
constexpr AttributeRow upsamplingAttributes[] = {scaleHRow, scaleWRow, layoutRow("\"NCHW\""),
                                                 upsamplingMethodRow, alignRow};
constexpr AttributeRow upsampling3dAttributes[] = {
    scaleDRow, scaleHRow, scaleWRow, layoutRow("\"NCDHW\""), upsampling3dMethodRow, modeRow};

constexpr Example resize1dExamples[] = {
    {"image.resize1d([[[0f, 4f]]], size=[4])", "[[[0f, 1f, 3f, 4f]]]"},
    {"image.resize1d([[[1f, 2f, 3f, 4f]]], size=[2], method=\"nearest_neighbor\", "
     "rounding_method=\"round_prefer_floor\")",
     "[[[1f, 3f]]]"}};
constexpr Example resize2dExamples[] = {
    {"image.resize2d([[[[0f, 2f], [4f, 6f]]]], size=[3, 3], "
     "coordinate_transformation_mode=\"align_corners\")",
     "[[[[0f, 1f, 2f], [2f, 3f, 4f], [4f, 5f, 6f]]]]"},
    {"image.resize2d([[[[0f, 2f], [4f, 6f]]]], size=[1, 2], roi=[0f, 0f, 1f, 2f], "
     "coordinate_transformation_mode=\"tf_crop_and_resize\", extrapolation_value=9f)",
     "[[[[2f, 9f]]]]"}};
constexpr Example resize3dExamples[] = {
    {"image.resize3d([[[[[0f, 4f]], [[8f, 12f]]]]], size=[1, 1, 4])", "[[[[[4f, 5f, 7f, 8f]]]]]"}};
constexpr Example upsamplingExamples[] = {
    {"nn.upsampling([[[[1f, 2f]]]], scale_h=2f, scale_w=2f)",
     "[[[[1f, 1f, 2f, 2f], [1f, 1f, 2f, 2f]]]]"},
    {"nn.upsampling([[[[1f, 3f]]]], scale_h=1f, scale_w=2f, method=\"bilinear\")",
     "[[[[1f, 2f, 3f, 3f]]]]"}};
constexpr Example upsampling3dExamples[] = {
    {"nn.upsampling3d([[[[[1f, 2f]]]]], scale_d=1f, scale_h=1f, scale_w=2f, "
     "coordinate_transformation_mode=\"asymmetric\")",
     "[[[[[1f, 1f, 2f, 2f]]]]]"}};

constexpr std::string_view resizeDetails =
    "The result at position x of n reads the input of m elements at `(x + 0.5) * m / n - 0.5` "
    "(half_pixel; pytorch_half_pixel is 0 when n is 1), `x * (m - 1) / (n - 1)` (align_corners), "
    "`x * m / n` (asymmetric), `(x + 0.5) * m / n` (tf_half_pixel_for_nn) or within `roi` "
    "(tf_crop_and_resize). Neighbours outside the picture are those at its border.";

template <size_t count>
void resizeGradient(GradientCall& d) {
  const Attributes& attributes = d.attributes();
  std::vector<size_t> axes = *spatialAxes(attributes.text("layout"), count);
  std::vector<int64_t> size = attributes.integers("size");
  std::span<const AttributeValue> roi = attributes.get("roi").items;
  Term pull = d.cotangent();
  for (size_t i = 0; i < count; ++i)
    pull = pulledBackAlong(pull, d.operand(0), axes[i], [&](const Term& unit) {
      std::vector<AttributeValue> region;
      if (!roi.empty())
        region = {roi[i], roi[i + count]};
      std::vector<Setting> settings{{"size", std::vector{size[i]}}};
      if (!region.empty())
        settings.emplace_back("roi", listAttribute(region));
      for (std::string_view name : {"method", "coordinate_transformation_mode", "rounding_method",
                                    "cubic_alpha", "cubic_exclude"})
        settings.emplace_back(name, attributes.get(name));
      return squeezed(d.call("image.resize1d", {unit}, settings), {0});
    });
  give(d, 0, castTo(pull, d.operand(0).dtype()));
}

template <size_t count>
void upsamplingGradient(GradientCall& d) {
  const Attributes& attributes = d.attributes();
  std::vector<size_t> axes = *spatialAxes(attributes.text("layout"), count);
  std::string_view mode = count == 3 ? "coordinate_transformation_mode" : "align_corners";
  Term pull = d.cotangent();
  for (size_t i = 0; i < count; ++i)
    pull = pulledBackAlong(pull, d.operand(0), axes[i], [&](const Term& unit) {
      // The unit vectors as a picture of the operator's rank that is one element high and deep.
      std::vector<Setting> settings{{"scale_h", 1.0},
                                    {"scale_w", attributes.get(scaleNames[3 - count + i])},
                                    {"method", attributes.get("method")},
                                    {mode, attributes.get(mode)}};
      if (count == 3)
        settings.emplace_back("scale_d", 1.0);
      Term picture = expandDims(unit, 2, count - 1);
      Term scaled = d.call(count == 3 ? "nn.upsampling3d" : "nn.upsampling", {picture}, settings);
      return squeezed(scaled,
                      count == 3 ? std::vector<size_t>{0, 2, 3} : std::vector<size_t>{0, 2});
    });
  give(d, 0, pull);
}

constexpr OperatorRow rows[] = {
    {.name = "image.resize1d",
     .doc = "Resizes sequences to a given width.",
     .details = resizeDetails,
     .operands = data,
     .attributes = resize1dAttributes,
     .attributesKey = "relay.attrs.Resize1DAttrs",
     .relation = resizeRelation<1>,
     .compute = computeSizedResize<1>,
     .gradient = GradientRule{resizeGradient<1>},
     .examples = resize1dExamples},
    {.name = "image.resize2d",
     .synonyms = "interpolate resize",
     .doc = "Resizes pictures to a given height and width.",
     .details = resizeDetails,
     .operands = data,
     .attributes = resize2dAttributes,
     .attributesKey = "relay.attrs.Resize2DAttrs",
     .relation = resizeRelation<2>,
     .compute = computeSizedResize<2>,
     .gradient = GradientRule{resizeGradient<2>},
     .examples = resize2dExamples},
    {.name = "image.resize3d",
     .doc = "Resizes volumes to a given depth, height and width.",
     .details = resizeDetails,
     .operands = data,
     .attributes = resize3dAttributes,
     .attributesKey = "relay.attrs.Resize3DAttrs",
     .relation = resizeRelation<3>,
     .compute = computeSizedResize<3>,
     .gradient = GradientRule{resizeGradient<3>},
     .examples = resize3dExamples},
    {.name = "nn.upsampling",
     .synonyms = "upsample",
     .doc = "Scales the height and width of pictures.",
     .details = "An extent times its factor is rounded, halves to even. Positions map as in "
                "`image.resize2d` with `align_corners` or `asymmetric`.",
     .operands = data,
     .attributes = upsamplingAttributes,
     .attributesKey = "relay.attrs.UpSamplingAttrs",
     .relation = upsamplingRelation<2>,
     .compute = computeUpsampling<2>,
     .gradient = GradientRule{upsamplingGradient<2>},
     .examples = upsamplingExamples},
    {.name = "nn.upsampling3d",
     .doc = "Scales the depth, height and width of volumes.",
     .operands = data,
     .attributes = upsampling3dAttributes,
     .attributesKey = "relay.attrs.UpSampling3DAttrs",
     .relation = upsamplingRelation<3>,
     .compute = computeUpsampling<3>,
     .gradient = GradientRule{upsamplingGradient<3>},
     .examples = upsampling3dExamples},
};

} // namespace

OperatorFamily resizeFamily() {
  return rows;
}

} // namespace stdlib

// What resizing and upsampling share, by attributes or by data: checks, attributes, gradients.
#pragma once

#include "stdlib/ops/gradient.h"
#include "stdlib/ops/pictures/resize.h"

#include <array>
#include <variant>

namespace stdlib {

inline constexpr std::string_view scaleNames[] = {"scale_d", "scale_h", "scale_w"};

/// The spatial dimensions of a picture in order (`W`, `HW` or `DHW` by their number); a
/// problem when the layout is not one of such pictures.
runtime::Checked<std::vector<size_t>> spatialAxes(std::string_view text, size_t count);

/// The spatial dimensions of the data, or the failure.
std::variant<std::vector<size_t>, lang::RelationResult> checkedAxes(const lang::RelationCall& call,
                                                                    size_t count);

/// The problem of filling `to` elements from none, or nothing.
std::optional<lang::RelationResult> emptyProblem(const lang::RelationCall& call,
                                                 const lang::Dim* from, const lang::Dim* to);

/// The problem of an attribute that names no way to resize, or to scale pictures of `count` spatial
/// dimensions, or nothing.
std::optional<lang::RelationResult> resizeChoiceProblem(const lang::RelationCall& call);
std::optional<lang::RelationResult> upsamplingChoiceProblem(const lang::RelationCall& call,
                                                            size_t count);

/// How attributes say to read between elements; of resizing all but the region.
Sampling resizeSampling(const lang::Attributes& attributes);
Sampling upsamplingSampling(const lang::Attributes& attributes, size_t count);

inline constexpr lang::AttributeRow methodRow = {
    "method", lang::AttributeKind::String, "\"linear\"", "`nearest_neighbor`, `linear` or `cubic`"};
inline constexpr lang::AttributeRow modeRow = {
    "coordinate_transformation_mode", lang::AttributeKind::String, "\"half_pixel\"",
    "how positions of the result map to the input: `half_pixel`, `align_corners`, `asymmetric`, "
    "`pytorch_half_pixel`, `tf_half_pixel_for_nn` or `tf_crop_and_resize`"};
inline constexpr lang::AttributeRow roundingRow = {
    "rounding_method", lang::AttributeKind::String, "\"round\"",
    "which neighbour is nearest: `round`, `round_prefer_floor`, `round_prefer_ceil`, `floor`, "
    "`ceil`; empty means `round` for `align_corners`, else `floor`"};
inline constexpr lang::AttributeRow alphaRow = {"cubic_alpha", lang::AttributeKind::Float, "-0.5f",
                                                "the coefficient of the cubic spline"};
inline constexpr lang::AttributeRow excludeRow = {
    "cubic_exclude", lang::AttributeKind::Int, "0",
    "1 leaves elements outside the picture out of cubic sums"};
inline constexpr lang::AttributeRow extrapolationRow = {
    "extrapolation_value", lang::AttributeKind::Float, "0f",
    "what `tf_crop_and_resize` gives outside the picture"};
inline constexpr lang::AttributeRow outTypeRow = {
    "out_dtype", lang::AttributeKind::DType, "\"\"",
    "the element type of the result; empty means that of the data"};

constexpr lang::AttributeRow layoutRow(std::string_view layout) {
  return {"layout", lang::AttributeKind::String, layout, "the order of the dimensions"};
}

/// The attributes of an operator that resizes to a size.
constexpr std::array<lang::AttributeRow, 10> resizeAttributes(const lang::AttributeRow& size,
                                                              const lang::AttributeRow& roi,
                                                              std::string_view layout) {
  return {size,        roi,      layoutRow(layout), methodRow,        modeRow,
          roundingRow, alphaRow, excludeRow,        extrapolationRow, outTypeRow};
}

inline constexpr lang::AttributeRow upsamplingMethodRow = {
    "method", lang::AttributeKind::String, "\"nearest_neighbor\"",
    "`nearest_neighbor`, `bilinear` or `bicubic`"};
inline constexpr lang::AttributeRow upsampling3dMethodRow = {"method", lang::AttributeKind::String,
                                                             "\"nearest_neighbor\"",
                                                             "`nearest_neighbor` or `trilinear`"};
inline constexpr lang::AttributeRow alignRow = {"align_corners", lang::AttributeKind::Bool, "False",
                                                "whether the corners of input and result coincide"};

/// Pulls a cotangent back along one dimension: the operator is linear in each, so its matrix is
/// what `resize` makes of the unit vectors, which it gets as the rows of `[1, n, n]`.
template <typename Resize>
Term pulledBackAlong(const Term& pull, const Term& x, size_t axis, Resize resize) {
  Term numbers = runningSum(castTo(onesLike(summedExcept(x, axis)), runtime::Int32), 0);
  Term unit = expandDims(castTo(expandDims(numbers, 1) == numbers, pull.dtype()), 0);
  std::vector<size_t> order = allAxes(pull.rank());
  std::swap(order[axis], order.back());
  Term product = pull.rule().call("nn.dense", {transposed(pull, order), resize(unit)},
                                  {{"units", lang::AttributeValue{}}});
  return transposed(product, order);
}

/// Without dimensions of extent 1.
Term squeezed(const Term& a, const std::vector<size_t>& axes);

} // namespace stdlib

// What resizing and upsampling share, by attributes or by data: checks, attributes, gradients.
#include "stdlib/ops/pictures/resize_rules.h"

#include "stdlib/ops/checks.h"
#include "stdlib/ops/layout.h"

#include <fmt/format.h>

namespace stdlib {

using namespace lang;
using runtime::Checked;
using runtime::Problem;

Checked<std::vector<size_t>> spatialAxes(std::string_view text, size_t count) {
  auto layout = parseLayout(text);
  if (!layout)
    return layout.failure();
  std::string letters = std::string("DHW").substr(3 - count);
  Layout plain = *parseLayout("NC" + letters);
  std::vector<size_t> axes;
  bool isWhole = areConvertible(*layout, plain);
  for (char letter : isWhole ? letters : std::string()) {
    isWhole = isWhole && layout->tileOf(letter) == 1;
    axes.push_back(*layout->find(letter));
  }
  if (isWhole)
    return axes;
  return Problem{
      fmt::format("`layout` must order N, C and the whole dimensions {}, as `NC{}` does, but "
                  "it is `{}`",
                  letters, letters, text)};
}

std::variant<std::vector<size_t>, RelationResult> checkedAxes(const RelationCall& call,
                                                              size_t count) {
  std::string_view text = call.attributes.text("layout");
  auto axes = spatialAxes(text, count);
  if (!axes)
    return call.failed(axes.failure());
  size_t rank = parseLayout(text)->rank();
  if (call.rank(0) != rank)
    return call.failedAt(0, words("the layout `{}` has {} dimensions, but the data is `{}`", text,
                                  rank, call.operands[0]));
  return *axes;
}

std::optional<RelationResult> emptyProblem(const RelationCall& call, const Dim* from,
                                           const Dim* to) {
  if (!from->isConstant(0) || !to->isConstant() || to->isConstant(0))
    return std::nullopt;
  return call.failedAt(
      0, words("an empty dimension of `{}` can't be resized to {}", call.operands[0], to->value));
}

std::optional<RelationResult> resizeChoiceProblem(const RelationCall& call) {
  if (!isOneOf(call.attributes.text("method"), {"nearest_neighbor", "linear", "cubic"}))
    return choiceFailure(call, "method", "`nearest_neighbor`, `linear` or `cubic`");
  std::string_view mode = call.attributes.text("coordinate_transformation_mode");
  if (!isCoordinateMode(mode))
    return choiceFailure(call, "coordinate_transformation_mode",
                         "`half_pixel`, `align_corners`, `asymmetric`, `pytorch_half_pixel`, "
                         "`tf_half_pixel_for_nn` or `tf_crop_and_resize`");
  if (!isRoundingMethod(call.attributes.text("rounding_method")))
    return choiceFailure(call, "rounding_method",
                         "`round`, `round_prefer_floor`, `round_prefer_ceil`, `floor`, `ceil` or "
                         "empty");
  return std::nullopt;
}

std::optional<RelationResult> upsamplingChoiceProblem(const RelationCall& call, size_t count) {
  std::string_view method = call.attributes.text("method");
  if (count == 2 && !isOneOf(method, {"nearest_neighbor", "bilinear", "bicubic"}))
    return choiceFailure(call, "method", "`nearest_neighbor`, `bilinear` or `bicubic`");
  if (count == 2)
    return std::nullopt;
  if (!isOneOf(method, {"nearest_neighbor", "trilinear"}))
    return choiceFailure(call, "method", "`nearest_neighbor` or `trilinear`");
  std::string_view mode = call.attributes.text("coordinate_transformation_mode");
  if (!isCoordinateMode(mode) || mode == "tf_crop_and_resize")
    return choiceFailure(call, "coordinate_transformation_mode",
                         "`half_pixel`, `align_corners`, `asymmetric`, `pytorch_half_pixel` or "
                         "`tf_half_pixel_for_nn`");
  return std::nullopt;
}

Sampling resizeSampling(const Attributes& attributes) {
  return {.method = *resizeMethod(attributes.text("method")),
          .coordinates = attributes.text("coordinate_transformation_mode"),
          .rounding = attributes.text("rounding_method"),
          .cubicAlpha = attributes.real("cubic_alpha"),
          .excludesOutside = attributes.integer("cubic_exclude") != 0,
          .extrapolation = attributes.real("extrapolation_value")};
}

Sampling upsamplingSampling(const Attributes& attributes, size_t count) {
  Sampling sampling{.method = *resizeMethod(attributes.text("method"))};
  if (count == 3)
    sampling.coordinates = attributes.text("coordinate_transformation_mode");
  else
    sampling.coordinates = attributes.boolean("align_corners") ? "align_corners" : "asymmetric";
  return sampling;
}

Term squeezed(const Term& a, const std::vector<size_t>& axes) {
  return a.rule().call("squeeze", {a}, {{"axis", axes}});
}

} // namespace stdlib

// The gradients of the normalisations, as texts of the language.
#include "stdlib/ops/norm_gradients.h"

#include "stdlib/ops/checks.h"

#include <algorithm>
#include <fmt/format.h>

namespace stdlib {

using lang::Dim;
using lang::RelationCall;

namespace {

struct NormText {
  size_t rank, axis;
  bool scales, shifts;

  explicit NormText(const RelationCall& call)
      : rank(call.rank(0)), axis(*call.normalAxis(call.attributes.integer("axis"), rank)),
        scales(call.attributes.boolean("scale")), shifts(call.attributes.boolean("center")) {}

  /// A vector operand, shaped to broadcast along `axis`.
  std::string along(std::string_view vector) const { return alongAxisText(vector, axis, rank); }
  /// `text` summed over all dimensions but `axis`.
  std::string summed(std::string_view text) const { return summedExceptText(text, axis, rank); }
  std::string betaGradient(std::string_view cotangent) const {
    return shifts ? summed(cotangent) : "zeros_like(%beta)";
  }
};

/// The gradient of a norm that averages over `axes` of `%data`, which `shaped` turns into the
/// tensor that is averaged over, such as `reshape({}, newshape=...)`.
std::string normGradient(const RelationCall& call, std::string_view axes, std::string_view shaped) {
  NormText text(call);
  auto view = [&](std::string_view of) { return fmt::format(fmt::runtime(shaped), of); };
  std::string scaled =
      text.scales ? fmt::format("%cotangent * {}", text.along("%gamma")) : "%cotangent";
  std::string average = fmt::format("axis=[{}], keepdims=True)", axes);
  return fmt::format(
      "let %view = {}; "
      "let %centered = %view - mean(%view, {}; "
      "let %root = sqrt(mean(%centered * %centered, {} + cast_like($epsilon, %data)); "
      "let %unit = %centered / %root; "
      "let %grow = {}; "
      "(reshape_like((%grow - mean(%grow, {} - %unit * mean(%grow * %unit, {}) / %root, %data), "
      "{}, {})",
      view("%data"), average, average, view(scaled), average, average,
      text.scales ? text.summed("%cotangent * reshape_like(%unit, %data)") : "zeros_like(%gamma)",
      text.betaGradient("%cotangent"));
}

/// `of` summed over windows of `size` along `axis`: a difference of two running sums, cut out of
/// the one over the zero-padded tensor.
std::string windowSum(std::string_view of, size_t rank, size_t axis, int64_t size) {
  std::string pads;
  for (size_t i = 0; i < rank; ++i)
    pads += fmt::format("{}[{}, {}]", i ? ", " : "", i == axis ? size / 2 + 1 : 0,
                        i == axis ? size / 2 : 0);
  return fmt::format(
      "let %running = cumsum(nn.pad({}, cast_like(0f, %data), pad_width=[{}]), "
      "axis={}, attrs_type_key=\"relay.attrs.ScanopAttrs\"); "
      "strided_slice(%running, begin=[{}], end=[2147483647], strides=[1], axes=[{}]) - "
      "strided_slice(%running, begin=[0], end=[{}], strides=[1], axes=[{}])",
      of, pads, axis, size, axis, -size, axis);
}

} // namespace

std::string batchNormGradient(const RelationCall& call) {
  NormText text(call);
  std::string gamma = text.scales ? "%gamma" : "ones_like(%gamma)";
  return fmt::format(
      "let %grow = %cotangent.0; "
      "let %root = sqrt(%moving_var + cast_like($epsilon, %moving_var)); "
      "let %scale = {} / %root; "
      "let %total = {}; "
      "let %weighted = {}; "
      "(%grow * {}, {}, {}, %cotangent.1 - %total * %scale, "
      "%cotangent.2 - %weighted * %scale / ((%moving_var + cast_like($epsilon, %moving_var)) * "
      "cast_like(2f, %moving_var)))",
      gamma, text.summed("%grow"),
      text.summed(fmt::format("%grow * (%data - {})", text.along("%moving_mean"))),
      text.along("%scale"), text.scales ? "%weighted / %root" : "zeros_like(%gamma)",
      text.shifts ? "%total" : "zeros_like(%beta)");
}

std::string layerNormGradient(const RelationCall& call) {
  return normGradient(call, std::to_string(NormText(call).axis), "{}");
}

std::string instanceNormGradient(const RelationCall& call) {
  NormText text(call);
  std::string axes;
  for (size_t i = 1; i < text.rank; ++i)
    if (i != text.axis)
      axes += (axes.empty() ? "" : ", ") + std::to_string(i);
  // All dimensions but the batch and the channels are at least one, as the rank is at least 3.
  return normGradient(call, axes, "{}");
}

std::string groupNormGradient(const RelationCall& call) {
  NormText text(call);
  std::string shape, axes;
  for (size_t i = 0; i < text.axis; ++i)
    shape += "0, ";
  shape += fmt::format("-4, {}, -1, -2", call.attributes.integer("num_groups"));
  for (size_t i = text.axis + 1; i <= text.rank; ++i)
    axes += (axes.empty() ? "" : ", ") + std::to_string(i);
  return normGradient(call, axes, fmt::format("reshape({{}}, newshape=[{}])", shape));
}

std::string l2NormalizeGradient(const RelationCall& call) {
  std::string axes;
  for (int64_t axis : call.attributes.integers("axis"))
    axes += (axes.empty() ? "" : ", ") + std::to_string(axis);
  std::string sum = fmt::format("axis=[{}], keepdims=True)", axes);
  return fmt::format(
      "let %squares = sum(%data * %data, {}; "
      "let %least = cast_like($eps, %data); "
      "let %norm = sqrt(maximum(%squares, %least)); "
      "let %pull = %data * sum(%cotangent * %data, {} / (%norm * %norm * %norm); "
      "%cotangent / %norm - where(greater(%squares, %least), %pull, zeros_like(%data))",
      sum, sum);
}

std::string lrnGradient(const RelationCall& call) {
  size_t rank = call.rank(0);
  size_t axis = *call.normalAxis(call.attributes.integer("axis"), rank);
  const Dim* extent = call.shape(0)[axis];
  int64_t size = call.attributes.integer("size");
  int64_t half = extent->isConstant() ? std::min(size / 2, extent->value) : size / 2;
  // The window is symmetric, so the adjoint of summing over it is the same sum.
  return fmt::format(
      "let %rate = cast_like($alpha, %data) / cast_like({}f, %data); "
      "let %base = cast_like($bias, %data) + %rate * ({}); "
      "let %share = %cotangent * power(%base, negative(cast_like($beta, %data))); "
      "let %pull = ({}); "
      "%share - cast_like(2f, %data) * cast_like($beta, %data) * %rate * %data * %pull",
      size, windowSum("%data * %data", rank, axis, 2 * half + 1),
      windowSum("%share * %data / %base", rank, axis, 2 * half + 1));
}

} // namespace stdlib

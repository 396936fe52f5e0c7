// Dense layers whose weight was packed beforehand, and the transform between packed layouts.
//
// A packed weight has its units in tiles, `[N / n, C, n]`, and perhaps its features too,
// `[N / n, C / c, n, c]`.
#include "stdlib/ops/checks.h"
#include "stdlib/ops/conv/conv_call.h"
#include "stdlib/ops/conv/dense_forms.h"
#include "stdlib/ops/families.h"
#include "stdlib/ops/fixes.h"
#include "stdlib/ops/gradient.h"

#include <algorithm>
#include <fmt/format.h>

namespace stdlib {

using runtime::Checked;
using runtime::Problem;

using namespace lang;

RelationResult packedDenseRelation(const RelationCall& call) {
  if (call.rank(0) != 2)
    return call.failedAt(0, fmt::format("`data` must have 2 dimensions, but its shape is `{}`",
                                        shapeText(call.shape(0))));
  Dims weight = call.shape(1);
  if (weight.size() != 3 && weight.size() != 4)
    return call.failedAt(1, fmt::format("`weight` must have 3 or 4 dimensions, but its shape is "
                                        "`{}`",
                                        shapeText(weight)));
  if (auto problem = requireLikeNumbers(call))
    return *problem;
  TypeContext& types = call.types;
  const Dim* features = weight.size() == 4 ? types.multiply(weight[1], weight[3]) : weight[1];
  if (call.differ(call.shape(0)[1], features))
    return call.failedOn({{1, 1}, {0, 1}},
                         fmt::format("the features differ: {} of `data` and {} of `weight`",
                                     dimText(call.shape(0)[1]), dimText(features)));
  const Dim* units = types.multiply(weight[0], weight[2]);
  if (!call.attributes.isNull("units") &&
      call.differ(units, types.constant(call.attributes.integer("units"))))
    return call.failedOn({{1, 0}, {1, 2}},
                         fmt::format("`units` is {}, but `weight` makes {}",
                                     call.attributes.integer("units"), dimText(units)));
  return call.solved({call.shape(0)[0], units},
                     call.attributes.dtype("out_dtype").value_or(call.dtype(0)));
}

void packedDenseResult(ComputeCall& call, TensorHandle data, TensorHandle weight) {
  bool isTiled = weight.rank() == 4;
  Scalar tile = weight.extent(2), inner = isTiled ? weight.extent(3) : call.integer(1);
  // One loop over units, one over the units of a tile, so that no index is divided.
  Extents apart{data.extent(0), weight.extent(0), tile};
  TensorHandle result = call.define(apart, [&](const Position& at) {
    return call.sumOver({weight.extent(1), inner}, [&](const Position& k) {
      Position from{at[1], k[0], at[2]};
      if (isTiled)
        from.push_back(k[1]);
      return cast(data({at[0], k[0] * inner + k[1]}), call.outputDType()) *
             cast(weight(from), call.outputDType());
    });
  });
  call.result(call.reshape(result, call.outputShape()));
}

namespace {

void computeDense(ComputeCall& call) {
  packedDenseResult(call, call.input(0), call.input(1));
}

/// A packed weight as a matrix `[units, features]`.
Term unpacked(const Term& weight) {
  if (weight.rank() == 3)
    return reshaped(transposed(weight, {0, 2, 1}), {-3, 0});
  return reshaped(transposed(weight, {0, 2, 1, 3}), {-3, -3});
}

/// A matrix packed like `weight`.
Term packedLike(const Term& matrix, const Term& weight) {
  std::vector<size_t> order{0, 2, 1};
  if (weight.rank() == 4)
    order.push_back(3);
  return transposed(reshapedLike(matrix, transposed(weight, order)), order);
}

void denseGradient(GradientCall& d) {
  Term g = d.cotangent(), data = castTo(d.operand(0), g.dtype());
  Term weight = castTo(d.operand(1), g.dtype());
  auto product = [&](const Term& a, const Term& b, bool transposes) {
    return d.call("nn.matmul", {a, b}, {{"units", AttributeValue{}}, {"transpose_a", transposes}});
  };
  give(d, 0, castTo(product(g, unpacked(weight), false), d.operand(0).dtype()));
  give(d, 1, castTo(packedLike(product(g, data, true), weight), d.operand(1).dtype()));
}

/// A layout as the auto-scheduler writes it: an extent and a name for each dimension. A name that
/// occurs more than once is that of an axis in parts, the outermost first.
struct ScheduleLayout {
  std::vector<std::string> names;
  std::vector<int64_t> extents;

  /// The product of the extents of an axis; 1 when there is none.
  int64_t extentOf(std::string_view name) const {
    int64_t product = 1;
    for (size_t i = 0; i < names.size(); ++i)
      if (names[i] == name && __builtin_mul_overflow(product, extents[i], &product))
        return -1;
    return product;
  }
};

constexpr int64_t largestExtent = int64_t(1) << 31;

Checked<ScheduleLayout> readLayoutText(std::string_view text) {
  auto isDigit = [](char c) { return c >= '0' && c <= '9'; };
  auto isLetter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  ScheduleLayout layout;
  size_t at = 0;
  while (at < text.size()) {
    int64_t extent = 0;
    for (; at < text.size() && isDigit(text[at]) && extent <= largestExtent; ++at)
      extent = extent * 10 + (text[at] - '0');
    size_t name = at;
    while (at < text.size() && isLetter(text[at]))
      ++at;
    if (extent < 1 || extent > largestExtent || name == at)
      break;
    layout.extents.push_back(extent);
    layout.names.emplace_back(text.substr(name, at - name));
  }
  if (at < text.size() || layout.names.empty())
    return Problem{fmt::format("`{}` is not a layout: expected extents up to {}, each with the "
                               "name of its axis, as in `8N4C4n`",
                               text, largestExtent)};
  return layout;
}

struct ScheduleLayouts {
  ScheduleLayout from, to;
};

/// The layouts of a call; they must have the same axes.
Checked<ScheduleLayouts> readLayouts(const Attributes& attributes) {
  auto from = readLayoutText(attributes.text("src_layout"));
  if (!from)
    return from.failure();
  auto to = readLayoutText(attributes.text("dst_layout"));
  if (!to)
    return to.failure();
  for (const ScheduleLayout* layout : {&*from, &*to})
    for (const std::string& name : layout->names)
      if (from->extentOf(name) < 1 || from->extentOf(name) != to->extentOf(name))
        return Problem{fmt::format("the layouts `{}` and `{}` differ in the extent of axis `{}`",
                                   attributes.text("src_layout"), attributes.text("dst_layout"),
                                   name)};
  for (const std::string& name : from->names)
    if (std::ranges::count(from->names, name) != 1)
      return Problem{fmt::format("`src_layout` is `{}`, which has axis `{}` in parts",
                                 attributes.text("src_layout"), name)};
  return ScheduleLayouts{*from, *to};
}

RelationResult relateLayout(const RelationCall& call) {
  auto layouts = readLayouts(call.attributes);
  if (!layouts)
    return call.failed(layouts.failure());
  const std::vector<int64_t>& extents = layouts->from.extents;
  bool fits = call.rank(0) == extents.size();
  for (size_t i = 0; fits && i < extents.size(); ++i)
    fits = !cannotBe(call, call.shape(0)[i], extents[i]);
  if (!fits)
    return call.failedAt(0,
                         fmt::format("`data` must have the extents of `src_layout`, `{}`, but "
                                     "its shape is `{}`",
                                     call.attributes.text("src_layout"), shapeText(call.shape(0))));
  std::vector<const Dim*> shape;
  for (int64_t extent : layouts->to.extents)
    shape.push_back(call.types.constant(extent));
  return call.solved(shape, call.dtype(0));
}

void computeLayout(ComputeCall& call) {
  ScheduleLayouts layouts = *readLayouts(call.attributes());
  TensorHandle data = call.input(0);
  call.result([&](const Position& at) {
    Position from;
    for (const std::string& name : layouts.from.names) {
      Scalar index = call.integer(0);
      for (size_t i = 0; i < at.size(); ++i)
        if (layouts.to.names[i] == name)
          index = index * double(layouts.to.extents[i]) + at[i];
      from.push_back(index);
    }
    return data(from);
  });
}

void layoutGradient(GradientCall& d) {
  Term x = d.operand(0);
  Term places = d.call("auto_scheduler_layout_transform", {placesLike(x)}, sameAttributes(d));
  give(d, 0, addedAtPlaces(d.cotangent(), places, x));
}

constexpr OperandRow denseOperands[] = {
    {"data", "rows of features"},
    {"weight", "the packed weight, `[N / n, C, n]` or `[N / n, C / c, n, c]`"},
};
constexpr OperandRow layoutOperands[] = {{"data", "any tensor of known shape"}};

constexpr AttributeRow denseAttributes[] = {
    {"units", AttributeKind::Int, "", "columns of the result; None takes them from the weight",
     true},
    {"out_dtype", AttributeKind::DType, "\"\"",
     "element type of sum and result; that of the first operand if empty"},
};
constexpr AttributeRow layoutAttributes[] = {
    {"src_layout", AttributeKind::String, "", "extents and names of the dimensions of the data"},
    {"dst_layout", AttributeKind::String, "",
     "extents and names of the dimensions of the result; a name that comes again is that of an "
     "inner part"},
};

constexpr Example denseExamples[] = {
    {"nn.contrib_dense_pack([[1f, 2f]], [[[3f, 5f], [4f, 6f]]], units=None)", "[[11f, 17f]]"},
    {"nn.contrib_dense_pack([[1f, 2f, 3f, 4f]], [[[[1f, 10f]], [[100f, 1000f]]]], units=1)",
     "[[4321f]]"},
};
constexpr Example layoutExamples[] = {
    {"auto_scheduler_layout_transform([[1f, 2f, 3f, 4f], [5f, 6f, 7f, 8f]], "
     "src_layout=\"2i4j\", dst_layout=\"2j2i2j\")",
     "[[[1f, 2f], [5f, 6f]], [[3f, 4f], [7f, 8f]]]"},
};

constexpr OperatorRow rows[] = {
    {
        .name = "nn.contrib_dense_pack",
        .doc = "Multiplies rows of features with a matrix of weights that was packed beforehand.",
        .details = "Unit x * n + i has the weights at `[x, :, i]`. Of four dimensions the last is "
                   "the inner part of the features. Both operands are converted to `out_dtype` "
                   "first.",
        .operands = denseOperands,
        .attributes = denseAttributes,
        .attributesKey = "relay.attrs.DenseAttrs",
        .relation = packedDenseRelation,
        .compute = computeDense,
        .gradient = GradientRule{denseGradient},
        .examples = denseExamples,
    },
    {
        .name = "auto_scheduler_layout_transform",
        .doc = "Moves the elements of a tensor to another layout, as the auto-scheduler writes it.",
        .details = "A layout is an extent and a name for each dimension, such as `2N4C16n`. The "
                   "position along an axis of the data is read from the dimensions of the result "
                   "that have its very name, the outermost first.",
        .operands = layoutOperands,
        .attributes = layoutAttributes,
        .attributesKey = "relay.attrs.AutoSchedulerLayoutTransformAttrs",
        .relation = relateLayout,
        .compute = computeLayout,
        .gradient = GradientRule{layoutGradient},
        .examples = layoutExamples,
    },
};

} // namespace

OperatorFamily packedWeightsFamily() {
  return rows;
}

} // namespace stdlib

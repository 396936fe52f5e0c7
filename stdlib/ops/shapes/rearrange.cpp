// Operators that move the elements of one tensor: reversals, layouts, sliding windows.
//
// `layout_transform` pads tiles that are not full with zeros, and transforming back keeps the
// padding.
#include "stdlib/ops/checks.h"
#include "stdlib/ops/common.h"
#include "stdlib/ops/families.h"
#include "stdlib/ops/fixes.h"
#include "stdlib/ops/layout.h"
#include "stdlib/ops/shape_rules.h"
#include "stdlib/ops/simplify.h"

#include <algorithm>
#include <fmt/format.h>

namespace stdlib {

using runtime::Checked;
using runtime::Problem;

namespace {

using namespace lang;

RelationResult reverseRelation(const RelationCall& call) {
  if (call.attributes.isNull("axis"))
    return mended(call.failed("`axis` is missing"), {"`axis` is the dimension to turn round"});
  int64_t axis = call.attributes.integer("axis");
  if (!call.normalAxis(axis, call.rank(0)))
    return axisFailure(call, "axis", axis);
  return sameAsFirst(call);
}

RelationResult reverseSequenceRelation(const RelationCall& call) {
  for (std::string_view name : {"seq_axis", "batch_axis"})
    if (!call.normalAxis(call.attributes.integer(name), call.rank(0)))
      return axisFailure(call, name, call.attributes.integer(name));
  if (call.rank(1) != 1 || !call.dtype(1).isInteger())
    return call.failedAt(
        1, words("`seq_lengths` must be a vector of integers, but it is `{}`", call.operands[1]));
  const Dim* batch =
      call.shape(0)[*call.normalAxis(call.attributes.integer("batch_axis"), call.rank(0))];
  if (!call.meetDims(batch, call.shape(1)[0]))
    return call.failedOn(
        {{1, 0}, {0, *call.normalAxis(call.attributes.integer("batch_axis"), call.rank(0))}},
        fmt::format("`seq_lengths` has {} entries for a batch of {}", dimText(call.shape(1)[0]),
                    dimText(batch)));
  return sameAsFirst(call);
}

/// The two layouts of `layout_transform`.
Checked<std::pair<Layout, Layout>> layoutsOf(const Attributes& attributes) {
  auto from = parseLayout(attributes.text("src_layout"));
  if (!from)
    return from.failure();
  auto to = parseLayout(attributes.text("dst_layout"));
  if (!to)
    return to.failure();
  if (!areConvertible(*from, *to))
    return Problem{fmt::format("the layouts `{}` and `{}` have different axes", layoutText(*from),
                               layoutText(*to))};
  return std::pair(*from, *to);
}

RelationResult layoutTransformRelation(const RelationCall& call) {
  auto layouts = layoutsOf(call.attributes);
  if (!layouts)
    return call.failed(layouts.failure());
  auto shape = convertShape(call.types, layouts->first, layouts->second, call.shape(0));
  return shape ? call.solved(*shape, call.dtype(0)) : call.failedAt(0, shape.failure());
}

RelationResult slidingWindowRelation(const RelationCall& call) {
  int64_t given = call.attributes.integer("axis");
  auto axis = call.normalAxis(given, call.rank(0));
  if (!axis)
    return axisFailure(call, "axis", given);
  std::vector<int64_t> window = call.attributes.integers("window_shape");
  std::vector<int64_t> strides = call.attributes.integers("strides");
  if (window.size() != call.rank(0) - *axis || strides.size() != window.size())
    return call.failed(fmt::format(
        "`window_shape` [{}] and `strides` [{}] must have {} entries, one "
        "per dimension from axis {}",
        fmt::join(window, ", "), fmt::join(strides, ", "), call.rank(0) - *axis, *axis));
  DimVector shape(call.shape(0).begin(), call.shape(0).begin() + ptrdiff_t(*axis));
  for (size_t i = 0; i < window.size(); ++i) {
    const Dim* extent = call.shape(0)[*axis + i];
    if (window[i] < 1 || strides[i] < 1 || window[i] > INT32_MAX || strides[i] > INT32_MAX)
      return call.failed(fmt::format("a window of {} with stride {}, but both must be positive",
                                     window[i], strides[i]));
    // A window beyond the data has no places; more than a stride beyond, less than none.
    if (extent->isConstant() && extent->value < window[i] - strides[i])
      return call.failed(
          fmt::format("a window of {} is larger than dimension {} of the shape `{}` by more "
                      "than its stride of {}",
                      window[i], *axis + i, shapeText(call.shape(0)), strides[i]));
    const Dim* room = call.types.add(extent, call.types.constant(strides[i] - window[i]));
    shape.push_back(call.types.floorDivide(room, strides[i]));
  }
  for (int64_t extent : window)
    shape.push_back(call.types.constant(extent));
  RelationResult result = call.solved(shape, call.dtype(0));
  for (size_t i = 0; i < window.size(); ++i)
    requireAtLeast(result, call.shape(0)[*axis + i], std::max<int64_t>(window[i] - strides[i], 0));
  return result;
}

void computeReverse(ComputeCall& call) {
  TensorHandle x = call.input(0);
  size_t axis = call.axis("axis", x.rank());
  call.result([&](const Position& at) {
    return x(replaceAt(at, axis, x.extent(axis) - at[axis] - call.integer(1)));
  });
}

void computeReverseSequence(ComputeCall& call) {
  TensorHandle x = call.input(0), lengths = call.input(1);
  size_t along = call.axis("seq_axis", x.rank()), batch = call.axis("batch_axis", x.rank());
  call.result([&](const Position& at) {
    Scalar length = minimum(cast(lengths({at[batch]}), runtime::Int64), x.extent(along));
    Scalar mirrored = length - at[along] - call.integer(1);
    return x(replaceAt(at, along, select(at[along] < length, mirrored, at[along])));
  });
}

void computeLayoutTransform(ComputeCall& call) {
  TensorHandle x = call.input(0);
  auto [from, to] = *layoutsOf(call.attributes());
  Extents back = convertExtents(to, from, call.outputShape());
  bool padded = false;
  for (size_t i = 0; i < back.size(); ++i)
    padded |= !surelyEqual(back[i], x.extent(i));
  call.result([&, &source = from, &target = to](const Position& at) {
    Position place = convertPosition(target, source, at);
    return padded ? x.orElse(place, call.number(x.dtype(), 0)) : x(place);
  });
}

void computeSlidingWindow(ComputeCall& call) {
  TensorHandle x = call.input(0);
  size_t axis = call.axis("axis", x.rank());
  std::vector<int64_t> strides = call.attributes().integers("strides");
  call.result([&](const Position& at) {
    Position from(at.begin(), at.begin() + ptrdiff_t(axis));
    for (size_t i = axis; i < x.rank(); ++i)
      from.push_back(at[i] * call.integer(strides[i - axis]) + at[i + x.rank() - axis]);
    return x(from);
  });
}

constexpr OperandRow data[] = {{"data", "the input"}};
constexpr OperandRow sequence[] = {{"data", "the input"},
                                   {"seq_lengths", "how many entries of each batch to reverse"}};

constexpr AttributeRow reverseAttributes[] = {
    {"axis", AttributeKind::Int, "None", "the dimension to turn round", true}};
constexpr AttributeRow reverseSequenceAttributes[] = {
    {"seq_axis", AttributeKind::Int, "1", "the dimension to turn round", false, true},
    {"batch_axis", AttributeKind::Int, "0", "the dimension that `seq_lengths` is about", false,
     true}};
constexpr AttributeRow layoutAttributes[] = {
    {"src_layout", AttributeKind::String, "", "the layout of the data"},
    {"dst_layout", AttributeKind::String, "", "the layout of the result"}};
constexpr AttributeRow windowAttributes[] = {
    {"axis", AttributeKind::Int, "", "the first dimension that windows slide along"},
    {"window_shape", AttributeKind::IntList, "", "the extents of a window"},
    {"strides", AttributeKind::IntList, "", "the distances between windows"}};

constexpr Example reverseExamples[] = {
    {"reverse([[1f, 2f], [3f, 4f]], axis=1)", "[[2f, 1f], [4f, 3f]]"}};
constexpr Example reverseSequenceExamples[] = {
    {"reverse_sequence([[1f, 2f, 3f], [4f, 5f, 6f]], [2, 3])", "[[2f, 1f, 3f], [6f, 5f, 4f]]"}};
constexpr Example layoutExamples[] = {
    {"layout_transform([[1f, 2f, 3f, 4f]], src_layout=\"NC\", dst_layout=\"NC2c\")",
     "[[[1f, 2f], [3f, 4f]]]"},
    {"layout_transform([[1f, 2f, 3f]], src_layout=\"NC\", dst_layout=\"CN2c\")",
     "[[[1f, 2f]], [[3f, 0f]]]"}};
constexpr Example windowExamples[] = {
    {"sliding_window([1f, 2f, 3f, 4f], axis=0, window_shape=[2], strides=[2])",
     "[[1f, 2f], [3f, 4f]]"}};

void reverseGradient(GradientCall& d) {
  give(d, 0, d.call("reverse", {d.cotangent()}, sameAttributes(d)));
}

/// Turning each sequence round is its own inverse, unless it runs along the batch.
void reverseSequenceGradient(GradientCall& d) {
  auto turned = [&](const Term& a) {
    return d.call("reverse_sequence", {a, d.operand(1)}, sameAttributes(d));
  };
  Term x = d.operand(0);
  if (d.axis("seq_axis", x.rank()) != d.axis("batch_axis", x.rank()))
    return give(d, 0, turned(d.cotangent()));
  give(d, 0, addedAtPlaces(d.cotangent(), turned(placesLike(x)), x));
}

void layoutTransformGradient(GradientCall& d) {
  auto [from, to] = *layoutsOf(d.attributes());
  Term back = d.call("layout_transform", {d.cotangent()},
                     {{"src_layout", layoutText(to)}, {"dst_layout", layoutText(from)}});
  give(d, 0, slicedLike(back, d.operand(0), allAxes(back.rank())));
}

void slidingWindowGradient(GradientCall& d) {
  Term x = d.operand(0);
  Term places = d.call("sliding_window", {placesLike(x)}, sameAttributes(d));
  give(d, 0, addedAtPlaces(d.cotangent(), places, x));
}

void simplifyReverse(SimplifyCall& s) {
  auto axisOf = [&](const Attributes& attributes) {
    int64_t axis = attributes.integer("axis");
    return axis < 0 ? axis + int64_t(s.operand(0).rank()) : axis;
  };
  if (becomesZeros(s))
    return;
  auto inner = s.madeBy(s.operand(0), "reverse");
  if (inner && axisOf(*inner->attributes) == axisOf(s.attributes()))
    s.becomesIfTyped(inner->operands[0]);
}

/// The layout that the data has, or had before a transform that padded nothing.
void simplifyLayout(SimplifyCall& s) {
  auto [from, to] = *layoutsOf(s.attributes());
  if (from == to) {
    s.becomesIfTyped(s.operand(0));
    return;
  }
  auto inner = s.madeBy(s.operand(0), "layout_transform");
  if (!inner || !isStatic(s.operand(0).shape()))
    return;
  Term source = inner->operands[0];
  auto [first, second] = *layoutsOf(*inner->attributes);
  bool isBack = first == to && second == from && isStatic(source.shape());
  auto count = [](Dims shape) { return runtime::elementCount(extentsOf(shape)); };
  if (isBack && count(source.shape()) == count(s.operand(0).shape()))
    s.becomesIfTyped(source);
}

constexpr SimplifyExample reverseSimpler[] = {{"reverse(reverse(%x, axis=1), axis=-1)", "%x"}};
constexpr SimplifyExample layoutSimpler[] = {
    {"layout_transform(%x, src_layout=\"NC\", dst_layout=\"NC\")", "%x"},
    {"layout_transform(layout_transform(%x, src_layout=\"NC\", dst_layout=\"NC3c\"), "
     "src_layout=\"NC3c\", dst_layout=\"NC\")",
     "%x"}};

constexpr OperatorRow rows[] = {
    {.name = "reverse",
     .synonyms = "flip rev",
     .doc = "Turns a dimension round.",
     .operands = data,
     .attributes = reverseAttributes,
     .attributesKey = "relay.attrs.ReverseAttrs",
     .relation = reverseRelation,
     .compute = computeReverse,
     .gradient = GradientRule{reverseGradient},
     .simplify = {simplifyReverse, reverseSimpler},
     .examples = reverseExamples},
    {.name = "reverse_sequence",
     .doc = "Turns the first entries of each sequence in a batch round.",
     .details = "Lengths above the extent count as the extent; those below 1 reverse nothing.",
     .operands = sequence,
     .attributes = reverseSequenceAttributes,
     .attributesKey = "relay.attrs.ReverseSequenceAttrs",
     .relation = reverseSequenceRelation,
     .compute = computeReverseSequence,
     .gradient = GradientRule{reverseSequenceGradient},
     .examples = reverseSequenceExamples},
    {.name = "layout_transform",
     .doc = "Moves the data from one layout to another.",
     .details =
         "A capital letter is an axis, a number with the small letter an inner tile of it, as "
         "in `NCHW16c`. Tiles that are not full are padded with zeros.",
     .operands = data,
     .attributes = layoutAttributes,
     .attributesKey = "relay.attrs.LayoutTransformAttrs",
     .relation = layoutTransformRelation,
     .compute = computeLayoutTransform,
     .gradient = GradientRule{layoutTransformGradient},
     .simplify = {simplifyLayout, layoutSimpler},
     .examples = layoutExamples},
    {.name = "sliding_window",
     .synonyms = "unfold im2col",
     .doc = "Lays out every window of a tensor.",
     .details = "The windows slide along the dimensions from `axis` on; their places replace those "
                "dimensions in the result, and the dimensions of a window follow at the end.",
     .operands = data,
     .attributes = windowAttributes,
     .attributesKey = "relay.attrs.SlidingWindowAttrs",
     .relation = slidingWindowRelation,
     .compute = computeSlidingWindow,
     .gradient = GradientRule{slidingWindowGradient},
     .examples = windowExamples},
};

} // namespace

OperatorFamily rearrangeFamily() {
  return rows;
}

} // namespace stdlib

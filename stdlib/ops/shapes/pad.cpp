// Padding, dilation and the fifo buffer.
#include "stdlib/ops/shapes/pad.h"
#include "stdlib/ops/checks.h"
#include "stdlib/ops/common.h"
#include "stdlib/ops/families.h"
#include "stdlib/ops/gradient.h"
#include "stdlib/ops/shape_fixes.h"

#include <fmt/format.h>

namespace stdlib {

namespace {

using namespace lang;

RelationResult padRelation(const RelationCall& call) {
  if (auto problem = requirePadMode(call))
    return *problem;
  if (auto problem = requireScalar(call, 1, "pad_val"))
    return *problem;
  return paddedType(call, *padMode(call.attributes.text("pad_mode")),
                    call.attributes.integerLists("pad_width"), true);
}

Fix fixPad(const RelationCall& call) {
  return padWidthFix(call, padRelation);
}

RelationResult mirrorPadRelation(const RelationCall& call) {
  std::string_view mode = call.attributes.text("mode");
  if (!isOneOf(mode, {"SYMMETRIC", "REFLECT"}))
    return choiceFailure(call, "mode", "`SYMMETRIC` or `REFLECT`");
  return paddedType(call, *padMode(mode), call.attributes.integerLists("pad_width"), false);
}

RelationResult dilateRelation(const RelationCall& call) {
  std::vector<int64_t> strides = call.attributes.integers("strides");
  if (strides.size() != call.rank(0))
    return call.failed(words("`strides` has {} numbers, but the tensor is `{}`", strides.size(),
                             call.operands[0]));
  std::vector<const Dim*> shape;
  for (size_t i = 0; i < strides.size(); ++i) {
    const Dim* dim = call.shape(0)[i];
    if (strides[i] <= 0)
      return call.failed(
          fmt::format("`strides` must be positive, but entry {} is {}", i, strides[i]));
    const Dim* scaled = scaledDim(call.types, dim, strides[i]);
    if (!scaled)
      return call.failedForSize(
          fmt::format("dimension {} of {} times {} is too large", i, dimText(dim), strides[i]));
    shape.push_back(dim->isConstant(0)
                        ? dim
                        : notNegative(call, offsetDim(call.types, scaled, 1 - strides[i])));
  }
  return call.solved(shape, call.dtype(0));
}

RelationResult fifoBufferRelation(const RelationCall& call) {
  int64_t given = call.attributes.integer("axis");
  if (auto problem = requireSameDType(call, 0, 1))
    return *problem;
  auto differ = [&] {
    return call.failedAt(1, fmt::format("`data` and `buffer` may differ along the axis only, but "
                                        "their shapes are `{}` and `{}`",
                                        shapeText(call.shape(0)), shapeText(call.shape(1))));
  };
  if (call.rank(0) != call.rank(1))
    return differ();
  auto axis = call.normalAxis(given, call.rank(0));
  if (!axis)
    return axisFailure(call, "axis", given);
  for (size_t i = 0; i < call.rank(0); ++i)
    if (i != *axis && call.differ(call.shape(0)[i], call.shape(1)[i]))
      return differ();
  return call.solved(call.operands[1]);
}

void computePad(ComputeCall& call) {
  TensorHandle x = call.input(0), value = call.input(1);
  PadMode mode = *padMode(call.attributes().text("pad_mode"));
  auto widths = call.attributes().integerLists("pad_width");
  call.result([&](const Position& at) {
    Position from;
    for (size_t i = 0; i < at.size(); ++i) {
      Scalar shifted = at[i] - call.integer(widths[i][0]);
      bool staysInside = mode == PadMode::Constant || (widths[i][0] <= 0 && widths[i][1] <= 0);
      from.push_back(staysInside ? shifted : inside(mode, shifted, x.extent(i)));
    }
    return mode == PadMode::Constant ? x.orElse(from, cast(value({}), x.dtype())) : x(from);
  });
}

void computeMirrorPad(ComputeCall& call) {
  TensorHandle x = call.input(0);
  PadMode mode = *padMode(call.attributes().text("mode"));
  auto widths = call.attributes().integerLists("pad_width");
  call.result([&](const Position& at) {
    Position from;
    for (size_t i = 0; i < at.size(); ++i)
      from.push_back(inside(mode, at[i] - call.integer(widths[i][0]), x.extent(i)));
    return x(from);
  });
}

void computeDilate(ComputeCall& call) {
  TensorHandle x = call.input(0);
  std::vector<int64_t> strides = call.attributes().integers("strides");
  call.result([&](const Position& at) {
    Position from;
    Scalar isHole = call.number(runtime::Bool, 0);
    for (size_t i = 0; i < at.size(); ++i) {
      from.push_back(floorDivide(at[i], strides[i]));
      if (strides[i] != 1)
        isHole = isHole || !(floorMod(at[i], strides[i]) == 0.0);
    }
    return select(isHole, constantOf(call, x.dtype(), call.attributes().real("dilation_value")),
                  x(from));
  });
}

void computeFifoBuffer(ComputeCall& call) {
  TensorHandle data = call.input(0), buffer = call.input(1);
  size_t axis = call.axis("axis", data.rank());
  call.result([&](const Position& at) {
    // The buffer followed by the data, less as many elements at the front as the data adds.
    Scalar shifted = at[axis] + data.extent(axis);
    return select(shifted < buffer.extent(axis), buffer(replaceAt(at, axis, shifted)),
                  data(replaceAt(at, axis, shifted - buffer.extent(axis))));
  });
}

constexpr OperandRow data[] = {{"data", "the input"}};
constexpr OperandRow padOperands[] = {{"data", "the input"},
                                      {"pad_val", "the scalar that fills a constant padding"}};
constexpr OperandRow fifoOperands[] = {{"data", "the newest entries"},
                                       {"buffer", "the entries so far"}};
constexpr AttributeRow padAttributes[] = {
    {"pad_width", AttributeKind::IntListList, "",
     "how many elements to add before and after each dimension; negative ones are cut off"},
    {"pad_mode", AttributeKind::String, "\"constant\"", "`constant`, `edge` or `reflect`"}};
constexpr AttributeRow mirrorPadAttributes[] = {
    {"mode", AttributeKind::String, "\"SYMMETRIC\"",
     "`SYMMETRIC` repeats the edge element, `REFLECT` does not"},
    {"pad_width", AttributeKind::IntListList, "",
     "how many elements to add before and after each dimension"}};
constexpr AttributeRow dilateAttributes[] = {
    {"strides", AttributeKind::IntList, "[1, 1]", "the distance of neighbours, per dimension"},
    {"dilation_value", AttributeKind::Float, "0f", "what stands between them"}};
constexpr AttributeRow fifoAttributes[] = {
    {"axis", AttributeKind::Int, "0", "the dimension that counts entries"}};

constexpr Example padExamples[] = {
    {"nn.pad([1, 2, 3], 9, pad_width=[[1, 2]])", "[9, 1, 2, 3, 9, 9]"},
    {"nn.pad([1, 2, 3], 9, pad_width=[[-1, 1]])", "[2, 3, 9]"},
    {"nn.pad([1, 2, 3], 0, pad_width=[[2, 1]], pad_mode=\"edge\")", "[1, 1, 1, 2, 3, 3]"},
    {"nn.pad([1, 2, 3], 0, pad_width=[[2, 1]], pad_mode=\"reflect\")", "[3, 2, 1, 2, 3, 2]"}};
constexpr Example mirrorPadExamples[] = {
    {"nn.mirror_pad([1, 2, 3], pad_width=[[2, 1]])", "[2, 1, 1, 2, 3, 3]"},
    {"nn.mirror_pad([1, 2, 3], mode=\"REFLECT\", pad_width=[[2, 1]])", "[3, 2, 1, 2, 3, 2]"}};
constexpr Example dilateExamples[] = {
    {"nn.dilate([1, 2], strides=[3], attrs_type_key=\"relay.attrs.DilateAttrs\")", "[1, 0, 0, 2]"}};
constexpr Example fifoExamples[] = {{"nn.fifo_buffer([4], [1, 2, 3])", "[2, 3, 4]"},
                                    {"nn.fifo_buffer([[4, 5, 6]], [[1, 2]], axis=1)", "[[5, 6]]"}};

using PadWidths = std::vector<std::pair<int64_t, int64_t>>;

PadWidths padWidths(const Attributes& attributes) {
  PadWidths widths;
  for (const auto& pair : attributes.integerLists("pad_width"))
    widths.emplace_back(pair[0], pair[1]);
  return widths;
}

/// Adds what lies outside along one dimension to the elements that it is an image of, and drops
/// it: `before` elements in front, then `after` at the end.
Term folded(Term spread, PadMode mode, size_t axis, int64_t before, int64_t after) {
  auto image = [&](const Term& outside) {
    return mode == PadMode::Edge ? sum(outside, {axis}, true) : reversed(outside, axis);
  };
  int64_t skipped = mode == PadMode::Reflect ? 1 : 0;
  if (before > 0) {
    int64_t end = skipped + (mode == PadMode::Edge ? 1 : before);
    Term rest = sliced(spread, axis, before, toEnd);
    Term mirrored = sliced(rest, axis, skipped, end) + image(sliced(spread, axis, 0, before));
    std::vector<Term> parts{mirrored, sliced(rest, axis, end, toEnd)};
    if (skipped)
      parts.insert(parts.begin(), sliced(rest, axis, 0, 1));
    spread = concatenated(parts, axis);
  }
  if (after > 0) {
    int64_t begin = -skipped - (mode == PadMode::Edge ? 1 : after);
    Term rest = sliced(spread, axis, 0, -after);
    Term mirrored = sliced(rest, axis, begin, skipped ? -1 : toEnd) +
                    image(sliced(spread, axis, -after, toEnd));
    std::vector<Term> parts{sliced(rest, axis, 0, begin), mirrored};
    if (skipped)
      parts.push_back(sliced(rest, axis, -1, toEnd));
    spread = concatenated(parts, axis);
  }
  return spread;
}

/// The cotangent of data that was padded with images of itself.
Term foldedCotangent(GradientCall& d, PadMode mode) {
  PadWidths widths = padWidths(d.attributes()), cropped;
  // Undo the cropping first: what was cut off takes nothing back.
  bool isCropped = false;
  for (auto [before, after] : widths) {
    cropped.emplace_back(std::max<int64_t>(0, -before), std::max<int64_t>(0, -after));
    isCropped = isCropped || before < 0 || after < 0;
  }
  Term spread = isCropped ? padded(d.cotangent(), cropped) : d.cotangent();
  for (size_t i = 0; i < widths.size(); ++i)
    spread = folded(spread, mode, i, widths[i].first, widths[i].second);
  return slicedLike(spread, d.operand(0), allAxes(spread.rank()));
}

void padGradient(GradientCall& d) {
  PadMode mode = *padMode(d.attributes().text("pad_mode"));
  if (mode != PadMode::Constant) {
    give(d, 0, foldedCotangent(d, mode));
    return give(d, 1, zerosLike(d.operand(1)));
  }
  PadWidths forth = padWidths(d.attributes()), back;
  for (auto [before, after] : forth)
    back.emplace_back(-before, -after);
  give(d, 0, padded(d.cotangent(), back));
  Term outside = padded(zerosLike(d.operand(0)), forth, 1);
  give(d, 1, castTo(sumOfAll(d.cotangent() * outside), d.operand(1).dtype()));
}

void mirrorPadGradient(GradientCall& d) {
  give(d, 0, foldedCotangent(d, *padMode(d.attributes().text("mode"))));
}

void dilateGradient(GradientCall& d) {
  std::vector<int64_t> strides = d.attributes().integers("strides");
  std::vector<int64_t> begin(strides.size(), 0), end(strides.size(), toEnd);
  if (strides.empty())
    return give(d, 0, d.cotangent());
  give(d, 0,
       d.call("strided_slice", {d.cotangent()},
              {{"begin", begin}, {"end", end}, {"strides", strides}}));
}

/// The new entries are the last of the result, those of the buffer the first.
void fifoBufferGradient(GradientCall& d) {
  Term x = d.operand(0), buffer = d.operand(1);
  size_t axis = d.axis("axis", x.rank());
  Term entries = concatenated({zerosLike(x), d.cotangent()}, axis);
  Term newest = d.call("slice_like", {reversed(entries, axis), x});
  give(d, 0, reversed(newest, axis));
  give(d, 1, d.call("slice_like", {entries, buffer}));
}

constexpr OperatorRow rows[] = {
    {.name = "nn.pad",
     .doc = "Adds elements at the ends of each dimension, or cuts them off.",
     .details = "`constant` fills with `pad_val`, `edge` repeats the first and last element, "
                "`reflect` mirrors about them.",
     .operands = padOperands,
     .attributes = padAttributes,
     .attributesKey = "relay.attrs.PadAttrs",
     .relation = withFix<padRelation, fixPad>,
     .compute = computePad,
     .gradient = GradientRule{padGradient},
     .examples = padExamples},
    {.name = "nn.mirror_pad",
     .synonyms = "reflection_pad",
     .doc = "Adds mirror images at the ends of each dimension.",
     .operands = data,
     .attributes = mirrorPadAttributes,
     .attributesKey = "relay.attrs.MirrorPadAttrs",
     .relation = mirrorPadRelation,
     .compute = computeMirrorPad,
     .gradient = GradientRule{mirrorPadGradient},
     .examples = mirrorPadExamples},
    {.name = "nn.dilate",
     .doc = "Moves neighbours apart and puts a constant between them.",
     .details = "A dimension of n elements gets `(n - 1) * stride + 1`.",
     .operands = data,
     .attributes = dilateAttributes,
     .attributesKey = "relay.attrs.DilateAttrs",
     .relation = dilateRelation,
     .compute = computeDilate,
     .gradient = GradientRule{dilateGradient},
     .examples = dilateExamples,
     .unregisteredAttributes = true},
    {.name = "nn.fifo_buffer",
     .doc = "Appends new entries to a buffer and drops as many of the oldest.",
     .operands = fifoOperands,
     .attributes = fifoAttributes,
     .attributesKey = "relay.attrs.FIFOBufferAttrs",
     .relation = fifoBufferRelation,
     .compute = computeFifoBuffer,
     .gradient = GradientRule{fifoBufferGradient},
     .examples = fifoExamples},
};

} // namespace

OperatorFamily padFamily() {
  return rows;
}

} // namespace stdlib

// Detection networks: reorganising pictures, anchor boxes, decoding boxes, cutting out regions.
#include "stdlib/ops/checks.h"
#include "stdlib/ops/common.h"
#include "stdlib/ops/families.h"
#include "stdlib/ops/gradient.h"

#include <cmath>
#include <fmt/format.h>

namespace stdlib {

namespace {

using namespace lang;

constexpr runtime::DType Real = runtime::Float64;

RelationResult wrongRank(const RelationCall& call, size_t operand, size_t rank) {
  return call.failedAt(operand, words("expected {} dimensions, but the operand is `{}`", rank,
                                      call.operands[operand]));
}

RelationResult reorgRelation(const RelationCall& call) {
  int64_t stride = call.attributes.integer("stride");
  if (call.rank(0) != 4)
    return wrongRank(call, 0, 4);
  if (stride <= 0 || stride > 1 << 20)
    return call.failed(fmt::format("`stride` must be positive, but it is {}", stride));
  std::vector<const Dim*> shape(call.shape(0).begin(), call.shape(0).end());
  for (size_t i = 1; i < 4; ++i) {
    int64_t divisor = i == 1 ? stride * stride : stride;
    if (shape[i]->isConstant() && shape[i]->value % divisor != 0)
      return call.failed(
          words("dimension {} of `{}` must be a multiple of {}", i, call.operands[0], divisor));
  }
  shape[1] = scaledDim(call.types, shape[1], stride * stride);
  if (!shape[1])
    return call.failedForSize("the channels times the square of `stride` are too many");
  shape[2] = call.types.floorDivide(shape[2], stride);
  shape[3] = call.types.floorDivide(shape[3], stride);
  RelationResult result = call.solved(shape, call.dtype(0));
  for (size_t i = 1; i < 4; ++i)
    requireMultiple(result, call.shape(0)[i], i == 1 ? stride * stride : stride);
  return result;
}

/// Darknet's order: the elements are seen as a picture `stride` times as wide and high, whose
/// blocks are gathered into channels, and the result is seen as a picture of the smaller size.
void computeReorg(ComputeCall& call) {
  TensorHandle x = call.input(0);
  int64_t stride = call.attributes().integer("stride");
  Scalar step = call.integer(stride), few = floorDivide(x.extent(1), stride * stride);
  TensorHandle wide = call.reshape(x, {x.extent(0), few, x.extent(2) * step, x.extent(3) * step});
  TensorHandle gathered = call.define(x.shape(), [&](const Position& at) {
    Scalar inBlock = floorDivide(at[1], few);
    return wide({at[0], floorMod(at[1], few), at[2] * step + floorDivide(inBlock, stride),
                 at[3] * step + floorMod(inBlock, stride)});
  });
  call.result(call.reshape(gathered, call.outputShape()));
}

RelationResult priorRelation(const RelationCall& call) {
  size_t sizes = call.attributes.reals("sizes").size();
  size_t ratios = call.attributes.reals("ratios").size();
  if (call.rank(0) != 4)
    return wrongRank(call, 0, 4);
  if (sizes == 0 || ratios == 0)
    return call.failed("`sizes` and `ratios` must not be empty");
  if (call.attributes.reals("steps").size() != 2 || call.attributes.reals("offsets").size() != 2)
    return call.failed("`steps` and `offsets` must hold 2 numbers each, for height and width");
  TypeContext& types = call.types;
  const Dim* places = types.multiply(call.shape(0)[2], call.shape(0)[3]);
  const Dim* count = scaledDim(types, places, int64_t(sizes + ratios - 1));
  if (!count)
    return call.failedForSize("there are too many boxes");
  return call.solved(types.tensor({types.constant(1), count, types.constant(4)}, call.dtype(0)));
}

void computePrior(ComputeCall& call) {
  TensorHandle x = call.input(0);
  const Attributes& attributes = call.attributes();
  std::vector<double> sizes = attributes.reals("sizes"), ratios = attributes.reals("ratios");
  std::vector<double> steps = attributes.reals("steps"), offsets = attributes.reals("offsets");
  int64_t kinds = int64_t(sizes.size() + ratios.size() - 1);
  Scalar height = cast(x.extent(2), Real), width = cast(x.extent(3), Real);
  auto center = [&](Scalar place, size_t i) {
    Scalar shifted = cast(place, Real) + offsets[i];
    return steps[i] > 0 ? shifted * steps[i] : shifted / (i == 0 ? height : width);
  };
  call.result([&](const Position& at) {
    Scalar kind = floorMod(at[1], kinds), place = floorDivide(at[1], kinds);
    Scalar halfHeight = call.number(Real, 0), halfWidth = halfHeight;
    for (int64_t k = kinds; k-- > 0;) {
      bool isSize = size_t(k) < sizes.size();
      double root = isSize ? 1 : std::sqrt(ratios[size_t(k) - sizes.size() + 1]);
      double size = isSize ? sizes[size_t(k)] : sizes[0];
      halfHeight = select(kind == double(k), call.number(Real, size / root / 2), halfHeight);
      halfWidth = select(kind == double(k), height * size / width * (root / 2), halfWidth);
    }
    Scalar y = center(floorDivide(place, x.extent(3)), 0);
    Scalar left = center(floorMod(place, x.extent(3)), 1);
    Scalar value = select(at[2] == 0.0, left - halfWidth,
                          select(at[2] == 1.0, y - halfHeight,
                                 select(at[2] == 2.0, left + halfWidth, y + halfHeight)));
    if (attributes.boolean("clip"))
      value = maximum(minimum(value, call.number(Real, 1)), call.number(Real, 0));
    return cast(value, x.dtype());
  });
}

RelationResult locationsRelation(const RelationCall& call) {
  for (size_t i = 0; i < 3; ++i)
    if (call.rank(i) != (i == 1 ? 2 : 3))
      return wrongRank(call, i, i == 1 ? 2 : 3);
  if (call.attributes.reals("variances").size() != 4)
    return call.failed("`variances` must hold 4 numbers");
  Dims scores = call.shape(0), locations = call.shape(1), anchors = call.shape(2);
  const Dim* coordinates = scaledDim(call.types, scores[2], 4);
  bool isWrong = !coordinates || call.differ(scores[0], locations[0]) ||
                 call.differ(coordinates, locations[1]) || call.differ(scores[2], anchors[1]) ||
                 cannotBe(call, anchors[0], 1) || cannotBe(call, anchors[2], 4);
  if (isWrong)
    return call.failed(fmt::format("scores (batch, classes, n) need locations (batch, 4 n) and "
                                   "anchors (1, n, 4), but the shapes are `{}`, `{}` and `{}`",
                                   shapeText(scores), shapeText(locations), shapeText(anchors)));
  const Type* fields[] = {
      call.types.tensor({scores[0], scores[2], call.types.constant(6)}, call.dtype(0)),
      call.types.tensor({scores[0]}, runtime::Int32)};
  return call.solved(call.types.tuple(fields));
}

/// By batch item and row: the box that is kept as that row, given how many boxes are kept up to
/// each; the number of boxes where there are fewer. Found by halving, one stage a step, in as many
/// steps as any number of boxes takes.
TensorHandle keptBoxes(ComputeCall& call, const TensorHandle& keptUpTo) {
  TensorHandle box =
      call.define(keptUpTo.shape(), [&](const Position&) { return call.integer(0); });
  for (int bit = 30; bit >= 0; --bit)
    box = call.define(keptUpTo.shape(), [&](const Position& at) {
      Scalar next = box(at) + std::ldexp(1.0, bit);
      Scalar kept = keptUpTo.orElse({at[0], next - 1.0}, at[1] + 1.0);
      return select(kept <= at[1], next, box(at));
    });
  return box;
}

/// The corners of the boxes from their anchors and predicted offsets: batch, box, corner.
TensorHandle decodedBoxes(ComputeCall& call) {
  TensorHandle offsets = call.input(1), anchors = call.input(2);
  std::vector<double> variances = call.attributes().reals("variances");
  bool clips = call.attributes().boolean("clip");
  auto cornerOf = [&](const Position& at, size_t i) {
    size_t axis = i % 2;
    auto anchor = [&](size_t k) {
      return cast(anchors({call.integer(0), at[1], call.integer(int64_t(k))}), Real);
    };
    auto offset = [&](size_t k) {
      return cast(offsets({at[0], at[1] * 4.0 + double(k)}), Real) * variances[k];
    };
    Scalar extent = anchor(axis + 2) - anchor(axis);
    Scalar center = offset(axis) * extent + (anchor(axis) + anchor(axis + 2)) / 2.0;
    Scalar half = exp(offset(axis + 2)) * extent / 2.0;
    return i < 2 ? center - half : center + half;
  };
  return call.define(
      {call.outputShape()[0], call.outputShape()[1], call.integer(4)}, [&](const Position& at) {
        Scalar corner = cornerOf(at, 3);
        for (size_t i = 3; i-- > 0;)
          corner = select(at[2] == double(i), cornerOf(at, i), corner);
        if (clips)
          corner = maximum(minimum(corner, call.number(Real, 1)), call.number(Real, 0));
        return corner;
      });
}

void computeLocations(ComputeCall& call) {
  TensorHandle scores = call.input(0);
  int64_t first = call.attributes().boolean("keep_background") ? 0 : 1;
  Scalar classes = maximum(scores.extent(1) - double(first), call.integer(0));
  Scalar none = call.number(Real, -1);
  Extents boxes{call.outputShape()[0], call.outputShape()[1]};
  // Scores of -1 and less, and NaN, are no scores.
  auto scoreAt = [&](const Position& at, Scalar type) {
    Scalar score = cast(scores({at[0], type + double(first), at[1]}), Real);
    return select(score > none, score, none);
  };
  TensorHandle best = call.define(boxes, [&](const Position& at) {
    return call.maximumOver({classes}, [&](const Position& k) { return scoreAt(at, k[0]); });
  });
  TensorHandle type = call.define(boxes, [&](const Position& at) {
    return call.reduce(
        Combiner::ArgMaximum, {classes}, [&](const Position& k) { return scoreAt(at, k[0]); },
        runtime::Int64);
  });
  TensorHandle kept = call.define(boxes, [&](const Position& at) {
    Scalar score = best(at);
    return cast(score > none && score >= call.attributes().real("threshold"), runtime::Int64);
  });
  TensorHandle keptUpTo = call.scan(kept, Combiner::Sum, 1, false);
  TensorHandle counts = call.define({boxes[0]}, [&](const Position& at) {
    return keptUpTo.orElse({at[0], boxes[1] - 1.0}, call.integer(0));
  });
  TensorHandle source = keptBoxes(call, keptUpTo);
  TensorHandle corners = decodedBoxes(call);
  call.result([&](const Position& at) {
    Position box{at[0], source({at[0], at[1]})};
    Scalar corner = corners(insertAt(box, 2, maximum(at[2] - 2.0, call.integer(0))));
    Scalar value =
        select(at[2] == 0.0, cast(type(box), Real), select(at[2] == 1.0, best(box), corner));
    return cast(select(at[1] < counts({at[0]}), value, none), scores.dtype());
  });
  call.result([&](const Position& at) { return cast(counts(at), runtime::Int32); });
}

constexpr OperandRow data[] = {{"data", "the pictures, in layout NCHW"}};
constexpr OperandRow locationOperands[] = {
    {"cls_prob", "the score of each class, 0 being the background: batch, class, box"},
    {"loc_pred", "the offsets of the boxes from their anchors: batch, 4 per box"},
    {"anchor", "the corners of the anchors: 1, box, 4"}};

constexpr AttributeRow reorgAttributes[] = {
    {"stride", AttributeKind::Int, "1", "the height and width of a block", false, true}};
constexpr AttributeRow clipRow = {"clip", AttributeKind::Bool, "False",
                                  "whether corners are kept within 0 and 1"};
constexpr AttributeRow priorAttributes[] = {
    {"sizes", AttributeKind::FloatList, "[1f]", "the heights of square boxes"},
    {"ratios", AttributeKind::FloatList, "[1f]",
     "width by height of boxes of the first size; the first one stands for the squares"},
    {"steps", AttributeKind::FloatList, "[-1f, -1f]",
     "the distance of centres down and across; not positive for one by the extent"},
    {"offsets", AttributeKind::FloatList, "[0.5f, 0.5f]",
     "where in its place a centre lies, down and across"},
    clipRow};
constexpr AttributeRow locationAttributes[] = {
    {"clip", AttributeKind::Bool, "True", "whether corners are kept within 0 and 1"},
    {"threshold", AttributeKind::Float, "0.01f", "the least score of a box"},
    {"variances", AttributeKind::FloatList, "[0.1f, 0.1f, 0.2f, 0.2f]",
     "the scales of the offsets"},
    {"keep_background", AttributeKind::Bool, "False", "whether class 0 counts as a class"}};

constexpr Example reorgExamples[] = {
    {"vision.yolo_reorg([[[[0, 1], [2, 3]], [[4, 5], [6, 7]], [[8, 9], [10, 11]], [[12, 13], "
     "[14, 15]]]], stride=2)",
     "[[[[0]], [[2]], [[8]], [[10]], [[1]], [[3]], [[9]], [[11]], [[4]], [[6]], [[12]], [[14]], "
     "[[5]], [[7]], [[13]], [[15]]]]"}};
constexpr Example priorExamples[] = {
    {"vision.multibox_prior([[[[0f, 0f]]]], sizes=[0.5f])",
     "[[[0.125f, 0.25f, 0.375f, 0.75f], [0.625f, 0.25f, 0.875f, 0.75f]]]"}};
constexpr Example locationExamples[] = {
    {"vision.multibox_transform_loc([[[0.2f, 0.1f], [0.8f, 0f]]], [[1f, 0f, 0f, 0f, 0f, 0f, 0f, "
     "0f]], [[[0f, 0f, 0.5f, 0.5f], [0f, 0f, 1f, 1f]]])",
     "([[[0f, 0.8f, 0.05f, 0f, 0.55f, 0.5f], [-1f, -1f, -1f, -1f, -1f, -1f]]], [1])"}};

void reorgGradient(GradientCall& d) {
  int64_t stride = d.attributes().integer("stride");
  Term x = d.operand(0), pull = reshapedLike(d.cotangent(), x);
  Term split = reshaped(reshaped(pull, {0, -4, stride, -1, -2}), {0, 0, -4, stride, -1, -2});
  give(d, 0, reshapedLike(transposed(split, {0, 3, 4, 1, 5, 2}), x));
}

constexpr OperatorRow rows[] = {
    {.name = "vision.yolo_reorg",
     .doc = "Gathers blocks of a picture into channels, in Darknet's order.",
     .operands = data,
     .attributes = reorgAttributes,
     .attributesKey = "relay.attrs.YoloReorgAttrs",
     .relation = reorgRelation,
     .compute = computeReorg,
     .gradient = GradientRule{reorgGradient},
     .examples = reorgExamples},
    {.name = "vision.multibox_prior",
     .doc = "Anchor boxes of several sizes and ratios around every place of a picture.",
     .details = "The boxes of a place come first by size, then by ratio; corners are (left, top, "
                "right, bottom) with the picture from 0 to 1.",
     .operands = data,
     .attributes = priorAttributes,
     .attributesKey = "relay.attrs.MultiBoxPriorAttrs",
     .relation = priorRelation,
     .compute = computePrior,
     .gradient = NoGradient{"depends on the shape of the data, not on its values", true},
     .examples = priorExamples},
    {.name = "vision.multibox_transform_loc",
     .doc = "Decodes the boxes of a detection network and keeps those with a class.",
     .details = "Rows are (class, score, left, top, right, bottom), classes counted without the "
                "background; rows beyond the count, the second result, are -1.",
     .operands = locationOperands,
     .attributes = locationAttributes,
     .attributesKey = "relay.attrs.MultiBoxTransformLocAttrs",
     .relation = locationsRelation,
     .compute = computeLocations,
     .gradient = NoGradient{"chooses boxes by comparing their scores"},
     .examples = locationExamples},
};

} // namespace

OperatorFamily visionFamily() {
  return rows;
}

} // namespace stdlib

// Region proposals of two-stage detectors, and detections of one-stage ones.
//
// Both are computed in the float type of the data, as in Relay, since what is chosen hangs on how
// numbers are rounded.
#include "stdlib/ops/boxes.h"
#include "stdlib/ops/checks.h"
#include "stdlib/ops/common.h"
#include "stdlib/ops/families.h"
#include "stdlib/ops/fixes.h"
#include "stdlib/ops/kernel_data.h"
#include "stdlib/ops/shape_rules.h"

#include <array>
#include <fmt/format.h>

namespace stdlib {

namespace {

using namespace lang;
using runtime::KernelCall;
using runtime::KernelFault;
using runtime::Tensor;

constexpr size_t mostAnchors = 64;

/// The factors of one kind as positive numbers, or the problem.
std::optional<RelationResult> factorProblem(const RelationCall& call, std::string_view name) {
  std::vector<double> factors = call.attributes.reals(name);
  bool good = !factors.empty() && factors.size() <= mostAnchors;
  for (double factor : factors)
    good = good && factor > 0 && std::isfinite(factor);
  if (good)
    return std::nullopt;
  return call.failed(fmt::format("`{}` must hold 1 to {} positive numbers, but it is [{}]", name,
                                 mostAnchors, fmt::join(factors, ", ")));
}

std::optional<RelationResult> numbersProblem(const RelationCall& call) {
  for (std::string_view name : {"scales", "ratios"})
    if (auto problem = factorProblem(call, name))
      return problem;
  if (int64_t stride = call.attributes.integer("feature_stride"); stride < 1 || stride > 1 << 20)
    return call.failed(
        fmt::format("`feature_stride` is {}, but it must be 1 to {}", stride, 1 << 20));
  if (int64_t count = call.attributes.integer("rpn_post_nms_top_n"); count < 0)
    return call.failed(
        fmt::format("`rpn_post_nms_top_n` is {}, but it must not be negative", count));
  return std::nullopt;
}

RelationResult proposalRelation(const RelationCall& call) {
  for (size_t i = 0; i < 3; ++i)
    if (call.rank(i) != (i == 2 ? 2 : 4) || call.dtype(i) != call.dtype(0) ||
        !call.dtype(i).isFloat())
      return call.failedAt(i, fmt::format("expected {} dimensions of floats of one type, but the "
                                          "operands are `{}`, `{}` and `{}`",
                                          i == 2 ? 2 : 4, typeText(call.operands[0]),
                                          typeText(call.operands[1]), typeText(call.operands[2])));
  if (auto problem = numbersProblem(call))
    return *problem;
  int64_t anchors =
      int64_t(call.attributes.reals("scales").size() * call.attributes.reals("ratios").size());
  TypeContext& types = call.types;
  Dims scores = call.shape(0);
  const Dim* four = types.constant(4 * anchors);
  if (cannotBe(call, scores[1], 2 * anchors))
    return call.failedOn({{0, 1}},
                         fmt::format("{} need {} scores, but there are {}",
                                     counted(anchors, "anchor"), 2 * anchors, dimText(scores[1])));
  const Dim* batch =
      timesChecked(types, scores[0], types.constant(call.attributes.integer("rpn_post_nms_top_n")));
  if (!batch)
    return call.failedForSize("there are too many proposals");
  RelationResult result = call.solved({batch, types.constant(5)}, call.dtype(0));
  const Type* deltas = types.tensor({scores[0], four, scores[2], scores[3]}, call.dtype(0));
  const Type* info = types.tensor({scores[0], types.constant(3)}, call.dtype(0));
  if (demandOperand(call, result, 1, "bbox_pred", deltas))
    demandOperand(call, result, 2, "im_info", info);
  return result;
}

struct ProposalParameters {
  std::array<double, mostAnchors> scales, ratios;
  size_t scaleCount, ratioCount;
  int64_t stride, before, after, leastSize;
  double threshold;
  bool addsDeltas;
};

ProposalParameters decodeProposal(const Attributes& attributes, Types) {
  ProposalParameters parameters{};
  std::vector<double> scales = attributes.reals("scales"), ratios = attributes.reals("ratios");
  std::ranges::copy(scales, parameters.scales.begin());
  std::ranges::copy(ratios, parameters.ratios.begin());
  parameters.scaleCount = scales.size();
  parameters.ratioCount = ratios.size();
  parameters.stride = attributes.integer("feature_stride");
  parameters.before = attributes.integer("rpn_pre_nms_top_n");
  parameters.after = attributes.integer("rpn_post_nms_top_n");
  parameters.leastSize = attributes.integer("rpn_min_size");
  parameters.threshold = attributes.real("threshold");
  parameters.addsDeltas = attributes.boolean("iou_loss");
  return parameters;
}

/// A box by its corners, both of which belong to it.
template <typename T>
struct Box {
  std::array<T, 4> at;
  T score = 0;

  T width() const { return at[2] - at[0] + T(1); }
  T height() const { return at[3] - at[1] + T(1); }
};

/// The box of one anchor at the first place, for a ratio of its height to its width.
std::array<double, 4> anchorOf(double ratio, double scale, double stride) {
  double middle = 0.5 * (stride - 1);
  double width = std::floor(std::sqrt(std::floor(stride * stride / ratio)) + 0.5) * scale;
  double height = std::floor(width / scale * ratio + 0.5) * scale;
  return {middle - 0.5 * (width - 1), middle - 0.5 * (height - 1), middle + 0.5 * (width - 1),
          middle + 0.5 * (height - 1)};
}

/// An anchor moved and stretched by what was predicted.
template <typename T>
Box<T> moved(const Box<T>& anchor, const std::array<T, 4>& deltas, bool addsDeltas) {
  Box<T> box = anchor;
  if (addsDeltas) {
    for (size_t i = 0; i < 4; ++i)
      box.at[i] += deltas[i];
    return box;
  }
  const T extents[2] = {anchor.width(), anchor.height()};
  for (size_t i = 0; i < 2; ++i) {
    T middle = anchor.at[i] + T(0.5) * (extents[i] - T(1));
    middle = deltas[i] * extents[i] + middle;
    T half = T(0.5) * (std::exp(deltas[i + 2]) * extents[i] - T(1));
    box.at[i] = middle - half;
    box.at[i + 2] = middle + half;
  }
  return box;
}

template <typename T>
T overlapOf(const Box<T>& a, const Box<T>& b) {
  auto common = [&](size_t i) {
    return std::max(T(0), std::min(a.at[i + 2], b.at[i + 2]) - std::max(a.at[i], b.at[i]) + T(1));
  };
  T shared = common(0) * common(1);
  return shared / (a.width() * a.height() + b.width() * b.height() - shared);
}

/// The data of one call: scores, deltas and pictures, and their sizes.
template <typename T>
struct Predictions {
  std::vector<T> scores, deltas, pictures;
  int64_t anchors, height, width;

  int64_t perPicture() const { return height * width * anchors; }
};

template <typename T>
std::vector<T> readAs(const Tensor& tensor) {
  std::vector<double> values = readReals(tensor);
  return {values.begin(), values.end()};
}

/// A box inside its picture. One that is too small, or has no place in the picture, is worth
/// nothing.
template <typename T>
Box<T> predictedBox(const Predictions<T>& all, const ProposalParameters& parameters, int64_t batch,
                    int64_t index) {
  int64_t k = index % all.anchors, place = index / all.anchors;
  int64_t y = place / all.width, x = place % all.width, area = all.height * all.width;
  std::array<double, 4> base =
      anchorOf(parameters.ratios[size_t(k) / parameters.scaleCount],
               parameters.scales[size_t(k) % parameters.scaleCount], double(parameters.stride));
  Box<T> anchor{};
  std::array<T, 4> deltas;
  for (size_t i = 0; i < 4; ++i) {
    anchor.at[i] = T(base[i]) + T((i % 2 ? y : x) * parameters.stride);
    deltas[i] = all.deltas[size_t(((batch * all.anchors + k) * 4 + int64_t(i)) * area + place)];
  }
  Box<T> box = moved(anchor, deltas, parameters.addsDeltas);
  const T* picture = &all.pictures[size_t(batch * 3)];
  for (size_t i = 0; i < 4; ++i)
    box.at[i] = std::max(std::min(box.at[i], picture[i % 2 ? 0 : 1] - T(1)), T(0));
  box.score = all.scores[size_t((batch * 2 * all.anchors + all.anchors + k) * area + place)];
  if (!(T(y) < std::trunc(picture[0] / T(parameters.stride))) ||
      !(T(x) < std::trunc(picture[1] / T(parameters.stride))))
    box.score = -1;
  T least = picture[2] * T(parameters.leastSize);
  if (box.width() < least || box.height() < least) {
    for (size_t i = 0; i < 4; ++i)
      box.at[i] += (i < 2 ? -least : least) / T(2);
    box.score = -1;
  }
  return box;
}

/// The best boxes of a picture that do not overlap a better one; `most` at the utmost.
template <typename T>
std::vector<Box<T>> bestBoxes(const std::vector<Box<T>>& boxes, int64_t looked, double threshold,
                              int64_t most) {
  std::vector<int64_t> order =
      byScore(int64_t(boxes.size()), [&](int64_t i) { return double(boxes[size_t(i)].score); });
  if (looked > 0 && looked < int64_t(order.size()))
    order.resize(size_t(looked));
  std::vector<Box<T>> kept;
  for (int64_t i : order) {
    const Box<T>& box = boxes[size_t(i)];
    if (int64_t(kept.size()) == most)
      break;
    if (std::ranges::none_of(
            kept, [&](const Box<T>& better) { return overlapOf(better, box) > T(threshold); }))
      kept.push_back(box);
  }
  return kept;
}

template <typename T>
void propose(const KernelCall& call, const ProposalParameters& parameters, Tensor& result) {
  const runtime::Shape& shape = call.inputs[0].shape();
  Predictions<T> all{readAs<T>(call.inputs[0]),
                     readAs<T>(call.inputs[1]),
                     readAs<T>(call.inputs[2]),
                     shape[1] / 2,
                     shape[2],
                     shape[3]};
  for (int64_t batch = 0; batch < shape[0]; ++batch) {
    std::vector<Box<T>> boxes;
    for (int64_t i = 0; i < all.perPicture(); ++i)
      boxes.push_back(predictedBox(all, parameters, batch, i));
    std::vector<Box<T>> kept =
        bestBoxes(boxes, parameters.before, parameters.threshold, parameters.after);
    for (int64_t i = 0; i < parameters.after && !kept.empty(); ++i) {
      int64_t row = (batch * parameters.after + i) * 5;
      writeReal(result, row, double(batch));
      for (size_t k = 0; k < 4; ++k)
        writeReal(result, row + 1 + int64_t(k), double(kept[size_t(i) % kept.size()].at[k]));
    }
  }
}

KernelFault runProposal(const KernelCall& call, const ProposalParameters& parameters) {
  const Tensor& scores = call.inputs[0];
  Tensor& result = call.outputs.emplace_back(
      scores.dtype(), runtime::Shape{scores.shape()[0] * parameters.after, 5});
  scores.dtype() == runtime::Float64 ? propose<double>(call, parameters, result)
                                     : propose<float>(call, parameters, result);
  return {};
}

RelationResult regularRelation(const RelationCall& call) {
  for (size_t i = 0; i < 2; ++i)
    if (call.rank(i) != 3 || !call.dtype(i).isFloat())
      return call.failedAt(i, fmt::format("expected 3 dimensions of floats, but it is `{}`",
                                          typeText(call.operands[i])));
  for (std::string_view name : {"max_detections_per_class", "max_detections", "num_classes"})
    if (int64_t count = call.attributes.integer(name); count < 0)
      return call.failed(fmt::format("`{}` is {}, but it must not be negative", name, count));
  TypeContext& types = call.types;
  Dims boxes = call.shape(0), scores = call.shape(1);
  if (call.differ(boxes[0], scores[0]) || call.differ(boxes[1], scores[1]) ||
      cannotBe(call, boxes[2], 4))
    return call.failedAt(1, fmt::format("boxes (batch, n, 4) need scores (batch, n, classes), but "
                                        "the shapes are `{}` and `{}`",
                                        shapeText(boxes), shapeText(scores)));
  int64_t classes = call.attributes.integer("num_classes");
  if (scores[2]->isConstant() && scores[2]->value < classes)
    return call.failedOn({{1, 2}}, fmt::format("`num_classes` is {}, but there are scores for {}",
                                               classes, scores[2]->value));
  const Dim* most = types.constant(call.attributes.integer("max_detections"));
  const Type* fields[] = {types.tensor({boxes[0], most, types.constant(4)}, runtime::Float32),
                          types.tensor({boxes[0], most}, runtime::Float32),
                          types.tensor({boxes[0], most}, runtime::Float32),
                          types.tensor({boxes[0]}, runtime::Int32)};
  RelationResult result = call.solved(types.tuple(fields));
  requireAtLeast(result, scores[2], classes);
  requireSame(result, types, boxes[0], scores[0]);
  requireSame(result, types, boxes[1], scores[1]);
  return result;
}

struct RegularParameters {
  int64_t perClass, most, classes;
  float overlap, score;
};

RegularParameters decodeRegular(const Attributes& attributes, Types) {
  return {attributes.integer("max_detections_per_class"), attributes.integer("max_detections"),
          attributes.integer("num_classes"), float(attributes.real("iou_threshold")),
          float(attributes.real("score_threshold"))};
}

/// The overlap of two boxes (top, left, bottom, right) over their union; 0 if one is empty.
float cornerOverlap(const float* a, const float* b) {
  float areaA = (a[2] - a[0]) * (a[3] - a[1]), areaB = (b[2] - b[0]) * (b[3] - b[1]);
  if (!(areaA > 0 && areaB > 0))
    return 0;
  auto common = [&](size_t i) {
    return std::max(std::min(a[i + 2], b[i + 2]) - std::max(a[i], b[i]), 0.0f);
  };
  float shared = common(0) * common(1);
  return shared / (areaA + areaB - shared);
}

struct Detection {
  int64_t box, type;
  float score;
};

/// The boxes of one picture that one class keeps, the best first; `scores` are `step` apart.
std::vector<Detection> detectionsOf(int64_t type, const float* boxes, const float* scores,
                                    int64_t step, int64_t count,
                                    const RegularParameters& parameters) {
  std::vector<Detection> found, kept;
  for (int64_t i = 0; i < count; ++i)
    if (scores[i * step] >= parameters.score)
      found.push_back({i, type, scores[i * step]});
  std::ranges::stable_sort(found, std::greater<>(), &Detection::score);
  for (const Detection& detection : found) {
    if (int64_t(kept.size()) == parameters.perClass)
      break;
    if (std::ranges::none_of(kept, [&](const Detection& better) {
          return cornerOverlap(boxes + 4 * better.box, boxes + 4 * detection.box) >
                 parameters.overlap;
        }))
      kept.push_back(detection);
  }
  return kept;
}

KernelFault runRegular(const KernelCall& call, const RegularParameters& parameters) {
  const runtime::Shape& shape = call.inputs[1].shape();
  int64_t batches = shape[0], count = shape[1], width = shape[2], most = parameters.most;
  std::vector<float> boxes = readAs<float>(call.inputs[0]), scores = readAs<float>(call.inputs[1]);
  Tensor corners(runtime::Float32, {batches, most, 4}), types(runtime::Float32, {batches, most});
  Tensor best(runtime::Float32, {batches, most}), counts(runtime::Int32, {batches});
  for (int64_t batch = 0; batch < batches; ++batch) {
    const float* first = boxes.data() + batch * count * 4;
    std::vector<Detection> all;
    for (int64_t type = 0; type < parameters.classes && count > 0; ++type) {
      int64_t column = width - parameters.classes + type;
      auto found = detectionsOf(type, first, scores.data() + batch * count * width + column, width,
                                count, parameters);
      all.insert(all.end(), found.begin(), found.end());
      std::ranges::stable_sort(all, std::greater<>(), &Detection::score);
      if (int64_t(all.size()) > most)
        all.resize(size_t(most));
    }
    for (size_t i = 0; i < all.size(); ++i) {
      size_t to = size_t(batch * most) + i;
      std::copy_n(first + 4 * all[i].box, 4, corners.elements<float>().data() + 4 * to);
      types.elements<float>()[to] = float(all[i].type);
      best.elements<float>()[to] = all[i].score;
    }
    counts.elements<int32_t>()[size_t(batch)] = int32_t(all.size());
  }
  call.outputs = {corners, types, best, counts};
  return {};
}

constexpr OperandRow proposalOperands[] = {
    {"cls_prob", "scores: batch, those of background and then of objects by anchor, height, width"},
    {"bbox_pred", "what moves the four sides of each anchor: batch, 4 by anchor, height, width",
     OperandKind::Tensor},
    {"im_info", "height, width and scale of each picture", OperandKind::Tensor}};
constexpr OperandRow regularOperands[] = {
    {"boxes", "top, left, bottom and right of each box: batch, box, 4"},
    {"scores", "the score of each box in each class: batch, box, class"}};

constexpr AttributeRow proposalAttributes[] = {
    {"scales", AttributeKind::FloatList, "[4f, 8f, 16f, 32f]", "the sizes of anchors in strides"},
    {"ratios", AttributeKind::FloatList, "[0.5f, 1f, 2f]", "heights of anchors over their widths"},
    {"feature_stride", AttributeKind::Int, "16", "pixels of the picture between two places"},
    {"threshold", AttributeKind::Float, "0.7f", "the overlap above which the worse box is dropped"},
    {"rpn_pre_nms_top_n", AttributeKind::Int, "6000",
     "how many of the best boxes to look at; all when not positive"},
    {"rpn_post_nms_top_n", AttributeKind::Int, "300", "how many proposals a picture gets"},
    {"rpn_min_size", AttributeKind::Int, "16", "the least side of a box, times the scale"},
    {"iou_loss", AttributeKind::Bool, "False",
     "whether the predictions are added to the sides of anchors"}};
constexpr AttributeRow regularAttributes[] = {
    {"max_detections_per_class", AttributeKind::Int, "", "how many boxes a class keeps"},
    {"max_detections", AttributeKind::Int, "", "how many boxes to keep in all"},
    {"num_classes", AttributeKind::Int, "", "how many classes there are; scores before are others"},
    {"iou_threshold", AttributeKind::Float, "", "the overlap above which the worse box is dropped"},
    {"score_threshold", AttributeKind::Float, "", "the least score of a box"}};

constexpr Example proposalExamples[] = {
    {"vision.proposal([[[[0.5f, 0.5f]], [[0.25f, 0.75f]]]], [[[[0f, 1f]], [[0f, 1f]], [[0f, 1f]], "
     "[[0f, 1f]]]], [[16f, 32f, 1f]], scales=[0.5f], ratios=[1f], rpn_post_nms_top_n=3, "
     "rpn_min_size=4, iou_loss=True, attrs_type_key=\"relay.attrs.ProposalAttrs\")",
     "[[0f, 21f, 5f, 28f, 12f], [0f, 4f, 4f, 11f, 11f], [0f, 21f, 5f, 28f, 12f]]"}};
constexpr Example regularExamples[] = {
    {"vision.regular_non_max_suppression([[[0f, 0f, 2f, 2f], [0f, 0f, 2f, 1.9f], [4f, 4f, 5f, "
     "5f]]], [[[0.9f, 0.5f], [0.9f, 0.75f], [0f, 0.25f]]], max_detections_per_class=3, "
     "max_detections=3, num_classes=1, iou_threshold=0.5f, score_threshold=0.125f, "
     "attrs_type_key=\"relay.attrs.RegularNonMaximumSuppressionAttrs\")",
     "([[[0f, 0f, 2f, 1.9f], [4f, 4f, 5f, 5f], [0f, 0f, 0f, 0f]]], [[0f, 0f, 0f]], [[0.75f, "
     "0.25f, 0f]], [2])"}};

constexpr NoGradient chooses = {"chooses boxes by comparing them"};

constexpr OperatorRow rows[] = {
    {.name = "vision.proposal",
     .doc = "Gives the regions of pictures that are most likely to show objects.",
     .details = "An anchor is moved by its deltas (dx, dy, dw, dh): its middle by dx and dy times "
                "its sides, its sides by exp(dw) and exp(dh); then it is cut at the picture. Rows "
                "are batch, left, top, right, bottom, the best first; they begin anew where there "
                "are too few boxes, and are zero where there are none.",
     .operands = proposalOperands,
     .attributes = proposalAttributes,
     .attributesKey = "relay.attrs.ProposalAttrs",
     .relation = proposalRelation,
     .kernel = kernelOf<decodeProposal, runProposal>(),
     .gradient = NoGradient{"chooses boxes by comparing them; detectors learn with proposals that "
                            "are given"},
     .examples = proposalExamples,
     .unregisteredAttributes = true},
    {.name = "vision.regular_non_max_suppression",
     .doc = "Drops, for each class by itself, boxes that overlap a better box, and gives the best "
            "of the rest.",
     .details = "The results are boxes, classes, scores, and how many there are; what is beyond "
                "is zero. An empty box overlaps none.",
     .operands = regularOperands,
     .attributes = regularAttributes,
     .attributesKey = "relay.attrs.RegularNonMaximumSuppressionAttrs",
     .relation = regularRelation,
     .kernel = kernelOf<decodeRegular, runRegular>(),
     .gradient = chooses,
     .examples = regularExamples,
     .unregisteredAttributes = true},
};

} // namespace

OperatorFamily proposalFamily() {
  return rows;
}

} // namespace stdlib

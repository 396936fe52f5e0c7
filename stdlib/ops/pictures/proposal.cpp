// Region proposals of two-stage detectors, and detections of one-stage ones
// (runtime/natives/proposal.h).
#include "runtime/natives/proposal.h"
#include "stdlib/ops/checks.h"
#include "stdlib/ops/common.h"
#include "stdlib/ops/families.h"
#include "stdlib/ops/fixes.h"
#include "stdlib/ops/shape_rules.h"

#include <array>
#include <fmt/format.h>

namespace stdlib {

namespace {

using namespace lang;
using natives::mostAnchors;

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
  if (int64_t stride = call.attributes.integer("feature_stride");
      stride < 1 || stride > natives::mostStride)
    return call.failed(
        fmt::format("`feature_stride` is {}, but it must be 1 to {}", stride, natives::mostStride));
  if (int64_t count = call.attributes.integer("rpn_post_nms_top_n"); count < 0)
    return call.failed(
        fmt::format("`rpn_post_nms_top_n` is {}, but it must not be negative", count));
  return std::nullopt;
}

RelationResult proposalRelation(const RelationCall& call) {
  for (size_t i = 0; i < 3; ++i)
    if (call.rank(i) != (i == 2 ? 2 : 4) || call.dtype(i) != call.dtype(0) ||
        !call.dtype(i).isFloat())
      return call.failedAt(i, words("expected {} dimensions of floats of one type, but the "
                                    "operands are `{}`, `{}` and `{}`",
                                    i == 2 ? 2 : 4, call.operands[0], call.operands[1],
                                    call.operands[2]));
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

RelationResult regularRelation(const RelationCall& call) {
  for (size_t i = 0; i < 2; ++i)
    if (call.rank(i) != 3 || !call.dtype(i).isFloat())
      return call.failedAt(
          i, words("expected 3 dimensions of floats, but it is `{}`", call.operands[i]));
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

natives::ProposalParameters decodeProposal(const Attributes& attributes, Types) {
  return {attributes.reals("scales"),
          attributes.reals("ratios"),
          attributes.integer("feature_stride"),
          attributes.integer("rpn_pre_nms_top_n"),
          attributes.integer("rpn_post_nms_top_n"),
          attributes.integer("rpn_min_size"),
          attributes.real("threshold"),
          attributes.boolean("iou_loss")};
}

natives::RegularParameters decodeRegular(const Attributes& attributes, Types) {
  return {attributes.integer("max_detections_per_class"), attributes.integer("max_detections"),
          attributes.integer("num_classes"), float(attributes.real("iou_threshold")),
          float(attributes.real("score_threshold"))};
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
     .native = nativeOf<natives::proposeBoxes, decodeProposal>(),
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
     .native = nativeOf<natives::detectBoxes, decodeRegular>(),
     .gradient = chooses,
     .examples = regularExamples,
     .unregisteredAttributes = true},
};

} // namespace

OperatorFamily proposalFamily() {
  return rows;
}

} // namespace stdlib

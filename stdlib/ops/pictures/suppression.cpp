// Choosing detection boxes: counting the valid ones, and suppressing those that overlap better
// ones (runtime/natives/suppression.h).
#include "runtime/natives/suppression.h"
#include "stdlib/ops/checks.h"
#include "stdlib/ops/common.h"
#include "stdlib/ops/families.h"
#include "stdlib/ops/gradient.h"
#include "stdlib/ops/pictures/picture_samples.h"

#include <fmt/format.h>

namespace stdlib {

namespace {

using namespace lang;

/// The problem when the attribute does not name one of `count` columns of a row of the data from it
/// on; negative ones are fine when `mayBeUnset`.
std::optional<RelationResult> columnProblem(const RelationCall& call, std::string_view attribute,
                                            int64_t count, bool mayBeUnset) {
  int64_t column = call.attributes.integer(attribute);
  const Dim* width = call.shape(0)[2];
  if (column < 0 ? mayBeUnset : !width->isConstant() || column <= width->value - count)
    return std::nullopt;
  return call.failed(fmt::format("`{}={}` names no {} of rows of {} numbers", attribute, column,
                                 count == 1 ? "element" : "four elements", dimText(width)));
}

/// Lets a result ask for rows of which columnProblem() could not tell that they are long enough.
void requireColumn(RelationResult& result, const RelationCall& call, std::string_view attribute,
                   int64_t count) {
  if (int64_t column = call.attributes.integer(attribute); column >= 0 && column < INT32_MAX)
    requireAtLeast(result, call.shape(0)[2], column + count);
}

std::optional<RelationResult> boxesProblem(const RelationCall& call) {
  if (call.rank(0) != 3)
    return call.failedAt(
        0, words("the data must have 3 dimensions, but it is `{}`", call.operands[0]));
  return std::nullopt;
}

RelationResult validCountsRelation(const RelationCall& call) {
  if (auto problem = boxesProblem(call))
    return *problem;
  if (auto problem = requireScalar(call, 1, "score_threshold"))
    return *problem;
  if (auto problem = columnProblem(call, "score_index", 1, false))
    return *problem;
  if (auto problem = columnProblem(call, "id_index", 1, true))
    return *problem;
  const Dim *batch = call.shape(0)[0], *boxes = call.shape(0)[1];
  const Type* fields[] = {call.types.tensor({batch}, runtime::Int32), call.operands[0],
                          call.types.tensor({batch, boxes}, runtime::Int32)};
  RelationResult result = call.solved(call.types.tuple(fields));
  requireColumn(result, call, "score_index", 1);
  requireColumn(result, call, "id_index", 1);
  return result;
}

natives::ColumnParameters decodeColumns(const Attributes& attributes, Types) {
  return {attributes.integer("score_index"), attributes.integer("id_index")};
}

RelationResult suppressionRelation(const RelationCall& call) {
  if (auto problem = boxesProblem(call))
    return *problem;
  if (call.rank(1) != 1 || call.differ(call.shape(0)[0], call.shape(1)[0]))
    return call.failedAt(1, words("`valid_count` must hold one number per batch item of "
                                  "`{}`, but it is `{}`",
                                  call.operands[0], call.operands[1]));
  bool wantsIndices = call.attributes.boolean("return_indices");
  if (wantsIndices && (call.rank(2) != 2 || call.differ(call.shape(0)[0], call.shape(2)[0]) ||
                       call.differ(call.shape(0)[1], call.shape(2)[1])))
    return call.failedAt(2, words("`indices` must hold one number per box of `{}`, but it is "
                                  "`{}`",
                                  call.operands[0], call.operands[2]));
  if (auto problem = columnProblem(call, "score_index", 1, false))
    return *problem;
  if (auto problem = columnProblem(call, "id_index", 1, true))
    return *problem;
  if (auto problem = columnProblem(call, "coord_start", 4, false))
    return *problem;
  const Dim *batch = call.shape(0)[0], *boxes = call.shape(0)[1];
  const Type* fields[] = {call.types.tensor({batch, boxes}, runtime::Int32),
                          call.types.tensor({batch, call.types.constant(1)}, runtime::Int32)};
  RelationResult result = call.solved(wantsIndices ? call.types.tuple(fields) : call.operands[0]);
  requireColumn(result, call, "score_index", 1);
  requireColumn(result, call, "id_index", 1);
  requireColumn(result, call, "coord_start", 4);
  return result;
}

natives::SuppressionParameters decodeSuppression(const Attributes& attributes, Types) {
  return {attributes.integer("score_index"),      attributes.integer("id_index"),
          attributes.integer("coord_start"),      attributes.integer("top_k"),
          attributes.boolean("force_suppress"),   attributes.boolean("return_indices"),
          attributes.boolean("invalid_to_bottom")};
}

RelationResult allClassRelation(const RelationCall& call) {
  std::string_view format = call.attributes.text("output_format");
  if (!isOneOf(format, {"onnx", "tensorflow"}))
    return choiceFailure(call, "output_format", "`onnx` or `tensorflow`");
  if (auto problem = boxesProblem(call))
    return *problem;
  if (call.rank(1) != 3)
    return call.failedAt(
        1, words("the scores must have 3 dimensions, but they are `{}`", call.operands[1]));
  Dims boxes = call.shape(0), scores = call.shape(1);
  if (call.differ(boxes[0], scores[0]) || call.differ(boxes[1], scores[2]) ||
      cannotBe(call, boxes[2], 4))
    return call.failedAt(1, fmt::format("boxes (batch, n, 4) need scores (batch, classes, n), but "
                                        "the shapes are `{}` and `{}`",
                                        shapeText(boxes), shapeText(scores)));
  for (size_t i = 2; i < 5; ++i)
    if (call.rank(i) != 0)
      return call.failedAt(i,
                           words("the limits must be scalars, but one is `{}`", call.operands[i]));
  TypeContext& types = call.types;
  const Dim* perItem = types.multiply(scores[1], boxes[1]);
  const Dim *two = types.constant(2), *three = types.constant(3), *one = types.constant(1);
  if (format == "onnx") {
    const Type* fields[] = {
        types.tensor({types.multiply(boxes[0], perItem), three}, runtime::Int64),
        types.tensor({one}, runtime::Int64)};
    return call.solved(types.tuple(fields));
  }
  const Type* fields[] = {types.tensor({boxes[0], perItem, two}, runtime::Int64),
                          types.tensor({boxes[0], perItem}, runtime::Float32),
                          types.tensor({boxes[0]}, runtime::Int64)};
  return call.solved(types.tuple(fields));
}

natives::FormatParameters decodeFormat(const Attributes& attributes, Types) {
  return {attributes.text("output_format") == "onnx"};
}

constexpr OperandRow validOperands[] = {{"data", "the boxes: batch, box, numbers of a box"},
                                        {"score_threshold", "the score that boxes must exceed"}};
constexpr OperandRow suppressionOperands[] = {
    {"data", "the boxes: batch, box, numbers of a box"},
    {"valid_count", "how many boxes of each batch item count"},
    {"indices", "the number of each box, for the result"},
    {"max_output_size", "how many boxes to keep at the utmost; negative for all"},
    {"iou_threshold", "the overlap from which on the worse box is dropped"}};
constexpr OperandRow allClassOperands[] = {
    {"boxes", "two opposite corners of each box: batch, box, 4"},
    {"scores", "the score of each box in each class: batch, class, box"},
    {"max_output_boxes_per_class", "how many boxes a class keeps; all when not positive"},
    {"iou_threshold", "the overlap from which on the worse box is dropped"},
    {"score_threshold", "the score that boxes must exceed"}};

constexpr AttributeRow scoreIndexRow = {"score_index", AttributeKind::Int, "1",
                                        "where the score stands in a row"};
constexpr AttributeRow idIndexRow = {"id_index", AttributeKind::Int, "0",
                                     "where the class stands in a row; negative for nowhere"};
constexpr AttributeRow validAttributes[] = {
    {"score_threshold", AttributeKind::Float, "None", "not looked at; the operand counts", true},
    idIndexRow,
    scoreIndexRow};
constexpr AttributeRow suppressionAttributes[] = {
    {"force_suppress", AttributeKind::Bool, "False", "whether boxes of all classes compete"},
    {"top_k", AttributeKind::Int, "-1", "how many of the best boxes to look at; -1 for all"},
    {"coord_start", AttributeKind::Int, "2", "where the four coordinates start in a row"},
    scoreIndexRow,
    idIndexRow,
    {"return_indices", AttributeKind::Bool, "True", "whether to give numbers of boxes or boxes"},
    {"invalid_to_bottom", AttributeKind::Bool, "False",
     "whether to move dropped boxes to the end"}};
constexpr AttributeRow allClassAttributes[] = {
    {"output_format", AttributeKind::String, "\"onnx\"", "`onnx` or `tensorflow`"}};

/// Gives the boxes the cotangents of the rows that they were moved to: `places` says for each row
/// which box of its batch item it is, anything outside for none.
void giveMoved(GradientCall& d, const Term& places, const Term& cotangent) {
  Term boxes = d.operand(0), batch = alongAxis(positionsAlong(boxes, 0), 0, 2);
  std::vector<Taps<Term>> taps;
  taps.push_back({{places}});
  give(d, 0, toPictures(samplesOf(boxes, batch, taps), cotangent));
}

void validCountsGradient(GradientCall& d) {
  giveMoved(d, castTo(d.result(2), runtime::Int64), incoming(d, 1));
}

/// The numbers of the boxes that stay, in a column of their own, go where the boxes go.
void suppressionGradient(GradientCall& d) {
  if (d.attributes().boolean("return_indices"))
    return giveZeros(d);
  Term boxes = castTo(d.operand(0), runtime::Float64);
  Term numbers = alongAxis(castTo(positionsAlong(boxes, 1), boxes.dtype()), 1, 3);
  Term column = broadcastLike(numbers, sliced(boxes, 2, 0, 1));
  Term moved = d.call(
      "vision.non_max_suppression",
      {concatenated({boxes, column}, 2), d.operand(1), d.operand(2), d.operand(3), d.operand(4)},
      sameAttributes(d));
  giveMoved(d, sum(sliced(moved, 2, -1, toEnd), {2}), d.cotangent());
}

constexpr NoGradient chooses = {"chooses boxes by comparing them"};

constexpr GradientExample validGradients[] = {
    {"vision.get_valid_counts([[[0f, 0.2f], [1f, 0.9f]]], 0.5f, "
     "attrs_type_key=\"relay.attrs.GetValidCountsAttrs\")",
     "([0], [[[3f, 4f], [5f, 6f]]], [[0, 0]])", "[[[0f, 0f], [3f, 4f]]]"}};
constexpr GradientExample suppressionGradients[] = {
    {"vision.non_max_suppression([[[0f, 0.5f, 0f, 0f, 2f, 2f], [0f, 0.9f, 0f, 0f, 2f, 1.9f]]], "
     "[2], [[0, 1]], -1, 0.5f, return_indices=False, "
     "attrs_type_key=\"relay.attrs.NonMaximumSuppressionAttrs\")",
     "[[[1f, 2f, 3f, 4f, 5f, 6f], [7f, 8f, 9f, 10f, 11f, 12f]]]",
     "[[[0f, 0f, 0f, 0f, 0f, 0f], [1f, 2f, 3f, 4f, 5f, 6f]]]"}};

constexpr Example validExamples[] = {
    {"vision.get_valid_counts([[[0f, 0.2f, 1f], [1f, 0.9f, 2f], [-1f, 0.8f, 3f]]], 0.5f, "
     "attrs_type_key=\"relay.attrs.GetValidCountsAttrs\")",
     "([1], [[[1f, 0.9f, 2f], [-1f, -1f, -1f], [-1f, -1f, -1f]]], [[1, -1, -1]])"}};
constexpr Example suppressionExamples[] = {
    {"vision.non_max_suppression([[[0f, 0.5f, 0f, 0f, 2f, 2f], [0f, 0.9f, 0f, 0f, 2f, 1.9f], "
     "[0f, 0.7f, 5f, 5f, 6f, 6f]]], [3], [[0, 1, 2]], -1, 0.5f, "
     "attrs_type_key=\"relay.attrs.NonMaximumSuppressionAttrs\")",
     "([[1, 2, -1]], [[2]])"},
    {"vision.non_max_suppression([[[0f, 0.5f, 0f, 0f, 2f, 2f], [0f, 0.9f, 0f, 0f, 2f, 1.9f]]], "
     "[2], [[0, 1]], -1, 0.5f, return_indices=False, "
     "attrs_type_key=\"relay.attrs.NonMaximumSuppressionAttrs\")",
     "[[[0f, 0.9f, 0f, 0f, 2f, 1.9f], [-1f, -1f, -1f, -1f, -1f, -1f]]]"}};
constexpr Example allClassExamples[] = {
    {"vision.all_class_non_max_suppression([[[0f, 0f, 2f, 2f], [0f, 0f, 2f, 1.9f]]], "
     "[[[0.5f, 0.9f]]], 10, 0.5f, 0.1f, "
     "attrs_type_key=\"relay.attrs.AllClassNonMaximumSuppressionAttrs\")",
     "([[0i64, 0i64, 1i64], [0i64, 0i64, 0i64]], [1i64])"},
    {"vision.all_class_non_max_suppression([[[0f, 0f, 2f, 2f], [0f, 0f, 2f, 1.9f]]], "
     "[[[0.5f, 0.9f]]], 10, 0.5f, 0.1f, output_format=\"tensorflow\", "
     "attrs_type_key=\"relay.attrs.AllClassNonMaximumSuppressionAttrs\")",
     "([[[0i64, 1i64], [0i64, 0i64]]], [[0.9f, 0f]], [1i64])"},
    {"vision.all_class_non_max_suppression([[[0f, 0f, 2f, 2f], [3f, 3f, 4f, 4f]]], "
     "[[[0.2f, 0.5f], [0.9f, 0f]]], 10, 0.5f, 0.1f, output_format=\"tensorflow\", "
     "attrs_type_key=\"relay.attrs.AllClassNonMaximumSuppressionAttrs\")",
     "([[[0i64, 1i64], [0i64, 0i64], [1i64, 0i64], [0i64, 0i64]]], [[0.5f, 0.2f, 0.9f, 0f]], "
     "[3i64])"}};

constexpr OperatorRow rows[] = {
    {.name = "vision.get_valid_counts",
     .doc = "Moves the boxes with a high score to the front and counts them.",
     .details =
         "The results are the counts, the rows (the rest -1) and the number of each row. The "
         "threshold has no gradient.",
     .operands = validOperands,
     .attributes = validAttributes,
     .attributesKey = "relay.attrs.GetValidCountsAttrs",
     .relation = validCountsRelation,
     .native = nativeOf<natives::validBoxes, decodeColumns>(),
     .gradient = GradientRule{validCountsGradient, validGradients},
     .examples = validExamples,
     .unregisteredAttributes = true},
    {.name = "vision.non_max_suppression",
     .synonyms = "nms",
     .doc = "Drops boxes that overlap a better box of the same class.",
     .details = "Boxes are taken by falling score. With `return_indices` the results are the "
                "numbers of the boxes that stay and how many they are, else all rows with the "
                "dropped ones -1. The gradient follows the rows; the limits have none.",
     .operands = suppressionOperands,
     .attributes = suppressionAttributes,
     .attributesKey = "relay.attrs.NonMaximumSuppressionAttrs",
     .relation = suppressionRelation,
     .native = nativeOf<natives::suppressBoxes, decodeSuppression>(),
     .gradient = GradientRule{suppressionGradient, suppressionGradients},
     .examples = suppressionExamples,
     .unregisteredAttributes = true},
    {.name = "vision.all_class_non_max_suppression",
     .doc = "Drops, for each class by itself, boxes that overlap a better box.",
     .details =
         "Format `onnx` gives rows (batch, class, box) and their count; `tensorflow` gives "
         "rows (class, box), the scores, and the count per batch item. Boxes come by falling "
         "score, class after class. Rows beyond the count are zero.",
     .operands = allClassOperands,
     .attributes = allClassAttributes,
     .attributesKey = "relay.attrs.AllClassNonMaximumSuppressionAttrs",
     .relation = allClassRelation,
     .native = nativeOf<natives::suppressClasses, decodeFormat>(),
     .gradient = chooses,
     .examples = allClassExamples,
     .unregisteredAttributes = true},
};

} // namespace

OperatorFamily suppressionFamily() {
  return rows;
}

} // namespace stdlib

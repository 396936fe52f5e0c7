// Choosing detection boxes: counting the valid ones, and suppressing those that overlap better
// ones.
//
// Boxes may name any two opposite corners. Equal scores keep their order. Rows that hold no box are
// filled with -1 (with 0 in the results of all_class_non_max_suppression).
#include "stdlib/ops/boxes.h"
#include "stdlib/ops/checks.h"
#include "stdlib/ops/common.h"
#include "stdlib/ops/families.h"
#include "stdlib/ops/gradient.h"
#include "stdlib/ops/kernel_data.h"
#include "stdlib/ops/picture_samples.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>

namespace stdlib {

namespace {

using namespace lang;
using runtime::KernelCall;
using runtime::KernelFault;
using runtime::KernelFaultCode;
using runtime::Tensor;

/// The overlap of two boxes over their union; 0 when the union is empty.
double overlapOf(const double* a, const double* b) {
  auto span = [](double x, double y) { return std::abs(x - y); };
  auto common = [&](size_t i) {
    double low = std::max(std::min(a[i], a[i + 2]), std::min(b[i], b[i + 2]));
    double high = std::min(std::max(a[i], a[i + 2]), std::max(b[i], b[i + 2]));
    return std::max(0.0, high - low);
  };
  double shared = common(0) * common(1);
  double all = span(a[0], a[2]) * span(a[1], a[3]) + span(b[0], b[2]) * span(b[1], b[3]) - shared;
  return all <= 0 ? 0 : shared / all;
}

/// The value of a tensor with one element, or nothing.
std::optional<double> onlyElement(const Tensor& tensor) {
  std::vector<double> values = readReals(tensor);
  return values.size() == 1 ? std::optional(values[0]) : std::nullopt;
}

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
    return call.failedAt(0, fmt::format("the data must have 3 dimensions, but it is `{}`",
                                        typeText(call.operands[0])));
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

struct ColumnParameters {
  int64_t scoreAt, idAt;
};

ColumnParameters decodeColumns(const Attributes& attributes, Types) {
  return {attributes.integer("score_index"), attributes.integer("id_index")};
}

KernelFault validCounts(const KernelCall& call, const ColumnParameters& parameters) {
  const Tensor& data = call.inputs[0];
  auto threshold = onlyElement(call.inputs[1]);
  if (!threshold)
    return {KernelFaultCode::NotOneNumber, {1, call.inputs[1].size()}};
  int64_t batches = data.shape()[0], boxes = data.shape()[1], width = data.shape()[2];
  auto [scoreAt, idAt] = parameters;
  std::vector<double> values = readReals(data);
  Tensor counts(runtime::Int32, {batches}), rows(data.dtype(), data.shape());
  Tensor indices(runtime::Int32, {batches, boxes});
  for (int64_t i = 0; i < rows.size(); ++i)
    writeReal(rows, i, -1);
  std::ranges::fill(indices.elements<int32_t>(), -1);
  for (int64_t batch = 0; batch < batches; ++batch) {
    int32_t& count = counts.elements<int32_t>()[size_t(batch)];
    for (int64_t box = 0; box < boxes; ++box) {
      int64_t row = (batch * boxes + box) * width;
      if (!(values[size_t(row + scoreAt)] > *threshold) ||
          (idAt >= 0 && !(values[size_t(row + idAt)] >= 0)))
        continue;
      copyElements(data, row, rows, (batch * boxes + count) * width, width);
      indices.elements<int32_t>()[size_t(batch * boxes + count)] = int32_t(box);
      ++count;
    }
  }
  call.outputs = {counts, rows, indices};
  return {};
}

RelationResult suppressionRelation(const RelationCall& call) {
  if (auto problem = boxesProblem(call))
    return *problem;
  if (call.rank(1) != 1 || call.differ(call.shape(0)[0], call.shape(1)[0]))
    return call.failedAt(1, fmt::format("`valid_count` must hold one number per batch item of "
                                        "`{}`, but it is `{}`",
                                        typeText(call.operands[0]), typeText(call.operands[1])));
  bool wantsIndices = call.attributes.boolean("return_indices");
  if (wantsIndices && (call.rank(2) != 2 || call.differ(call.shape(0)[0], call.shape(2)[0]) ||
                       call.differ(call.shape(0)[1], call.shape(2)[1])))
    return call.failedAt(2, fmt::format("`indices` must hold one number per box of `{}`, but it is "
                                        "`{}`",
                                        typeText(call.operands[0]), typeText(call.operands[2])));
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

/// How boxes are compared; columns count from the start of a row.
struct Rules {
  int64_t width, scoreAt, idAt, boxAt, topCount;
  double limit, most;
  bool isAnyClass;
};

/// For one batch item: per row of the result the row of `rows` that stands there, or -1.
std::vector<int64_t> survivors(const double* rows, int64_t valid, const Rules& rules) {
  auto at = [&](int64_t row, int64_t column) { return rows[row * rules.width + column]; };
  std::vector<int64_t> order(static_cast<size_t>(valid));
  if (!(rules.limit > 0)) {
    std::iota(order.begin(), order.end(), 0);
    return order;
  }
  order = byScore(valid, [&](int64_t row) { return at(row, rules.scoreAt); });
  if (rules.topCount > 0 && rules.topCount < valid)
    std::fill(order.begin() + rules.topCount, order.end(), -1);
  std::vector<int64_t> kept;
  double count = 0;
  for (int64_t& row : order) {
    if (row < 0)
      continue;
    if (count == rules.most) {
      row = -1;
      continue;
    }
    if (!(at(row, rules.scoreAt) > 0))
      continue;
    bool isBeaten = std::ranges::any_of(kept, [&](int64_t better) {
      if (rules.idAt >= 0 && !(at(better, rules.idAt) >= 0))
        return false;
      if (!rules.isAnyClass && rules.idAt >= 0 && at(row, rules.idAt) != at(better, rules.idAt))
        return false;
      return overlapOf(&rows[row * rules.width + rules.boxAt],
                       &rows[better * rules.width + rules.boxAt]) >= rules.limit;
    });
    if (isBeaten) {
      row = -1;
    } else {
      kept.push_back(row);
      ++count;
    }
  }
  return order;
}

struct SuppressionParameters {
  int64_t scoreAt, idAt, boxAt, topCount;
  bool isAnyClass, wantsIndices, isDense;
};

SuppressionParameters decodeSuppression(const Attributes& attributes, Types) {
  return {attributes.integer("score_index"),      attributes.integer("id_index"),
          attributes.integer("coord_start"),      attributes.integer("top_k"),
          attributes.boolean("force_suppress"),   attributes.boolean("return_indices"),
          attributes.boolean("invalid_to_bottom")};
}

KernelFault suppress(const KernelCall& call, const SuppressionParameters& parameters) {
  const Tensor &data = call.inputs[0], &indices = call.inputs[2];
  int64_t batches = data.shape()[0], boxes = data.shape()[1], width = data.shape()[2];
  auto most = onlyElement(call.inputs[3]), limit = onlyElement(call.inputs[4]);
  if (!most || !limit)
    return {KernelFaultCode::NotOneNumber, {most ? 4 : 3, call.inputs[most ? 4 : 3].size()}};
  Rules rules{
      width, parameters.scoreAt,   parameters.idAt, parameters.boxAt, parameters.topCount, *limit,
      *most, parameters.isAnyClass};
  bool wantsIndices = parameters.wantsIndices;
  std::vector<double> values = readReals(data), valid = readReals(call.inputs[1]);
  std::vector<double> names = wantsIndices ? readReals(indices) : std::vector<double>();
  Tensor rows(data.dtype(), wantsIndices ? runtime::Shape{0} : data.shape());
  for (int64_t i = 0; i < rows.size(); ++i)
    writeReal(rows, i, -1);
  Tensor kept(runtime::Int32, {wantsIndices ? batches : 0, boxes});
  Tensor counts(runtime::Int32, {wantsIndices ? batches : 0, 1});
  std::ranges::fill(kept.elements<int32_t>(), -1);
  for (int64_t batch = 0; batch < batches; ++batch) {
    double given = valid[size_t(batch)];
    if (!(given >= 0 && given <= double(boxes)))
      return {KernelFaultCode::TooManyBoxes,
              {batch, int64_t(given > 0 ? std::min(given, 0x1p62) : -1), boxes}};
    std::vector<int64_t> order =
        survivors(values.data() + batch * boxes * width, int64_t(given), rules);
    if (parameters.isDense)
      std::erase(order, -1);
    int32_t found = 0;
    for (size_t i = 0; i < order.size(); ++i) {
      if (order[i] < 0)
        continue;
      int64_t box = batch * boxes + order[i];
      if (!wantsIndices)
        copyElements(data, box * width, rows, (batch * boxes + int64_t(i)) * width, width);
      else if (double name = names[size_t(box)]; name >= 0 && name < 0x1p31)
        kept.elements<int32_t>()[size_t(batch * boxes + found++)] = int32_t(name);
    }
    if (wantsIndices)
      counts.elements<int32_t>()[size_t(batch)] = found;
  }
  if (wantsIndices)
    call.outputs = {kept, counts};
  else
    call.outputs = {rows};
  return {};
}

RelationResult allClassRelation(const RelationCall& call) {
  std::string_view format = call.attributes.text("output_format");
  if (!isOneOf(format, {"onnx", "tensorflow"}))
    return choiceFailure(call, "output_format", "`onnx` or `tensorflow`");
  if (auto problem = boxesProblem(call))
    return *problem;
  if (call.rank(1) != 3)
    return call.failedAt(1, fmt::format("the scores must have 3 dimensions, but they are `{}`",
                                        typeText(call.operands[1])));
  Dims boxes = call.shape(0), scores = call.shape(1);
  if (call.differ(boxes[0], scores[0]) || call.differ(boxes[1], scores[2]) ||
      cannotBe(call, boxes[2], 4))
    return call.failedAt(1, fmt::format("boxes (batch, n, 4) need scores (batch, classes, n), but "
                                        "the shapes are `{}` and `{}`",
                                        shapeText(boxes), shapeText(scores)));
  for (size_t i = 2; i < 5; ++i)
    if (call.rank(i) != 0)
      return call.failedAt(i, fmt::format("the limits must be scalars, but one is `{}`",
                                          typeText(call.operands[i])));
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

/// A box that one class of one batch item keeps.
struct Selected {
  int64_t batch, type, box;
  double score;
};

/// The boxes that one class keeps, the best first; `most` of them at the utmost when it is
/// positive.
void selectOfClass(const double* boxes, const double* scores, int64_t count, double most,
                   double limit, double least, Selected selected, std::vector<Selected>& all) {
  size_t first = all.size();
  for (int64_t box : byScore(count, [&](int64_t i) { return scores[i]; })) {
    if (!(scores[box] > least) || (most > 0 && double(all.size() - first) >= most))
      return;
    bool isBeaten = std::any_of(all.begin() + ptrdiff_t(first), all.end(), [&](const Selected& s) {
      return overlapOf(boxes + 4 * box, boxes + 4 * s.box) >= limit;
    });
    selected.box = box;
    selected.score = scores[box];
    if (!isBeaten)
      all.push_back(selected);
  }
}

struct FormatParameters {
  bool isOnnx;
};

FormatParameters decodeFormat(const Attributes& attributes, Types) {
  return {attributes.text("output_format") == "onnx"};
}

KernelFault suppressAllClasses(const KernelCall& call, const FormatParameters& parameters) {
  const Tensor &boxes = call.inputs[0], &scores = call.inputs[1];
  int64_t batches = boxes.shape()[0], count = boxes.shape()[1], classes = scores.shape()[1];
  auto most = onlyElement(call.inputs[2]), limit = onlyElement(call.inputs[3]),
       least = onlyElement(call.inputs[4]);
  if (!most || !limit || !least)
    return {KernelFaultCode::ElementType};
  std::vector<double> corners = readReals(boxes), values = readReals(scores);
  bool isOnnx = parameters.isOnnx;
  int64_t perItem = classes * count, width = isOnnx ? 3 : 2;
  Tensor rows(runtime::Int64,
              isOnnx ? runtime::Shape{batches * perItem, 3} : runtime::Shape{batches, perItem, 2});
  Tensor found(runtime::Float32, {batches, perItem});
  Tensor counts(runtime::Int64, {isOnnx ? 1 : batches});
  std::vector<Selected> all;
  for (int64_t batch = 0; batch < batches; ++batch) {
    if (!isOnnx)
      all.clear();
    for (int64_t type = 0; type < classes; ++type)
      selectOfClass(corners.data() + batch * count * 4,
                    values.data() + (batch * classes + type) * count, count, *most, *limit, *least,
                    {batch, type, 0, 0}, all);
    if (isOnnx && batch + 1 < batches)
      continue;
    int64_t start = isOnnx ? 0 : batch * perItem;
    for (size_t i = 0; i < all.size(); ++i) {
      int64_t at = start + int64_t(i);
      auto row = rows.elements<int64_t>().subspan(size_t(at * width), size_t(width));
      row[size_t(width - 2)] = all[i].type;
      row[size_t(width - 1)] = all[i].box;
      if (isOnnx)
        row[0] = all[i].batch;
      else
        found.elements<float>()[size_t(at)] = float(all[i].score);
    }
    counts.elements<int64_t>()[isOnnx ? 0 : size_t(batch)] = int64_t(all.size());
  }
  if (isOnnx)
    call.outputs = {rows, counts};
  else
    call.outputs = {rows, found, counts};
  return {};
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
     .kernel = kernelOf<decodeColumns, validCounts>(),
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
     .kernel = kernelOf<decodeSuppression, suppress>(),
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
     .kernel = kernelOf<decodeFormat, suppressAllClasses>(),
     .gradient = chooses,
     .examples = allClassExamples,
     .unregisteredAttributes = true},
};

} // namespace

OperatorFamily suppressionFamily() {
  return rows;
}

} // namespace stdlib

// Numbers are read as float64, whatever the element types.
#include "runtime/natives/suppression.h"

#include "runtime/natives/elements.h"
#include "runtime/natives/score_order.h"
#include "runtime/natives/tensor_data.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace natives {

namespace {

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

constexpr NativeType oneEach{runtime::Int32, 1}, table{runtime::Int32, 2};

/// Whether all inputs hold numbers.
bool areNumbers(NativeTypes inputs) {
  return std::ranges::all_of(inputs, [](const NativeType& type) { return isKnown(type.dtype); });
}

/// Whether rows of the data have `count` columns from one on.
bool hasColumns(const Tensor& data, int64_t column, int64_t count) {
  return column <= data.shape()[2] - count;
}

NativeResults validResults(NativeTypes inputs, const ColumnParameters& parameters) {
  bool isGood =
      inputs.size() == 2 && areNumbers(inputs) && inputs[0].rank == 3 && parameters.scoreAt >= 0;
  return isGood ? NativeResults({oneEach, inputs[0], table}) : std::nullopt;
}

NativeFault validCounts(const NativeCall& call, const ColumnParameters& parameters) {
  const Tensor& data = call.inputs[0];
  if (!hasColumns(data, parameters.scoreAt, 1) || !hasColumns(data, parameters.idAt, 1))
    return {NativeFaultCode::Shapes};
  auto threshold = onlyElement(call.inputs[1]);
  if (!threshold)
    return {NativeFaultCode::NotOneNumber, {1, call.inputs[1].size()}};
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

NativeResults suppressedResults(NativeTypes inputs, const SuppressionParameters& parameters) {
  if (inputs.size() != 5 || !areNumbers(inputs) || inputs[0].rank != 3 || inputs[1].rank != 1 ||
      parameters.scoreAt < 0 || parameters.boxAt < 0)
    return std::nullopt;
  if (!parameters.wantsIndices)
    return {{inputs[0]}};
  return inputs[2].rank == 2 ? NativeResults({table, table}) : std::nullopt;
}

/// Whether counts and numbers are of the boxes of the data, whose rows are wide enough.
bool suppressionFits(const NativeCall& call, const SuppressionParameters& parameters) {
  const Tensor& data = call.inputs[0];
  return agree(data.shape(), call.inputs[1].shape(), 0, 1) &&
         (!parameters.wantsIndices || agree(data.shape(), call.inputs[2].shape(), 0, 2)) &&
         hasColumns(data, parameters.scoreAt, 1) && hasColumns(data, parameters.idAt, 1) &&
         hasColumns(data, parameters.boxAt, 4);
}

NativeFault suppress(const NativeCall& call, const SuppressionParameters& parameters) {
  if (!suppressionFits(call, parameters))
    return {NativeFaultCode::Shapes};
  const Tensor &data = call.inputs[0], &indices = call.inputs[2];
  int64_t batches = data.shape()[0], boxes = data.shape()[1], width = data.shape()[2];
  auto most = onlyElement(call.inputs[3]), limit = onlyElement(call.inputs[4]);
  if (!most || !limit)
    return {NativeFaultCode::NotOneNumber, {most ? 4 : 3, call.inputs[most ? 4 : 3].size()}};
  Rules rules{
      width, parameters.scoreAt,   parameters.idAt, parameters.boxAt, parameters.topCount, *limit,
      *most, parameters.isAnyClass};
  bool wantsIndices = parameters.wantsIndices;
  std::vector<double> values = readReals(data), valid = readReals(call.inputs[1]);
  std::vector<double> names = wantsIndices ? readReals(indices) : std::vector<double>();
  Tensor rows(data.dtype(), wantsIndices ? Shape{0} : data.shape());
  for (int64_t i = 0; i < rows.size(); ++i)
    writeReal(rows, i, -1);
  Tensor kept(runtime::Int32, {wantsIndices ? batches : 0, boxes});
  Tensor counts(runtime::Int32, {wantsIndices ? batches : 0, 1});
  std::ranges::fill(kept.elements<int32_t>(), -1);
  for (int64_t batch = 0; batch < batches; ++batch) {
    double given = valid[size_t(batch)];
    if (!(given >= 0 && given <= double(boxes)))
      return {NativeFaultCode::TooManyBoxes,
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

NativeResults classesResults(NativeTypes inputs, const FormatParameters& parameters) {
  bool isGood =
      inputs.size() == 5 && areNumbers(inputs) && inputs[0].rank == 3 && inputs[1].rank == 3;
  for (size_t i = 2; isGood && i < 5; ++i)
    isGood = inputs[i].rank == 0;
  if (!isGood)
    return std::nullopt;
  if (parameters.isOnnx)
    return {{{runtime::Int64, 2}, {runtime::Int64, 1}}};
  return {{{runtime::Int64, 3}, {runtime::Float32, 2}, {runtime::Int64, 1}}};
}

bool classesFit(const NativeCall& call) {
  const Shape &boxes = call.inputs[0].shape(), &scores = call.inputs[1].shape();
  return boxes[0] == scores[0] && boxes[1] == scores[2] && boxes[2] == 4;
}

NativeFault suppressAllClasses(const NativeCall& call, const FormatParameters& parameters) {
  if (!classesFit(call))
    return {NativeFaultCode::Shapes};
  const Tensor &boxes = call.inputs[0], &scores = call.inputs[1];
  int64_t batches = boxes.shape()[0], count = boxes.shape()[1], classes = scores.shape()[1];
  auto most = onlyElement(call.inputs[2]), limit = onlyElement(call.inputs[3]),
       least = onlyElement(call.inputs[4]);
  if (!most || !limit || !least)
    return {NativeFaultCode::ElementType};
  std::vector<double> corners = readReals(boxes), values = readReals(scores);
  bool isOnnx = parameters.isOnnx;
  int64_t perItem = extentTimes(classes, count), width = isOnnx ? 3 : 2;
  Tensor rows(runtime::Int64,
              isOnnx ? Shape{extentTimes(batches, perItem), 3} : Shape{batches, perItem, 2});
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

} // namespace

constinit const NativeOf<ColumnParameters> validBoxes =
    native<ColumnParameters, validResults, validCounts>("validBoxes");
constinit const NativeOf<SuppressionParameters> suppressBoxes =
    native<SuppressionParameters, suppressedResults, suppress>("suppressBoxes");
constinit const NativeOf<FormatParameters> suppressClasses =
    native<FormatParameters, classesResults, suppressAllClasses>("suppressClasses");

} // namespace natives

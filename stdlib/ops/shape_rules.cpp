// Axes, reshaping, slicing, and the gradient of picking.
#include "stdlib/ops/shape_rules.h"

#include "runtime/checks/declared.h"
#include "runtime/limits.h"
#include "stdlib/ops/common.h"
#include "stdlib/ops/fixes.h"

#include <algorithm>
#include <fmt/format.h>

namespace stdlib {

using lang::Dim;
using lang::Dims;
using lang::RelationCall;
using lang::RelationResult;
using lang::Scalar;
using lang::TypeContext;
using runtime::Checked;
using runtime::Problem;

std::string axisProblem(std::string_view attribute, int64_t axis, size_t rank) {
  if (rank == 0)
    return fmt::format("`{}` names axis {}, but the tensor has no dimensions", attribute, axis);
  return fmt::format(
      "`{}` names axis {}, but there {} {}: axes 0 to {}, or -{} to -1 from the back", attribute,
      axis, rank == 1 ? "is" : "are", counted(int64_t(rank), "dimension"), rank - 1, rank);
}

Checked<std::vector<size_t>> normalAxes(std::string_view attribute, std::span<const int64_t> axes,
                                        size_t rank, bool distinct) {
  std::vector<size_t> result;
  std::vector<bool> seen(rank);
  for (int64_t axis : axes) {
    int64_t normal = axis < 0 ? axis + int64_t(rank) : axis;
    if (normal < 0 || normal >= int64_t(rank))
      return Problem{axisProblem(attribute, axis, rank)};
    if (distinct && seen[size_t(normal)])
      return Problem{
          fmt::format("`{}=[{}]` names axis {} twice", attribute, fmt::join(axes, ", "), normal)};
    seen[size_t(normal)] = true;
    result.push_back(size_t(normal));
  }
  return result;
}

const Dim* timesChecked(TypeContext& types, const Dim* left, const Dim* right) {
  int64_t result = 0;
  if (left->isConstant() && right->isConstant() &&
      __builtin_mul_overflow(left->value, right->value, &result))
    return nullptr;
  return types.multiply(left, right);
}

std::optional<Problem> countProblem(const lang::RelationCall& call, Dims from, Dims to) {
  TypeContext& types = call.types;
  const Dim* before = product(types, from);
  const Dim* after = product(types, to);
  // Without the names that both sides have, the products are less likely to grow too large to tell.
  // What sizes of a run decide keeps them, since one may be 0.
  std::vector<const Dim*> left, right(to.begin(), to.end());
  for (const Dim* dim : from)
    if (auto same = std::ranges::find(right, dim);
        call.steps || same == right.end() || !dim->hasSymbol)
      left.push_back(dim);
    else
      right.erase(same);
  if (!call.differ(product(types, left), product(types, right)))
    return std::nullopt;
  return Problem{fmt::format("the shape `{}` has {} elements, but the new shape `{}` has {}",
                             shapeText(from), dimText(before), shapeText(to), dimText(after))};
}

namespace {

/// The state of reading a new shape from left to right.
struct ReshapeScan {
  TypeContext& types;
  Dims from;
  std::span<const int64_t> wanted;
  bool allowZero;
  size_t next = 0;
  size_t cursor = 0;
  std::vector<bool> taken = std::vector<bool>(from.size());
  std::vector<const Dim*> result = {};
  /// The product of the extents that are written as numbers.
  int64_t literals = 1;
  std::optional<size_t> inferred = std::nullopt;
  std::vector<lang::DimBound> bounds = {};
  Problem problem = {};
};

bool fail(ReshapeScan& scan, std::string problem) {
  scan.problem = {std::move(problem)};
  return false;
}

/// Takes the next dimension of the source, or null when there is none.
const Dim* takeDim(ReshapeScan& scan, int64_t special) {
  if (scan.cursor >= scan.from.size()) {
    fail(scan,
         fmt::format("{} in the new shape `[{}]` needs a dimension, but the shape `{}` has no "
                     "more",
                     special, fmt::join(scan.wanted, ", "), shapeText(scan.from)));
    return nullptr;
  }
  scan.taken[scan.cursor] = true;
  return scan.from[scan.cursor++];
}

bool addLiteral(ReshapeScan& scan, int64_t extent) {
  if (__builtin_mul_overflow(scan.literals, extent, &scan.literals))
    return fail(scan, fmt::format("the new shape `[{}]` has too many elements",
                                  fmt::join(scan.wanted, ", ")));
  scan.result.push_back(scan.types.constant(extent));
  return true;
}

bool mergeTwo(ReshapeScan& scan) {
  const Dim* first = takeDim(scan, -3);
  const Dim* second = first ? takeDim(scan, -3) : nullptr;
  if (!second)
    return false;
  const Dim* merged = timesChecked(scan.types, first, second);
  if (!merged)
    return fail(scan, fmt::format("merging {} and {} overflows", dimText(first), dimText(second)));
  scan.result.push_back(merged);
  return true;
}

/// `-4 a b`: the next dimension becomes a times b; one of them may be -1.
bool splitOne(ReshapeScan& scan) {
  if (scan.next + 2 > scan.wanted.size())
    return fail(scan, fmt::format("-4 in the new shape `[{}]` needs two extents behind it",
                                  fmt::join(scan.wanted, ", ")));
  int64_t left = scan.wanted[scan.next++], right = scan.wanted[scan.next++];
  const Dim* whole = takeDim(scan, -4);
  if (!whole)
    return false;
  bool good = (left > 0 || left == -1) && (right > 0 || right == -1) && (left > 0 || right > 0);
  if (!good)
    return fail(scan, fmt::format("-4 in the new shape `[{}]` cannot split into {} and {}",
                                  fmt::join(scan.wanted, ", "), left, right));
  int64_t known = left > 0 ? left : right;
  const Dim* other = scan.types.floorDivide(whole, known);
  const Dim* constant = scan.types.constant(known);
  int64_t both = 0;
  if (left > 0 && right > 0) {
    other = scan.types.constant(right);
    if (__builtin_mul_overflow(left, right, &both))
      both = -1;
  }
  bool fits =
      !whole->isConstant() || (both != 0 ? both == whole->value : whole->value % known == 0);
  if (!fits)
    return fail(scan, fmt::format("-4 in the new shape `[{}]` cannot split {} into {} and {}",
                                  fmt::join(scan.wanted, ", "), dimText(whole), left, right));
  scan.bounds.push_back({whole, 0, known});
  scan.result.push_back(left > 0 ? constant : other);
  scan.result.push_back(left > 0 ? other : constant);
  return true;
}

bool readOne(ReshapeScan& scan) {
  int64_t value = scan.wanted[scan.next++];
  if (value > 0 || (value == 0 && scan.allowZero)) {
    scan.cursor += value > 0;
    return addLiteral(scan, value);
  }
  switch (value) {
  case 0: {
    const Dim* dim = takeDim(scan, 0);
    if (dim)
      scan.result.push_back(dim);
    return dim != nullptr;
  }
  case -1:
    if (scan.inferred)
      return fail(scan,
                  fmt::format("the new shape `[{}]` has -1 twice", fmt::join(scan.wanted, ", ")));
    scan.inferred = scan.result.size();
    scan.result.push_back(scan.types.constant(1));
    scan.cursor++;
    return true;
  case -2:
    while (scan.cursor < scan.from.size())
      scan.result.push_back(takeDim(scan, -2));
    return true;
  case -3:
    return mergeTwo(scan);
  case -4:
    return splitOne(scan);
  default:
    return fail(scan, fmt::format("{} in the new shape `[{}]` means nothing", value,
                                  fmt::join(scan.wanted, ", ")));
  }
}

/// The problem that the numbers do not divide the `rest` of the source, of which all leading
/// extents that stay the same are left out.
std::string remainderProblem(const ReshapeScan& scan, int64_t rest) {
  int64_t literals = scan.literals;
  for (size_t i = 0; i < scan.from.size() && i < scan.wanted.size(); ++i) {
    int64_t extent = scan.wanted[i];
    if (extent < 2 || !scan.from[i]->isConstant(extent) || rest % extent != 0)
      break;
    rest /= extent;
    literals /= extent;
  }
  return fmt::format("the shape `{}` does not fit the new shape `[{}]`: {} is not a multiple of {}",
                     shapeText(scan.from), fmt::join(scan.wanted, ", "), rest, literals);
}

/// Finds the extent of -1: what the dimensions that were not copied hold beyond the numbers.
bool infer(ReshapeScan& scan) {
  const Dim* rest = scan.types.constant(1);
  for (size_t i = 0; i < scan.from.size(); ++i)
    if (!scan.taken[i])
      rest = scan.types.multiply(rest, scan.from[i]);
  if (scan.literals == 0)
    return fail(scan, fmt::format("-1 in the new shape `[{}]` is not determined beside a zero",
                                  fmt::join(scan.wanted, ", ")));
  if (rest->isConstant() && rest->value % scan.literals != 0)
    return fail(scan, remainderProblem(scan, rest->value));
  scan.bounds.push_back({rest, 0, scan.literals});
  scan.result[*scan.inferred] = scan.types.floorDivide(rest, scan.literals);
  return true;
}

} // namespace

Checked<std::vector<const Dim*>> reshapedDims(const lang::RelationCall& call, Dims from,
                                              std::span<const int64_t> wanted, bool allowZero,
                                              std::vector<lang::DimBound>* bounds) {
  ReshapeScan scan{call.types, from, wanted, allowZero};
  bool good = true;
  while (good && scan.next < wanted.size())
    good = readOne(scan);
  if (good && scan.inferred)
    good = infer(scan);
  // One too long is refused as what it is.
  if (good && scan.result.size() <= runtime::mostDimensions)
    if (auto different = countProblem(call, from, scan.result))
      good = fail(scan, different->text);
  if (!good)
    return scan.problem;
  if (bounds)
    *bounds = std::move(scan.bounds);
  return scan.result;
}

Checked<std::vector<AxisSlice>> axisSlices(const SliceBounds& bounds, size_t rank) {
  size_t count = std::max({bounds.begin.size(), bounds.end.size(), bounds.strides.size()});
  auto lacks = [](const std::vector<int64_t>& list, const std::vector<int64_t>& axes) {
    return !list.empty() && list.size() < axes.size();
  };
  std::vector<int64_t> axes;
  if (bounds.axes)
    axes = *bounds.axes;
  else
    for (size_t i = 0; i < std::min(count, rank); ++i)
      axes.push_back(int64_t(i));
  if (count > axes.size())
    return Problem{
        bounds.axes
            ? fmt::format("`axes` names {} dimensions, but there are {} bounds", axes.size(), count)
            : fmt::format("there are {} bounds, but the tensor has rank {}", count, rank)};
  if (bounds.axes && (lacks(bounds.begin, axes) || lacks(bounds.end, axes)))
    return Problem{
        fmt::format("`axes` names {} dimensions, but `begin` has {} bounds and `end` has {}",
                    axes.size(), bounds.begin.size(), bounds.end.size())};
  if (bounds.mode != "end" && bounds.mode != "size")
    return Problem{
        fmt::format("`slice_mode` is `{}`, but it must be `end` or `size`", bounds.mode)};
  auto normal = normalAxes("axes", axes, rank, true);
  if (!normal)
    return normal.failure();
  std::vector<AxisSlice> slices(rank);
  for (size_t i = 0; i < normal->size(); ++i) {
    AxisSlice& slice = slices[(*normal)[i]];
    slice.endIsSize = bounds.mode == "size";
    if (i < bounds.begin.size())
      slice.begin = bounds.begin[i];
    if (i < bounds.end.size() && !(slice.endIsSize && bounds.end[i] < 0))
      slice.end = bounds.end[i];
    if (i < bounds.strides.size() && !slice.endIsSize)
      slice.stride = std::max(bounds.strides[i], -INT64_MAX);
    if (slice.stride == 0)
      return Problem{fmt::format("the stride of dimension {} is 0", (*normal)[i])};
  }
  return slices;
}

namespace {

/// The extent of a slice of any extent: bounds that lie outside are moved.
const Dim* movedForm(const RelationCall& call, const Dim* extent, const AxisSlice& slice,
                     std::vector<lang::DimBound>& bounds) {
  using checks::SizeKind;
  lang::TypeContext& types = call.types;
  const Dim* zero = types.constant(0);
  bool forward = slice.stride > 0;
  auto lesser = [&](const Dim* at) { return call.steps->compute(SizeKind::Least, at, extent); };
  // Positions count from the low end, which backwards is one before the first element.
  auto place = [&](int64_t bound) {
    constexpr int64_t most = INT64_MAX / 2;
    const Dim* at = types.constant(std::clamp(bound, -most, most) + (forward ? 0 : 1));
    if (bound < 0)
      at = types.add(at, extent);
    return lesser(notNegative(call, at));
  };
  const Dim* begin = slice.begin ? place(*slice.begin) : forward ? zero : extent;
  const Dim* end = forward ? extent : zero;
  if (slice.end)
    end =
        slice.endIsSize ? lesser(types.add(begin, types.constant(*slice.end))) : place(*slice.end);
  const Dim* distance = types.subtract(forward ? end : begin, forward ? begin : end);
  bounds.push_back({distance, 0});
  int64_t step = forward ? slice.stride : -slice.stride;
  return types.floorDivide(types.add(distance, types.constant(step - 1)), step);
}

/// The extent of a slice of a named extent whose bounds lie inside; `?` when they never do, or when
/// the name is one of Relay's, for which it does so.
const Dim* slicedForm(const RelationCall& call, const Dim* extent, const AxisSlice& slice,
                      std::vector<lang::DimBound>& bounds) {
  if (call.steps)
    return movedForm(call, extent, slice, bounds);
  if (extent->isAny() || extent->hasForeign)
    return call.types.any();
  lang::TypeContext& types = call.types;
  bool forward = slice.stride > 0;
  auto shifted = [&](const Dim* dim, int64_t by) { return types.add(dim, types.constant(by)); };
  const Dim* low = types.constant(forward ? 0 : -1);
  const Dim* high = forward ? extent : shifted(extent, -1);
  bool isEver = true;
  auto need = [&](const Dim* room) {
    isEver = isEver && !(room->isConstant() && room->value < 0);
    bounds.push_back({room, 0});
  };
  auto inside = [&](const Dim* position) {
    need(types.subtract(position, low));
    need(types.subtract(high, position));
    return position;
  };
  // Bounds that are as large as this mean the end of whatever there is.
  constexpr int64_t endless = INT32_MAX;
  auto place = [&](std::optional<int64_t> bound, const Dim* otherwise) {
    if (!bound)
      return otherwise;
    if (*bound >= endless || *bound <= -endless)
      return *bound > 0 ? high : low;
    return inside(*bound < 0 ? shifted(extent, *bound) : types.constant(*bound));
  };
  const Dim* begin = place(slice.begin, forward ? low : high);
  const Dim* end = forward ? high : low;
  if (slice.end && slice.endIsSize)
    end = *slice.end >= endless ? high : inside(shifted(begin, *slice.end));
  else
    end = place(slice.end, end);
  const Dim* distance = types.subtract(forward ? end : begin, forward ? begin : end);
  need(distance);
  int64_t step = forward ? slice.stride : -slice.stride;
  return isEver ? types.floorDivide(shifted(distance, step - 1), step) : types.any();
}

} // namespace

RelationResult slicedResult(const RelationCall& call, std::span<const AxisSlice> slices) {
  Dims shape = call.shape(0);
  std::vector<const Dim*> result;
  std::vector<lang::DimBound> bounds;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (slices[i].isWhole()) {
      result.push_back(shape[i]);
    } else if (!shape[i]->isConstant()) {
      result.push_back(slicedForm(call, shape[i], slices[i], bounds));
    } else if (auto range = resolveSlice(slices[i], shape[i]->value)) {
      result.push_back(range->count == shape[i]->value ? shape[i]
                                                       : call.types.constant(range->count));
    } else {
      return call.failed(fmt::format("the slice of dimension {} begins at {} behind its end at {} "
                                     "(stride {}, shape `{}`)",
                                     i, *slices[i].begin, *slices[i].end, slices[i].stride,
                                     shapeText(shape)));
    }
  }
  RelationResult answer = call.solved(result, call.dtype(0));
  for (const lang::DimBound& bound : bounds)
    requireAtLeast(answer, bound.dim, bound.least);
  return answer;
}

Scalar sliceBegin(const lang::ComputeCall& call, const AxisSlice& slice, Scalar extent) {
  bool forward = slice.stride > 0;
  Scalar low = call.integer(forward ? 0 : -1);
  Scalar high = forward ? extent : extent - call.integer(1);
  if (!slice.begin)
    return forward ? low : high;
  Scalar begin = call.integer(*slice.begin);
  if (*slice.begin < 0)
    begin = begin + extent;
  return minimum(maximum(begin, low), high);
}

namespace {

/// Whether a vector of bounds has that entry.
Scalar hasEntry(const lang::TensorHandle& bounds, size_t entry) {
  return bounds.extent(0) > double(entry);
}

Scalar entryOf(const lang::TensorHandle& bounds, size_t entry) {
  return cast(bounds({number(bounds.extent(0), double(entry))}), runtime::Int64);
}

/// The given bound, or the low or the high end of the dimension.
Scalar boundOf(const DataSlice& slice, const lang::TensorHandle& bounds, bool lowByDefault) {
  Scalar extent = slice.extent;
  Scalar low = select(slice.isForward, number(extent, 0), number(extent, -1));
  Scalar high = select(slice.isForward, extent, extent - 1.0);
  Scalar given = entryOf(bounds, slice.entry);
  given = select(given < 0.0, given + extent, given);
  Scalar otherwise =
      lowByDefault ? select(slice.isForward, low, high) : select(slice.isForward, high, low);
  return select(hasEntry(bounds, slice.entry), minimum(maximum(given, low), high), otherwise);
}

} // namespace

DataSlice::DataSlice(size_t entryNumber, Scalar extentOfDim)
    : entry(entryNumber), extent(extentOfDim), stride(number(extentOfDim, 1)),
      isForward(stride > 0.0) {}

DataSlice::DataSlice(const lang::TensorHandle& strides, size_t entryNumber, Scalar extentOfDim)
    : DataSlice(entryNumber, extentOfDim) {
  Scalar given = select(hasEntry(strides, entry), entryOf(strides, entry), stride);
  stride = maximum(given, number(extent, -0x1p62));
  isForward = stride > 0.0;
}

Scalar DataSlice::begin(const lang::TensorHandle& begins) const {
  return boundOf(*this, begins, true);
}

Scalar DataSlice::end(const lang::TensorHandle& ends) const {
  return boundOf(*this, ends, false);
}

Scalar wrapNegative(Scalar index, Scalar extent) {
  Scalar place = cast(index, runtime::Int64);
  if (!index.dtype().isSigned())
    return place;
  // A position before the first stays as it was given, so that a fault shows it so.
  Scalar wrapped = place + extent;
  return select(place < 0.0, select(wrapped < 0.0, place, wrapped), place);
}

} // namespace stdlib

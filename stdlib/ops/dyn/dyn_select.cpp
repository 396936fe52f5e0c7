// The dynamic operators that choose elements: slices and the largest ones, by bounds and counts
// that come from operands.
#include "stdlib/ops/common.h"
#include "stdlib/ops/data/sort.h"
#include "stdlib/ops/dyn_rules.h"
#include "stdlib/ops/families.h"
#include "stdlib/ops/gradient.h"
#include "stdlib/ops/shape_rules.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <numeric>

namespace stdlib {

namespace {

using namespace lang;

/// How much of an extent is between the bounds of entry `i`, which have to lie inside of it then;
/// `?` where they are not known.
const Dim* slicedSize(const RelationCall& call, const Dim* extent, size_t i,
                      std::vector<const Dim*>& notNegative) {
  auto begin = call.sizesIn(1), end = call.sizesIn(2), step = call.sizesIn(3);
  bool areEnds = call.attributes.text("slice_mode") == "end";
  if (!areEnds || !begin || !end || !step || !(*step)[i]->isConstant(1))
    return call.types.any();
  const Dim *from = (*begin)[i], *to = (*end)[i], *length = call.types.subtract(to, from);
  for (const Dim* part : {from, call.types.subtract(extent, to), length})
    if (part->isConstant() && part->value < 0)
      return call.types.any();
    else
      notNegative.push_back(part);
  return length;
}

RelationResult dynStridedSliceRelation(const RelationCall& call) {
  size_t count = 0;
  for (size_t i = 1; i < 4; ++i) {
    if (auto problem = requireVector(call, i))
      return *problem;
    count = std::max(count, lengthOf(call, i));
  }
  auto begin = knownIntegers(call, 1), end = knownIntegers(call, 2);
  auto strides = knownIntegers(call, 3);
  bool isKnown = begin && end && strides;
  SliceBounds bounds{std::vector<int64_t>(count, 0), {}, {}};
  if (isKnown)
    bounds = {*begin, *end, *strides};
  if (!call.attributes.isNull("axes"))
    bounds.axes = call.attributes.integers("axes");
  bounds.mode = call.attributes.text("slice_mode");
  auto slices = axisSlices(bounds, call.rank(0));
  if (!slices)
    return call.failed(slices.failure());
  if (isKnown)
    return slicedResult(call, *slices);
  DimVector shape(call.shape(0).begin(), call.shape(0).end());
  std::vector<const Dim*> notNegative;
  for (size_t i = 0; i < count; ++i) {
    int64_t axis = bounds.axes ? (*bounds.axes)[i] : int64_t(i);
    const Dim*& extent = shape[*call.normalAxis(axis, shape.size())];
    extent = slicedSize(call, extent, i, notNegative);
  }
  RelationResult result = call.solved(shape, call.dtype(0));
  for (const Dim* part : notNegative)
    requireAtLeast(result, part, 0);
  return result;
}

RelationResult dynTopkRelation(const RelationCall& call) {
  bool one = std::ranges::all_of(call.shape(1), [](const Dim* dim) { return dim->isConstant(1); });
  if (!one || call.rank(1) > 1 || !isCount(call.dtype(1)))
    return call.failedAt(1, words("`k` must be one number, but it is `{}`", call.operands[1]));
  if (const Dim* size = knownSize(call, 1); size && !size->isConstant())
    return topkResult(call, size);
  if (auto count = knownIntegers(call, 1); count && !call.value(1))
    return topkResult(call, count->front() < 1 ? nullptr : call.types.constant(count->front()));
  if (!call.value(1))
    return withCounts(call, 1, topkResult(call, call.types.any()));
  auto k = wholeValues(*call.value(1));
  if (!k)
    return noCount(call, 1);
  return topkResult(call, k->front() < 1 ? nullptr : call.types.constant(k->front()));
}

void computeStridedSlice(ComputeCall& call) {
  TensorHandle x = call.input(0), begin = call.input(1), strides = call.input(3);
  const Attributes& attributes = call.attributes();
  bool hasStrides = attributes.text("slice_mode") != "size";
  std::vector<size_t> entries(x.rank());
  std::iota(entries.begin(), entries.end(), size_t(0));
  if (!attributes.isNull("axes")) {
    std::vector<int64_t> axes = attributes.integers("axes");
    // What no entry is about is taken whole.
    entries.assign(x.rank(), largestRank);
    for (size_t i = 0; i < axes.size(); ++i)
      entries[size_t(axes[i] < 0 ? axes[i] + int64_t(x.rank()) : axes[i])] = i;
  }
  call.result([&](const Position& at) {
    Position from;
    for (size_t i = 0; i < at.size(); ++i) {
      DataSlice slice = hasStrides ? DataSlice(strides, entries[i], x.extent(i))
                                   : DataSlice(entries[i], x.extent(i));
      from.push_back(slice.begin(begin) + at[i] * slice.stride);
    }
    return x(from);
  });
}

constexpr OperandRow sliceOperands[] = {{"data", "the input"},
                                        {"begin", "where the slice begins in each dimension"},
                                        {"end", "before which it ends, or its lengths"},
                                        {"strides", "the distances between its positions"}};
constexpr OperandRow topkOperands[] = {
    {"data", "the input"}, {"k", "how many to keep, of a float the whole part; all if below 1"}};

constexpr AttributeRow sliceAttributes[] = {
    {"begin", AttributeKind::IntList, "", "unused: the operand counts", true},
    {"end", AttributeKind::IntList, "", "unused: the operand counts", true},
    {"strides", AttributeKind::IntList, "", "unused: the operand counts", true},
    {"slice_mode", AttributeKind::String, "\"end\"",
     "whether `end` holds ends or lengths (`size`)"},
    {"axes", AttributeKind::IntList, "", "the dimensions to slice; the first ones if `None`",
     true}};
constexpr AttributeRow topkAttributes[] = {
    {"k", AttributeKind::Int, "", "unused: the operand counts", true},
    {"axis", AttributeKind::Int, "-1", "the dimension to sort along"},
    {"ret_type", AttributeKind::String, "\"both\"", "what to return: both, values or indices"},
    {"is_ascend", AttributeKind::Bool, "False", "the smallest first"},
    {"dtype", AttributeKind::DType, "\"\"", "the element type of positions; int32 when unset"}};

constexpr Example sliceExamples[] = {
    {"dyn.strided_slice([1f, 2f, 3f, 4f], [1], [4], [2], begin=None, end=None, strides=None, "
     "axes=None)",
     "[2f, 4f]"}};
constexpr Example topkExamples[] = {{"dyn.topk([3f, 1f, 4f], 2, k=None)", "([4f, 3f], [2, 0])"},
                                    {"dyn.topk([3f, 1f, 4f], [1.5f], k=None)", "([4f], [2])"}};

void dynStridedSliceGradient(GradientCall& d) {
  Term data = d.operand(0), begin = d.operand(1), end = d.operand(2), strides = d.operand(3);
  bool isOfLeading = d.attributes().isNull("axes") && d.attributes().text("slice_mode") == "end" &&
                     std::ranges::all_of(std::array{begin, end, strides}, [](const Term& bounds) {
                       return bounds.dtype().isInteger();
                     });
  if (isOfLeading) {
    auto sum = d.takeSum(0);
    Term part = d.cotangent();
    if (sum)
      part = part + d.call("dyn.strided_slice", {*sum, begin, end, strides}, sameAttributes(d));
    return give(d, 0,
                d.call("strided_set", {sum ? *sum : zerosLike(data), part, begin, end, strides}));
  }
  Term places =
      d.call("dyn.strided_slice", {placesLike(data), begin, end, strides}, sameAttributes(d));
  give(d, 0, addedAtPlaces(d.cotangent(), places, data));
}

constexpr OperatorRow rows[] = {
    {.name = "dyn.strided_slice",
     .doc = "Reads every stride-th element between bounds that are computed.",
     .details = "The bounds mean what they do in `strided_slice`.",
     .operands = sliceOperands,
     .attributes = sliceAttributes,
     .attributesKey = "relay.attrs.StridedSliceAttrs",
     .relation = dynStridedSliceRelation,
     .compute = computeStridedSlice,
     .fixed = {"strided_slice"},
     .gradient = GradientRule{dynStridedSliceGradient, {}, true},
     .examples = sliceExamples,
     .shapeNeeds = ShapeNeeds::Values},
    {.name = "dyn.topk",
     .doc = "Gives the largest or smallest elements along a dimension, as many as is computed.",
     .operands = topkOperands,
     .attributes = topkAttributes,
     .attributesKey = "relay.attrs.TopkAttrs",
     .relation = dynTopkRelation,
     .native = ordering(nativeOf<natives::firstOfLinesByOperand, decodeTopk>()),
     .fixed = {"topk"},
     .gradient = GradientRule{topkGradient},
     .examples = topkExamples,
     .shapeNeeds = ShapeNeeds::Values},
};

} // namespace

lang::OperatorFamily dynSelectFamily() {
  return rows;
}

} // namespace stdlib

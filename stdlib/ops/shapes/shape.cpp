// Operators that change the shape and keep the elements: reshape and its kin, transpose,
// broadcasts.
//
// Reshapes are views: nothing is computed. `squeeze` without axes drops the dimensions that are 1
// in the type, so it needs a static shape.
#include "stdlib/ops/checks.h"
#include "stdlib/ops/common.h"
#include "stdlib/ops/families.h"
#include "stdlib/ops/shape_fixes.h"
#include "stdlib/ops/shape_rules.h"
#include "stdlib/ops/simplify.h"

#include <algorithm>
#include <fmt/format.h>

namespace stdlib {

using runtime::Checked;
using runtime::Problem;

namespace {

using namespace lang;

RelationResult expandDimsRelation(const RelationCall& call) {
  int64_t axis = call.attributes.integer("axis");
  int64_t count = call.attributes.integer("num_newaxis");
  auto at = call.normalAxis(axis, call.rank(0) + 1);
  if (!at)
    return axisFailureIn(call, "axis", axis, call.rank(0) + 1);
  if (count < 0 || count > int64_t(largestRank))
    return call.failed(
        fmt::format("`num_newaxis` is {}, but it must be 0 to {}", count, largestRank));
  DimVector shape(call.shape(0).begin(), call.shape(0).end());
  shape.insert(shape.begin() + ptrdiff_t(*at), size_t(count), call.types.constant(1));
  return call.solved(shape, call.dtype(0));
}

RelationResult squeezeAll(const RelationCall& call) {
  DimVector shape;
  for (const Dim* dim : call.shape(0)) {
    if (!dim->isConstant())
      return mended(call.failed(fmt::format("without `axis` the shape must be static, but it is "
                                            "`{}`",
                                            shapeText(call.shape(0)))),
                    {"`axis` lists the dimensions to drop"});
    if (!dim->isConstant(1))
      shape.push_back(dim);
  }
  return call.solved(shape, call.dtype(0));
}

RelationResult squeezeRelation(const RelationCall& call) {
  if (call.attributes.isNull("axis"))
    return squeezeAll(call);
  auto axes = normalAxes("axis", call.attributes.integers("axis"), call.rank(0), false);
  if (!axes)
    return call.failed(axes.failure());
  std::vector<bool> dropped(call.rank(0));
  for (size_t axis : *axes) {
    const Dim* dim = call.shape(0)[axis];
    if (cannotBe(call, dim, 1))
      return failedCall(call, {{0, axis}},
                        fmt::format("only dimensions of 1 can be dropped, but dimension {} of "
                                    "`data` is {}",
                                    axis, dimText(dim)));
    dropped[axis] = true;
  }
  DimVector shape;
  for (size_t i = 0; i < call.rank(0); ++i)
    if (!dropped[i])
      shape.push_back(call.shape(0)[i]);
  return call.solved(shape, call.dtype(0));
}

RelationResult reshaped(const RelationCall& call, const DimVector& shape,
                        const std::vector<DimBound>& bounds) {
  RelationResult result = solvedAsWritten(call, "newshape", Dims(shape), call.dtype(0));
  for (const DimBound& bound : bounds)
    requireMultiple(result, bound.dim, bound.divisor);
  return result;
}

RelationResult reshapeRelation(const RelationCall& call) {
  std::vector<DimBound> bounds;
  auto shape = reshapedDims(call, call.shape(0), call.attributes.integers("newshape"),
                            call.attributes.boolean("allowzero"), &bounds);
  return shape ? reshaped(call, *shape, bounds) : call.failed(shape.failure());
}

Fixes fixReshape(const RelationCall& call) {
  return reshapeFix(call, reshapeRelation);
}

Fix fixSqueeze(const RelationCall& call) {
  return squeezeFix(call, squeezeRelation);
}

RelationResult reverseReshapeRelation(const RelationCall& call) {
  DimVector from(call.shape(0).rbegin(), call.shape(0).rend());
  std::vector<int64_t> wanted = call.attributes.integers("newshape");
  std::ranges::reverse(wanted);
  std::vector<DimBound> bounds;
  auto shape = reshapedDims(call, from, wanted, call.attributes.boolean("allowzero"), &bounds);
  if (!shape)
    return call.failed(fmt::format("read from the right, {}", shape.failure().text));
  std::ranges::reverse(*shape);
  return reshaped(call, *shape, bounds);
}

/// A half-open range of dimensions from two attributes, or nothing.
std::optional<std::pair<size_t, size_t>> dimRange(const RelationCall& call, std::string_view begin,
                                                  std::string_view end, size_t rank) {
  auto place = [rank](int64_t at) { return at < 0 ? at + int64_t(rank) : at; };
  int64_t first = place(call.attributes.integer(begin));
  int64_t last = call.attributes.isNull(end) ? int64_t(rank) : place(call.attributes.integer(end));
  if (first < 0 || last < first || last > int64_t(rank))
    return std::nullopt;
  return std::pair(size_t(first), size_t(last));
}

RelationResult reshapeLikeRelation(const RelationCall& call) {
  Dims data = call.shape(0), like = call.shape(1);
  auto left = dimRange(call, "lhs_begin", "lhs_end", data.size());
  if (!left)
    return call.failed(
        fmt::format("`lhs_begin` and `lhs_end` are no range of dimensions of a tensor "
                    "of rank {}",
                    data.size()));
  auto right = dimRange(call, "rhs_begin", "rhs_end", like.size());
  if (!right)
    return call.failed(
        fmt::format("`rhs_begin` and `rhs_end` are no range of dimensions of a tensor "
                    "of rank {}",
                    like.size()));
  DimVector shape(data.begin(), data.begin() + ptrdiff_t(left->first));
  shape.insert(shape.end(), like.begin() + ptrdiff_t(right->first),
               like.begin() + ptrdiff_t(right->second));
  shape.insert(shape.end(), data.begin() + ptrdiff_t(left->second), data.end());
  if (auto problem = countProblem(call, data, shape))
    return call.failed(*problem);
  return call.solved(shape, call.dtype(0));
}

RelationResult batchFlattenRelation(const RelationCall& call) {
  Dims data = call.shape(0);
  if (data.empty())
    return call.failedAt(0, "the data must have a batch dimension, but its rank is 0");
  const Dim* rest = call.types.constant(1);
  for (const Dim* dim : data.subspan(1)) {
    rest = timesChecked(call.types, rest, dim);
    if (!rest)
      return call.failedForSize(
          fmt::format("the shape `{}` is too large to flatten", shapeText(data)));
  }
  return call.solved({data[0], rest}, call.dtype(0));
}

/// The permutation of `transpose`; missing axes reverse the dimensions.
Checked<std::vector<size_t>> permutation(const Attributes& attributes, size_t rank) {
  std::vector<int64_t> axes = attributes.integers("axes");
  if (attributes.isNull("axes"))
    for (size_t i = rank; i-- > 0;)
      axes.push_back(int64_t(i));
  auto normal = normalAxes("axes", axes, rank, true);
  if (normal && normal->size() != rank)
    return Problem{fmt::format("`axes=[{}]` has {} entries, but `data` has {}",
                               fmt::join(axes, ", "), axes.size(),
                               counted(int64_t(rank), "dimension"))};
  return normal;
}

RelationResult transposeRelation(const RelationCall& call) {
  auto axes = permutation(call.attributes, call.rank(0));
  if (!axes)
    return call.failed(axes.failure());
  DimVector shape;
  for (size_t axis : *axes)
    shape.push_back(call.shape(0)[axis]);
  return call.solved(shape, call.dtype(0));
}

Fixes fixTranspose(const RelationCall& call) {
  return permutationFix(call, transposeRelation);
}

RelationResult broadcastToRelation(const RelationCall& call) {
  auto shape = shapeAttribute(call, "shape");
  if (!shape)
    return call.failed(fmt::format("`shape` is `[{}]`, but extents must not be negative",
                                   fmt::join(call.attributes.integers("shape"), ", ")));
  if (!broadcastsTo(call, call.shape(0), *shape))
    return call.failedAt(0, fmt::format("the shape `{}` does not broadcast to `{}`",
                                        shapeText(call.shape(0)), shapeText(*shape)));
  return solvedAsWritten(call, "shape", *shape, call.dtype(0));
}

RelationResult broadcastToLikeRelation(const RelationCall& call) {
  if (auto problem = requireSameDType(call, 0, 1))
    return *problem;
  if (!broadcastsTo(call, call.shape(0), call.shape(1)))
    return call.failedAt(0, fmt::format("the shape `{}` does not broadcast to `{}`",
                                        shapeText(call.shape(0)), shapeText(call.shape(1))));
  return call.solved(call.operands[1]);
}

void computeView(ComputeCall& call) {
  call.result(call.reshape(call.input(0), call.outputShape()));
}

void computeTranspose(ComputeCall& call) {
  TensorHandle x = call.input(0);
  auto axes = *permutation(call.attributes(), x.rank());
  call.result([&](const Position& at) {
    Position from(at.size());
    for (size_t i = 0; i < at.size(); ++i)
      from[axes[i]] = at[i];
    return x(from);
  });
}

void computeBroadcast(ComputeCall& call) {
  TensorHandle x = call.input(0);
  call.result(
      [&](const Position& at) { return x(broadcastTo(at, call.outputShape(), x.shape())); });
}

constexpr OperandRow data[] = {{"data", "the input"}};
constexpr OperandRow dataLike[] = {{"data", "the input"},
                                   {"shape_like", "a tensor whose shape counts"}};
constexpr OperandRow dataBroadcastType[] = {{"data", "the input"},
                                            {"broadcast_type", "a tensor of the wanted type"}};

constexpr AttributeRow expandDimsAttributes[] = {
    {"axis", AttributeKind::Int, "", "where the new dimensions go"},
    {"num_newaxis", AttributeKind::Int, "1", "how many dimensions to insert"}};
constexpr AttributeRow squeezeAttributes[] = {{"axis", AttributeKind::IntList, "None",
                                               "the dimensions to drop; all of extent 1 if missing",
                                               true}};
constexpr AttributeRow reshapeAttributes[] = {
    {"newshape", AttributeKind::IntList, "", "the new extents, with special values below 1"},
    {"allowzero", AttributeKind::Bool, "False", "0 means an extent of zero, not a copy"}};
constexpr AttributeRow reshapeLikeAttributes[] = {
    {"lhs_begin", AttributeKind::Int, "0", "the first dimension of the data to replace"},
    {"lhs_end", AttributeKind::Int, "None", "behind the last one to replace", true},
    {"rhs_begin", AttributeKind::Int, "0", "the first dimension to take from `shape_like`"},
    {"rhs_end", AttributeKind::Int, "None", "behind the last one to take", true}};
constexpr AttributeRow transposeAttributes[] = {
    {"axes", AttributeKind::IntList, "", "the permutation; reversed dimensions if `None`", true}};
constexpr AttributeRow initAttributes[] = {
    {"shape", AttributeKind::IntList, "", "the shape of the result", true},
    {"dtype", AttributeKind::DType, "\"\"", "unused: the result has the element type of the data"}};

constexpr Example expandDimsExamples[] = {
    {"expand_dims([1f, 2f], axis=0)", "[[1f, 2f]]"},
    {"expand_dims([1f, 2f], axis=-1, num_newaxis=2)", "[[[1f]], [[2f]]]"}};
constexpr Example squeezeExamples[] = {{"squeeze([[[1f], [2f]]])", "[1f, 2f]"},
                                       {"squeeze([[[1f], [2f]]], axis=[-1])", "[[1f, 2f]]"}};
constexpr Example reshapeExamples[] = {
    {"reshape([1f, 2f, 3f, 4f], newshape=[2, -1])", "[[1f, 2f], [3f, 4f]]"},
    {"reshape([[1f, 2f], [3f, 4f]], newshape=[-3])", "[1f, 2f, 3f, 4f]"},
    {"reshape([[1f, 2f], [3f, 4f]], newshape=[-4, 1, -1, -2])", "[[[1f, 2f], [3f, 4f]]]"}};
constexpr Example reverseReshapeExamples[] = {
    {"contrib_reverse_reshape([[[1, 2]], [[3, 4]]], newshape=[-1, 0])", "[[1, 2], [3, 4]]"}};
constexpr Example reshapeLikeExamples[] = {
    {"reshape_like([1f, 2f, 3f, 4f], [[0f, 0f], [0f, 0f]])", "[[1f, 2f], [3f, 4f]]"},
    {"reshape_like([[1, 2, 3, 4]], [[0, 0], [0, 0]], lhs_begin=1, rhs_begin=0)",
     "[[[1, 2], [3, 4]]]"}};
constexpr Example transposeExamples[] = {
    {"transpose([[1f, 2f], [3f, 4f]], axes=None)", "[[1f, 3f], [2f, 4f]]"},
    {"transpose([[[1, 2]], [[3, 4]]], axes=[1, 0, -1])", "[[[1, 2], [3, 4]]]"}};
constexpr Example batchFlattenExamples[] = {
    {"nn.batch_flatten([[[1f, 2f], [3f, 4f]]])", "[[1f, 2f, 3f, 4f]]"}};
constexpr Example broadcastToExamples[] = {
    {"broadcast_to([1f, 2f], shape=[2, 2])", "[[1f, 2f], [1f, 2f]]"},
    {"broadcast_to([[1], [2]], shape=[2, 2])", "[[1, 1], [2, 2]]"}};
constexpr Example broadcastToLikeExamples[] = {{"broadcast_to_like(1f, [[0f, 0f]])", "[[1f, 1f]]"}};

void transposeGradient(GradientCall& d) {
  size_t rank = d.operand(0).rank();
  auto axes = permutation(d.attributes(), rank);
  std::vector<size_t> inverse(rank);
  for (size_t i = 0; i < rank; ++i)
    inverse[(*axes)[i]] = i;
  give(d, 0, transposed(d.cotangent(), inverse));
}

void broadcastGradient(GradientCall& d) {
  toBroadcast(d, 0, d.cotangent());
}

/// Two permutations are one, which may move nothing.
void simplifyTranspose(SimplifyCall& s) {
  if (becomesZeros(s))
    return;
  Term source = s.operand(0);
  std::vector<size_t> axes = *permutation(s.attributes(), source.rank());
  auto inner = s.madeBy(source, "transpose");
  if (inner) {
    source = inner->operands[0];
    std::vector<size_t> first = *permutation(*inner->attributes, source.rank());
    for (size_t& axis : axes)
      axis = first[axis];
  }
  if (inner || std::ranges::is_sorted(axes))
    s.becomesIfTyped(transposed(source, axes));
}

void simplifyBroadcast(SimplifyCall& s) {
  if (becomesZeros(s))
    return;
  Term source = broadcastSource(s, s.operand(0));
  bool isRepeated = source.atom() != s.operand(0).atom();
  Dims shape = s.resultType()->shape;
  if (isSameShape(source.shape(), shape) && s.becomesIfTyped(source))
    return;
  bool readsShape = s.operandCount() == 2;
  if ((isRepeated || readsShape) && isStatic(shape))
    s.becomesIfTyped(s.call("broadcast_to", {source}, {{"shape", extentsOf(shape)}}));
  else if (readsShape && haveOneShape(s, source, s.operand(1)))
    s.becomesIfTyped(source);
  else if (readsShape && isRepeated)
    s.becomesIfTyped(broadcastLike(source, s.operand(1)));
}

constexpr SimplifyExample expandDimsSimpler[] = {
    {"expand_dims(squeeze(expand_dims(%x, axis=0), axis=[0]), axis=1, num_newaxis=0)", "%x"},
    {"expand_dims(expand_dims(%x, axis=0), axis=0)", "reshape(%x, newshape=[1, 1, 2, 3])"}};
constexpr SimplifyExample squeezeSimpler[] = {{"squeeze(expand_dims(%n, axis=0), axis=[0])", "%n"},
                                              {"squeeze(%x)", "%x"}};
constexpr SimplifyExample reshapeSimpler[] = {
    {"reshape(%x, newshape=[0, -1])", "%x"},
    {"reshape(reshape(%x, newshape=[6]), newshape=[3, 2])", "reshape(%x, newshape=[3, 2])"},
    {"reshape(zeros_like(%x), newshape=[6])", "zeros(shape=[6], dtype=\"float32\")"}};
constexpr SimplifyExample reverseReshapeSimpler[] = {
    {"contrib_reverse_reshape(%x, newshape=[-1, 3])", "%x"}};
constexpr SimplifyExample reshapeLikeSimpler[] = {
    {"reshape_like(%x, %y)", "%x"},
    {"reshape_like(reshape(%x, newshape=[6]), reshape(%y, newshape=[3, 2]))",
     "reshape(%x, newshape=[3, 2])"}};
constexpr SimplifyExample transposeSimpler[] = {
    {"transpose(%t, axes=[0, 1, -1])", "%t"},
    {"transpose(transpose(%x, axes=None), axes=[1, 0])", "%x"},
    {"transpose(transpose(%t, axes=[1, 2, 0]), axes=[1, 2, 0])", "transpose(%t, axes=[2, 0, 1])"}};
constexpr SimplifyExample flattenSimpler[] = {{"nn.batch_flatten(%n)", "%n"}};
constexpr SimplifyExample broadcastToSimpler[] = {
    {"broadcast_to(%x, shape=[2, 3])", "%x"},
    {"broadcast_to(broadcast_to(1f, shape=[3]), shape=[2, 3])", "broadcast_to(1f, shape=[2, 3])"},
    {"broadcast_to(expand_dims(%x, axis=0), shape=[4, 2, 3])",
     "broadcast_to(%x, shape=[4, 2, 3])"}};
constexpr SimplifyExample broadcastToLikeSimpler[] = {
    {"broadcast_to_like(%n, %n)", "%n"},
    {"broadcast_to_like(1f, %x)", "broadcast_to(1f, shape=[2, 3])"},
    {"broadcast_to_like(expand_dims(1f, axis=0), %n)", "broadcast_to_like(1f, %n)"}};

constexpr OperatorRow rows[] = {
    {.name = "expand_dims",
     .synonyms = "unsqueeze",
     .doc = "Inserts dimensions of extent 1.",
     .details = "A negative axis counts from the back of the result: -1 appends.",
     .operands = data,
     .attributes = expandDimsAttributes,
     .attributesKey = "relay.attrs.ExpandDimsAttrs",
     .relation = expandDimsRelation,
     .compute = computeView,
     .role = Role::NewAxis,
     .gradient = GradientRule{reshapeBack},
     .simplify = {simplifyView, expandDimsSimpler},
     .examples = expandDimsExamples},
    {.name = "squeeze",
     .doc = "Drops dimensions of extent 1.",
     .operands = data,
     .attributes = squeezeAttributes,
     .attributesKey = "relay.attrs.SqueezeAttrs",
     .relation = withFix<squeezeRelation, fixSqueeze>,
     .compute = computeView,
     .gradient = GradientRule{reshapeBack},
     .simplify = {simplifyView, squeezeSimpler},
     .examples = squeezeExamples},
    {.name = "reshape",
     .synonyms = "view",
     .doc = "Gives the elements, in row-major order, another shape.",
     .details =
         "The new shape is read from left to right along the old one: a positive number is an "
         "extent; 0 copies a dimension; -1, allowed once, is inferred; -2 copies all that remain; "
         "-3 joins the next two; -4 is followed by the two extents that the next dimension is "
         "split "
         "into, one of which may be -1.",
     .operands = data,
     .attributes = reshapeAttributes,
     .attributesKey = "relay.attrs.ReshapeAttrs",
     .relation = withFix<reshapeRelation, fixReshape>,
     .compute = computeView,
     .role = Role::Reshape,
     .gradient = GradientRule{reshapeBack},
     .simplify = {simplifyView, reshapeSimpler},
     .examples = reshapeExamples},
    {.name = "contrib_reverse_reshape",
     .doc = "Reshapes, reading both shapes from right to left.",
     .details =
         "The special values are those of `reshape`; the two extents of a -4 stand before it.",
     .operands = data,
     .attributes = reshapeAttributes,
     .attributesKey = "relay.attrs.ReshapeAttrs",
     .relation = reverseReshapeRelation,
     .compute = computeView,
     .gradient = GradientRule{reshapeBack},
     .simplify = {simplifyView, reverseReshapeSimpler},
     .examples = reverseReshapeExamples},
    {.name = "reshape_like",
     .synonyms = "view_as",
     .doc = "Reshapes to the shape of another tensor, or to a part of it.",
     .details =
         "Dimensions lhs_begin to lhs_end of the data are replaced by dimensions rhs_begin to "
         "rhs_end of `shape_like`; negative numbers count from the back.",
     .operands = dataLike,
     .attributes = reshapeLikeAttributes,
     .attributesKey = "relay.attrs.ReshapeLikeAttrs",
     .relation = reshapeLikeRelation,
     .compute = computeView,
     .gradient = GradientRule{reshapeBack},
     .simplify = {simplifyView, reshapeLikeSimpler},
     .examples = reshapeLikeExamples},
    {.name = "transpose",
     .synonyms = "permute permute_dims swapaxes moveaxis",
     .doc = "Permutes the dimensions.",
     .details = "Dimension i of the result is dimension axes[i] of the data.",
     .operands = data,
     .attributes = transposeAttributes,
     .attributesKey = "relay.attrs.TransposeAttrs",
     .relation = withFix<transposeRelation, fixTranspose>,
     .compute = computeTranspose,
     .gradient = GradientRule{transposeGradient},
     .simplify = {simplifyTranspose, transposeSimpler},
     .examples = transposeExamples},
    {.name = "nn.batch_flatten",
     .synonyms = "flatten",
     .doc = "Joins all dimensions but the first.",
     .operands = data,
     .relation = batchFlattenRelation,
     .compute = computeView,
     .gradient = GradientRule{reshapeBack},
     .simplify = {simplifyView, flattenSimpler},
     .examples = batchFlattenExamples},
    {.name = "broadcast_to",
     .synonyms = "expand",
     .doc = "Repeats the data along new dimensions and those of extent 1 until it has a shape.",
     .operands = data,
     .attributes = initAttributes,
     .attributesKey = "relay.attrs.InitOpAttrs",
     .relation = broadcastToRelation,
     .compute = computeBroadcast,
     .gradient = GradientRule{broadcastGradient},
     .simplify = {simplifyBroadcast, broadcastToSimpler},
     .examples = broadcastToExamples},
    {.name = "broadcast_to_like",
     .synonyms = "expand_as",
     .doc = "Repeats the data until it has the shape of another tensor.",
     .operands = dataBroadcastType,
     .relation = broadcastToLikeRelation,
     .compute = computeBroadcast,
     .gradient = GradientRule{broadcastGradient},
     .simplify = {simplifyBroadcast, broadcastToLikeSimpler},
     .examples = broadcastToLikeExamples},
};

} // namespace

OperatorFamily shapeFamily() {
  return rows;
}

} // namespace stdlib

// Operators that read elements at positions given by data: take, gather and their kin, and those
// that make positions.
//
// `take` treats positions outside as its mode says. Everywhere else a negative position counts from
// the back, once; any other position outside is a fault when the program runs.
#include "runtime/natives/places.h"
#include "stdlib/ops/checks.h"
#include "stdlib/ops/common.h"
#include "stdlib/ops/families.h"
#include "stdlib/ops/fixes.h"
#include "stdlib/ops/gradient.h"
#include "stdlib/ops/shape_rules.h"

#include <fmt/format.h>

namespace stdlib {

namespace {

using namespace lang;

bool isIndexType(runtime::DType dtype) {
  return dtype.isInteger() || dtype.isBool();
}

Words indexTypeProblem(std::string_view name, runtime::DType dtype) {
  return words("`{}` must hold integers, but its element type is `{}`", name, dtype);
}

/// The number of leading dimensions that `take` matches pairwise.
std::optional<size_t> takeBatchDims(const Attributes& attributes, size_t axis, size_t indexRank) {
  int64_t given = attributes.integer("batch_dims");
  int64_t count = given < 0 ? given + int64_t(indexRank) : given;
  if (count < 0 || size_t(count) > indexRank || size_t(count) > axis)
    return std::nullopt;
  return size_t(count);
}

RelationResult takeAlong(const RelationCall& call) {
  Dims data = call.shape(0), indices = call.shape(1);
  int64_t given = call.attributes.integer("axis");
  auto axis = call.normalAxis(given, data.size());
  if (!axis)
    return axisFailure(call, "axis", given);
  auto batch = takeBatchDims(call.attributes, *axis, indices.size());
  if (!batch)
    return call.failed(
        fmt::format("`batch_dims` is {}, but it must not pass the axis {} or the rank "
                    "{} of the indices",
                    call.attributes.integer("batch_dims"), *axis, indices.size()));
  DimVector shape(data.begin(), data.begin() + ptrdiff_t(*axis));
  for (size_t i = 0; i < *batch; ++i) {
    shape[i] = call.meetDims(data[i], indices[i]);
    if (!shape[i])
      return call.failedOn({{1, i}, {0, i}},
                           fmt::format("the batch dimensions of `data` and `indices` differ: {} "
                                       "and {}",
                                       dimText(data[i]), dimText(indices[i])));
  }
  shape.insert(shape.end(), indices.begin() + ptrdiff_t(*batch), indices.end());
  shape.insert(shape.end(), data.begin() + ptrdiff_t(*axis) + 1, data.end());
  return call.solved(shape, call.dtype(0));
}

RelationResult takeRelation(const RelationCall& call) {
  if (!isIndexType(call.dtype(1)))
    return mended(call.failedAt(1, indexTypeProblem("indices", call.dtype(1))),
                  wrapFix("convert it: {}", 1, "cast(",
                          words(", dtype={})", runtime::dtypeValue(runtime::Int32))));
  std::string_view mode = call.attributes.text("mode");
  if (mode != "clip" && mode != "wrap" && mode != "fast")
    return call.failed(
        fmt::format("`mode` is `{}`, but it must be `clip`, `wrap` or `fast`", mode));
  if (!call.attributes.isNull("axis"))
    return takeAlong(call);
  if (call.attributes.integer("batch_dims") != 0)
    return call.failed("`batch_dims` needs an `axis`");
  return call.solved(call.shape(1), call.dtype(0));
}

RelationResult gatherRelation(const RelationCall& call) {
  if (call.attributes.isNull("axis"))
    return mended(call.failed("`axis` is missing"), {"`axis` is the dimension to gather along"});
  int64_t given = call.attributes.integer("axis");
  auto axis = call.normalAxis(given, call.rank(0));
  if (!axis)
    return axisFailure(call, "axis", given);
  if (!call.dtype(1).isSigned())
    return call.failedAt(1, words("`indices` must hold signed integers, but its element type "
                                  "is `{}`",
                                  call.dtype(1)));
  Dims data = call.shape(0), indices = call.shape(1);
  if (data.size() != indices.size())
    return call.failedAt(1, fmt::format("`indices` must have as many dimensions as `data`: the "
                                        "shapes are `{}` and `{}`",
                                        shapeText(indices), shapeText(data)));
  for (size_t i = 0; i < data.size(); ++i)
    if (i != *axis && !call.meetDims(data[i], indices[i]))
      return call.failedOn({{1, i}, {0, i}},
                           fmt::format("`indices` and `data` may differ along axis {} only, but "
                                       "dimension {} is {} and {}",
                                       *axis, i, dimText(indices[i]), dimText(data[i])));
  return call.solved(indices, call.dtype(0));
}

Fix fixGather(const RelationCall& call) {
  size_t data = call.rank(0), indices = call.rank(1);
  return newAxesFix(call, gatherRelation, 1, data > indices ? data - indices : 0);
}

RelationResult gatherNdRelation(const RelationCall& call) {
  Dims data = call.shape(0), indices = call.shape(1);
  if (indices.empty() || !indices[0]->isConstant())
    return call.failedAt(1, fmt::format("the first extent of `indices` must be a number, but its "
                                        "shape is `{}`",
                                        shapeText(indices)));
  int64_t batch = call.attributes.integer("batch_dims"), depth = indices[0]->value;
  if (batch < 0 || batch > int64_t(data.size()) || batch >= int64_t(indices.size()) ||
      depth > int64_t(data.size()) - batch)
    return call.failedAt(1, fmt::format("indices of shape `{}` with {} batch dimensions do not fit "
                                        "data of shape `{}`",
                                        shapeText(indices), batch, shapeText(data)));
  DimVector shape(indices.begin() + 1, indices.end());
  for (size_t i = 0; i < size_t(batch); ++i) {
    shape[i] = call.meetDims(shape[i], data[i]);
    if (!shape[i])
      return call.failedOn({{1, i + 1}, {0, i}},
                           fmt::format("the batch dimensions of `data` and `indices` differ: {} "
                                       "and {}",
                                       dimText(data[i]), dimText(indices[i + 1])));
  }
  shape.insert(shape.end(), data.begin() + ptrdiff_t(depth + batch), data.end());
  return call.solved(shape, call.dtype(0));
}

RelationResult advIndexRelation(const RelationCall& call) {
  Types inputs = call.fields(0);
  if (inputs.size() < 2 || inputs.size() - 1 > inputs[0]->shape.size())
    return call.failedAt(0, words("the tuple must hold the data and one index tensor for each "
                                  "of its first dimensions, but it is `{}`",
                                  call.operands[0]));
  DimVector shape(inputs[1]->shape.begin(), inputs[1]->shape.end());
  for (const Type* index : inputs.subspan(1)) {
    if (!isIndexType(index->dtype))
      return call.failedAt(0, indexTypeProblem("inputs", index->dtype));
    size_t where = 0;
    auto both = call.broadcastShapes(shape, index->shape, &where);
    if (!both)
      return call.failedAt(0, broadcastProblem(shape, index->shape, where));
    shape = std::move(*both);
  }
  Dims data = inputs[0]->shape;
  shape.insert(shape.end(), data.begin() + ptrdiff_t(inputs.size()) - 1, data.end());
  return call.solved(shape, inputs[0]->dtype);
}

RelationResult unravelIndexRelation(const RelationCall& call) {
  if (!call.dtype(0).isInteger())
    return call.failedAt(0, indexTypeProblem("data", call.dtype(0)));
  if (!call.dtype(1).isInteger())
    return call.failedAt(1, indexTypeProblem("shape", call.dtype(1)));
  if (call.rank(0) > 1 || call.rank(1) != 1)
    return call.failed(words("`data` must have rank 0 or 1 and `shape` rank 1, but they are "
                             "`{}` and `{}`",
                             call.operands[0], call.operands[1]));
  DimVector shape{call.shape(1)[0]};
  shape.insert(shape.end(), call.shape(0).begin(), call.shape(0).end());
  return call.solved(shape, call.dtype(0));
}

RelationResult invertPermutationRelation(const RelationCall& call) {
  if (call.rank(0) != 1 || !call.dtype(0).isInteger())
    return call.failedAt(
        0, words("the data must be a vector of integers, but it is `{}`", call.operands[0]));
  return sameAsFirst(call);
}

RelationResult argwhereRelation(const RelationCall& call) {
  const Dim* rows = call.types.any();
  if (const runtime::Tensor* value = call.value(0)) {
    int64_t count = 0;
    if (natives::visitNonZero(*value, [&](int64_t) { ++count; }))
      rows = call.types.constant(count);
  }
  return call.solved({rows, call.types.constant(int64_t(call.rank(0)))}, runtime::Int32);
}

/// An index as `mode` has it.
Scalar insideFor(std::string_view mode, const ComputeCall& call, Scalar index, Scalar extent) {
  index = cast(index, runtime::Int64);
  if (mode == "clip")
    return minimum(maximum(index, call.integer(0)), extent - call.integer(1));
  return mode == "wrap" ? floorMod(index, maximum(extent, call.integer(1))) : index;
}

/// Where a number that lies within the flat data reads it.
Position placeOfFlat(const ComputeCall& call, Scalar index, const TensorHandle& x) {
  Extents extents = x.shape();
  // Of data without elements the position is outside, whatever it is divided by.
  for (Scalar& extent : extents)
    extent = maximum(extent, call.integer(1));
  return unflatten(index, extents);
}

void computeFlatTake(ComputeCall& call, std::string_view mode) {
  TensorHandle x = call.input(0), indices = call.input(1);
  Scalar extent = productOf(call.integer(1).arena(), x.shape());
  // What is read is found without a flat copy, but for the fault of a number that may be outside.
  if (x.rank() == 0 || (mode == "fast" && x.rank() > 1))
    x = call.reshape(x, {extent});
  call.result([&](const Position& at) {
    Scalar index = insideFor(mode, call, indices(at), extent);
    return x.rank() == 1 ? x({index}) : x(placeOfFlat(call, index, x));
  });
}

void computeTake(ComputeCall& call) {
  std::string_view mode = call.attributes().text("mode");
  if (call.attributes().isNull("axis"))
    return computeFlatTake(call, mode);
  TensorHandle x = call.input(0), indices = call.input(1);
  size_t axis = call.axis("axis", x.rank());
  size_t batch = *takeBatchDims(call.attributes(), axis, indices.rank());
  ptrdiff_t first = ptrdiff_t(axis), last = first + ptrdiff_t(indices.rank() - batch);
  call.result([&](const Position& at) {
    Position place(at.begin(), at.begin() + ptrdiff_t(batch));
    place.insert(place.end(), at.begin() + first, at.begin() + last);
    Scalar index = insideFor(mode, call, indices(place), x.extent(axis));
    Position from(at.begin(), at.begin() + first);
    from.push_back(index);
    from.insert(from.end(), at.begin() + last, at.end());
    return x(from);
  });
}

void computeGather(ComputeCall& call) {
  TensorHandle x = call.input(0), indices = call.input(1);
  size_t axis = call.axis("axis", x.rank());
  call.result([&](const Position& at) {
    return x(replaceAt(at, axis, wrapNegative(indices(at), x.extent(axis))));
  });
}

void computeGatherNd(ComputeCall& call) {
  TensorHandle x = call.input(0), indices = call.input(1);
  size_t batch = size_t(call.attributes().integer("batch_dims"));
  size_t depth = call.structuralExtent(1, 0);
  ptrdiff_t shared = ptrdiff_t(indices.rank()) - 1;
  call.result([&](const Position& at) {
    Position from(at.begin(), at.begin() + ptrdiff_t(batch));
    for (size_t k = 0; k < depth; ++k) {
      Position place{call.integer(int64_t(k))};
      place.insert(place.end(), at.begin(), at.begin() + shared);
      from.push_back(wrapNegative(indices(place), x.extent(batch + k)));
    }
    from.insert(from.end(), at.begin() + shared, at.end());
    return x(from);
  });
}

void computeAdvIndex(ComputeCall& call) {
  std::vector<TensorHandle> inputs = call.fields(0);
  const TensorHandle& x = inputs[0];
  size_t count = inputs.size() - 1;
  Extents whole = call.outputShape();
  ptrdiff_t shared = ptrdiff_t(whole.size() - (x.rank() - count));
  whole.resize(size_t(shared));
  call.result([&](const Position& at) {
    Position front(at.begin(), at.begin() + shared), from;
    for (size_t k = 0; k < count; ++k) {
      const TensorHandle& index = inputs[k + 1];
      from.push_back(wrapNegative(index(broadcastTo(front, whole, index.shape())), x.extent(k)));
    }
    from.insert(from.end(), at.begin() + shared, at.end());
    return x(from);
  });
}

void computeUnravelIndex(ComputeCall& call) {
  TensorHandle flat = call.input(0), shape = call.input(1);
  auto extent = [&](Scalar dim) {
    return maximum(cast(shape({dim}), runtime::Int64), call.integer(1));
  };
  TensorHandle inner = call.define(shape.shape(), [&](const Position& at) {
    return call.reduce(Combiner::Product, {shape.extent(0)}, [&](const Position& k) {
      return select(k[0] > at[0], extent(k[0]), call.integer(1));
    });
  });
  call.result([&](const Position& at) {
    Scalar place = cast(flat(eraseAt(at, 0)), runtime::Int64);
    Scalar step = maximum(inner({at[0]}), call.integer(1));
    return cast(floorMod(floorDivide(place, step), extent(at[0])), flat.dtype());
  });
}

constexpr OperandRow dataIndices[] = {{"data", "the tensor to read"},
                                      {"indices", "the positions to read at"}};
constexpr OperandRow inputsOperand[] = {
    {"inputs", "the data, and index tensors for its first dimensions", OperandKind::TensorTuple}};
constexpr OperandRow dataShape[] = {{"data", "row-major positions"},
                                    {"shape", "the extents that they are positions in"}};
constexpr OperandRow data[] = {{"data", "a permutation of 0 to n - 1"}};
constexpr OperandRow condition[] = {{"condition", "the tensor to search"}};

constexpr AttributeRow takeAttributes[] = {
    {"batch_dims", AttributeKind::Int, "0", "leading dimensions that both operands share", false,
     true},
    {"axis", AttributeKind::Int, "None", "the dimension to index; the flat data if missing", true},
    {"mode", AttributeKind::String, "\"clip\"", "positions outside: `clip`, `wrap` or `fast`"}};
constexpr AttributeRow gatherAttributes[] = {
    {"axis", AttributeKind::Int, "None", "the dimension to index; must be given", true}};
constexpr AttributeRow gatherNdAttributes[] = {
    {"batch_dims", AttributeKind::Int, "0", "leading dimensions that both operands share", false,
     true},
    {"index_rank", AttributeKind::Int, "None", "the length of an index tuple; unused", true}};

constexpr Example takeExamples[] = {
    {"take([[1f, 2f], [3f, 4f]], [1, 0], axis=1)", "[[2f, 1f], [4f, 3f]]"},
    {"take([[1f, 2f], [3f, 4f]], [3, 7, -1])", "[4f, 4f, 1f]"},
    {"take([1f, 2f, 3f], [4, -1], axis=0, mode=\"wrap\")", "[2f, 3f]"},
    {"take([[1f, 2f], [3f, 4f]], [1, 0], batch_dims=1, axis=1)", "[2f, 3f]"}};
constexpr Example gatherExamples[] = {
    {"gather([[1f, 2f], [3f, 4f]], [[0, 0], [1, 0]], axis=1)", "[[1f, 1f], [4f, 3f]]"}};
constexpr Example gatherNdExamples[] = {
    {"gather_nd([[1f, 2f], [3f, 4f]], [[0, 1], [1, 0]])", "[2f, 3f]"},
    {"gather_nd([[1f, 2f], [3f, 4f]], [[1]])", "[[3f, 4f]]"}};
constexpr Example advIndexExamples[] = {
    {"adv_index(([[1f, 2f], [3f, 4f]], [0, 1], [1, 1]))", "[2f, 4f]"}};
constexpr Example unravelExamples[] = {{"unravel_index([4, 1], [2, 3])", "[[1, 0], [1, 1]]"}};
constexpr Example invertExamples[] = {{"invert_permutation([2, 0, 1])", "[1, 2, 0]"}};
constexpr Example argwhereExamples[] = {{"argwhere([[1f, 0f], [0f, 2f]])", "[[0, 0], [1, 1]]"}};

/// Indices of `take` as positions that lie inside of an extent.
Term insidePositions(GradientCall& d, const Term& extent) {
  Term indices = castTo(d.operand(1), runtime::Int64);
  std::string_view mode = d.attributes().text("mode");
  if (mode == "clip")
    return minimum(maximum(indices, number(indices, 0)), extent - number(extent, 1));
  if (mode == "wrap")
    return d.call("floor_mod", {indices, maximum(extent, number(extent, 1))});
  return indices;
}

/// The positions along the first dimensions of a tensor as vectors that broadcast to `rank`
/// dimensions.
std::vector<Term> leadingPositions(const Term& a, size_t count, size_t rank) {
  std::vector<Term> positions;
  for (size_t i = 0; i < count; ++i)
    positions.push_back(alongAxis(positionsAlong(a, i), i, rank));
  return positions;
}

void addParts(GradientCall& d, const Term& positions) {
  give(d, 0, d.call("scatter_nd", {sumOf(d, 0), positions, d.cotangent()}, {{"mode", "add"}}));
}

/// Without an axis the data is read as flat.
void takeFlatGradient(GradientCall& d) {
  Term x = d.operand(0);
  if (x.rank() == 0)
    return give(d, 0, sumOfAll(d.cotangent()));
  if (x.rank() == 1)
    return addParts(d, expandDims(insidePositions(d, extentOf(x, 0)), 0));
  Term shape = shapeVector(x);
  Term count = d.call("prod", {shape});
  Term flat = reshaped(insidePositions(d, count), {-1});
  Term positions = d.call("unravel_index", {flat, shape});
  give(d, 0,
       d.call("scatter_nd", {sumOf(d, 0), positions, reshaped(d.cotangent(), {-1})},
              {{"mode", "add"}}));
}

void takeGradient(GradientCall& d) {
  if (!d.wants(0))
    return;
  if (d.attributes().isNull("axis"))
    return takeFlatGradient(d);
  Term x = d.operand(0), indices = d.operand(1);
  size_t axis = d.axis("axis", x.rank());
  size_t batch = *takeBatchDims(d.attributes(), axis, indices.rank());
  size_t rank = axis + indices.rank() - batch;
  Term inside = insidePositions(d, extentOf(x, axis));
  std::vector<Term> positions = leadingPositions(d.cotangent(), axis, rank);
  positions.push_back(expandDims(inside, batch, axis - batch));
  addParts(d, jointPositions(positions));
}

void gatherGradient(GradientCall& d) {
  give(d, 0,
       d.call("scatter_elements", {sumOf(d, 0), d.operand(1), d.cotangent()},
              {{"axis", d.attributes().get("axis")}, {"reduction", "add"}}));
}

void gatherNdGradient(GradientCall& d) {
  if (!d.wants(0))
    return;
  Term indices = d.operand(1);
  if (!indices.dtype().isInteger())
    indices = castTo(indices, runtime::Int64);
  size_t batch = size_t(d.attributes().integer("batch_dims"));
  if (batch == 0)
    return addParts(d, indices);
  std::vector<Term> positions = leadingPositions(d.cotangent(), batch, indices.rank() - 1);
  for (int64_t k = 0; k < indices.dim(0)->value; ++k)
    positions.push_back(castTo(partAt(indices, k, 0), runtime::Int64));
  addParts(d, jointPositions(positions));
}

void advIndexGradient(GradientCall& d) {
  std::vector<Term> positions;
  for (size_t k = 1; k < d.fieldCount(0); ++k)
    positions.push_back(castTo(d.field(0, k), runtime::Int64));
  giveField(d, 0, 0,
            d.call("scatter_nd", {sumOf(d, 0), jointPositions(positions), d.cotangent()},
                   {{"mode", "add"}}));
}

constexpr OperatorRow rows[] = {
    {.name = "take",
     .synonyms = "[] index_select embedding",
     .doc = "Reads slices of a tensor at positions along a dimension.",
     .details = "Positions outside are moved to the nearest end (`clip`), taken modulo the extent "
                "(`wrap`), or must not occur (`fast`). Without an axis the data is read as flat.",
     .operands = dataIndices,
     .attributes = takeAttributes,
     .attributesKey = "relay.attrs.TakeAttrs",
     .relation = takeRelation,
     .compute = computeTake,
     .role = Role::Take,
     .gradient = GradientRule{takeGradient, {}, true},
     .examples = takeExamples},
    {.name = "gather",
     .synonyms = "take_along_axis take_along_dim",
     .doc = "Reads one element per position along a dimension.",
     .details = "For axis 0, result[i, j] = data[indices[i, j], j].",
     .operands = dataIndices,
     .attributes = gatherAttributes,
     .attributesKey = "relay.attrs.GatherAttrs",
     .relation = withFix<gatherRelation, fixGather>,
     .compute = computeGather,
     .gradient = GradientRule{gatherGradient, {}, true},
     .examples = gatherExamples},
    {.name = "gather_nd",
     .doc = "Reads slices at positions that are tuples along the first dimension of the indices.",
     .details = "result[y...] = data[indices[0, y...], ..., indices[m - 1, y...]].",
     .operands = dataIndices,
     .attributes = gatherNdAttributes,
     .attributesKey = "relay.attrs.GatherNDAttrs",
     .relation = gatherNdRelation,
     .compute = computeGatherNd,
     .role = Role::TakePoints,
     .gradient = GradientRule{gatherNdGradient, {}, true},
     .examples = gatherNdExamples},
    {.name = "adv_index",
     .synonyms = "index",
     .doc = "Indexes the first dimensions of a tensor with tensors that broadcast.",
     .operands = inputsOperand,
     .relation = advIndexRelation,
     .compute = computeAdvIndex,
     .gradient = GradientRule{advIndexGradient, {}, true},
     .examples = advIndexExamples},
    {.name = "unravel_index",
     .doc = "Turns row-major positions into coordinates, one row per dimension.",
     .details = "Positions outside the shape are taken modulo its size.",
     .operands = dataShape,
     .relation = unravelIndexRelation,
     .compute = computeUnravelIndex,
     .gradient = integerValued,
     .examples = unravelExamples},
    {.name = "invert_permutation",
     .doc = "Gives the inverse of a permutation: result[data[i]] = i.",
     .operands = data,
     .relation = invertPermutationRelation,
     .native = nativeOf<natives::invertPermutation>(),
     .gradient = integerValued,
     .examples = invertExamples},
    {.name = "argwhere",
     .synonyms = "nonzero",
     .doc = "Lists the coordinates of the elements that are not zero.",
     .operands = condition,
     .relation = argwhereRelation,
     .native = ordering(nativeOf<natives::nonZeroPlaces>()),
     .role = Role::Places,
     .gradient = integerValued,
     .examples = argwhereExamples,
     .shapeNeeds = ShapeNeeds::Values},
};

} // namespace

OperatorFamily indexFamily() {
  return rows;
}

} // namespace stdlib

// Sparse tensors as lists of the coordinates of their elements.
//
// Coordinates outside a tensor write nothing when it is made dense, and of several values for one
// place the last counts, as in Relay.
#include "runtime/natives/coordinates.h"
#include "stdlib/ops/checks.h"
#include "stdlib/ops/common.h"
#include "stdlib/ops/dyn_rules.h"
#include "stdlib/ops/families.h"
#include "stdlib/ops/fixes.h"
#include "stdlib/ops/gradient.h"
#include "stdlib/ops/shape_rules.h"

#include <fmt/format.h>

namespace stdlib {

namespace {

using namespace lang;

/// The problem of coordinates, values and default of a tensor of `rank` dimensions.
std::optional<RelationResult> requirePlaces(const RelationCall& call, size_t rank) {
  if (!call.dtype(0).isInteger() || call.rank(0) > 2)
    return call.failedAt(0, words("the indices must be integers of up to 2 dimensions, but "
                                  "they are `{}`",
                                  call.operands[0]));
  if (call.rank(1) != std::min<size_t>(call.rank(0), 1))
    return call.failedAt(
        1, words("`{}` indices need {}, but the values are `{}`", shapeText(call.shape(0)),
                 call.rank(0) ? "a vector of values" : "one value", call.operands[1]));
  if (call.rank(0) > 0 && call.differ(call.shape(0)[0], call.shape(1)[0]))
    return call.failedOn({{1, 0}, {0, 0}},
                         fmt::format("there are {} indices, but {} values",
                                     dimText(call.shape(0)[0]), dimText(call.shape(1)[0])));
  if (auto problem = requireScalar(call, 2, "default_value"))
    return *problem;
  const Dim* width = call.rank(0) == 2 ? call.shape(0)[1] : call.types.constant(1);
  if (width->isConstant() && width->value > int64_t(rank))
    return call.failedAt(0, fmt::format("an index has {}, but the result has {}",
                                        counted(width->value, "coordinate"),
                                        counted(int64_t(rank), "dimension")));
  return std::nullopt;
}

/// The dense tensor, which asks for no more coordinates than it has dimensions.
RelationResult madeDense(const RelationCall& call, RelationResult result, size_t rank) {
  TypeContext& types = call.types;
  if (call.rank(0) == 2)
    requireAtLeast(result, types.subtract(types.constant(int64_t(rank)), call.shape(0)[1]), 0);
  if (call.rank(0) > 0)
    requireSame(result, types, call.shape(0)[0], call.shape(1)[0]);
  return result;
}

RelationResult toDenseRelation(const RelationCall& call) {
  auto shape = shapeAttribute(call, "output_shape");
  if (!shape)
    return call.failed("`output_shape` must not hold negative extents");
  if (shape->size() > largestRank)
    return call.failed(fmt::format("`output_shape` has {} extents, but only {} are possible",
                                   shape->size(), largestRank));
  if (auto problem = requirePlaces(call, shape->size()))
    return *problem;
  return madeDense(call, solvedAsWritten(call, "output_shape", *shape, call.dtype(1)),
                   shape->size());
}

RelationResult dynToDenseRelation(const RelationCall& call) {
  if (auto problem = requireVector(call, 3))
    return *problem;
  if (auto problem = requirePlaces(call, lengthOf(call, 3)))
    return *problem;
  auto shape = givenShape(call, 3);
  return shape ? madeDense(call, call.solved(*shape, call.dtype(1)), shape->size())
               : negativeExtent(call, 3);
}

natives::DenseParameters decodeDense(const Attributes& attributes, Types) {
  return {attributes.integers("output_shape")};
}

natives::RankParameters decodeRank(const Attributes&, Types operands) {
  return {size_t(operands[3]->shape[0]->value)};
}

RelationResult fillRowsRelation(const RelationCall& call) {
  if (call.rank(0) != 2 || !call.dtype(0).isInteger() || call.shape(0)[1]->isConstant(0))
    return call.failedAt(0, words("the indices must be a matrix of integers, but they are "
                                  "`{}`",
                                  call.operands[0]));
  if (call.rank(1) != 1 || call.differ(call.shape(0)[0], call.shape(1)[0]))
    return call.failedAt(1, words("indices of shape `{}` need as many values, but they are "
                                  "`{}`",
                                  shapeText(call.shape(0)), call.operands[1]));
  if (call.rank(2) != 1 || !call.dtype(2).isInteger() ||
      call.differ(call.shape(0)[1], call.shape(2)[0]))
    return call.failedAt(2, words("indices of shape `{}` need the extents of as many "
                                  "dimensions, but they are `{}`",
                                  shapeText(call.shape(0)), call.operands[2]));
  if (call.rank(3) > 1 || (call.rank(3) == 1 && cannotBe(call, call.shape(3)[0], 1)))
    return call.failedAt(3,
                         words("the default must be one number, but it is `{}`", call.operands[3]));
  const Dim *count = call.types.any(), *rows = call.types.any();
  if (call.value(0) && call.value(2)) {
    natives::RowCounts counts = natives::countRows(*call.value(0), *call.value(2));
    if (counts.fault)
      return call.failedAt(0, runtime::nativeFaultText(counts.fault));
    rows = call.types.constant(counts.all);
    count = call.types.constant(call.value(0)->shape()[0] + counts.empty);
  }
  const Type* fields[] = {call.types.tensor({count, call.shape(0)[1]}, runtime::Int64),
                          call.types.tensor({count}, runtime::Int64),
                          call.types.tensor({rows}, runtime::Int64)};
  RelationResult result = call.solved(call.types.tuple(fields));
  requireAtLeast(result, call.shape(0)[1], 1);
  return result;
}

RelationResult reshapeRelation(const RelationCall& call) {
  for (size_t i = 0; i < 3; ++i)
    if (call.rank(i) != (i == 0 ? 2 : 1) || !call.dtype(i).isInteger())
      return call.failedAt(i, words("expected a {} of integers, but it is `{}`",
                                    i == 0 ? "matrix" : "vector", call.operands[i]));
  if (call.differ(call.shape(0)[1], call.shape(1)[0]))
    return call.failedOn({{0, 1}, {1, 0}},
                         fmt::format("an index has {} coordinates, but the shape {} extents",
                                     dimText(call.shape(0)[1]), dimText(call.shape(1)[0])));
  const Type* fields[] = {call.types.tensor({call.shape(0)[0], call.shape(2)[0]}, call.dtype(0)),
                          call.operands[2]};
  RelationResult result = call.solved(call.types.tuple(fields));
  requireSame(result, call.types, call.shape(0)[1], call.shape(1)[0]);
  return result;
}

/// Element `at` of a vector of integers as int64.
Scalar wholeAt(const TensorHandle& vector, Scalar at) {
  return cast(vector({at}), runtime::Int64);
}

/// The products of the elements behind each one of a shape.
TensorHandle stridesOf(ComputeCall& call, const TensorHandle& shape) {
  return call.define({shape.extent(0)}, [&](const Position& at) {
    return call.reduce(Combiner::Product, {shape.extent(0)}, [&](const Position& k) {
      return select(k[0] > at[0], wholeAt(shape, k[0]), call.integer(1));
    });
  });
}

void computeReshape(ComputeCall& call) {
  TensorHandle indices = call.input(0), from = call.input(1), given = call.input(2);
  Scalar dims = given.extent(0), one = call.integer(1);
  auto productOver = [&](const TensorHandle& shape, bool skipsOpen) {
    return call.define({}, [&](const Position&) {
      return call.reduce(Combiner::Product, {shape.extent(0)}, [&](const Position& k) {
        Scalar extent = wholeAt(shape, k[0]);
        return skipsOpen ? select(extent == -1.0, one, extent) : extent;
      });
    });
  };
  TensorHandle all = productOver(from, false), known = productOver(given, true);
  TensorHandle shape = call.define({dims}, [&](const Position& at) {
    Scalar extent = wholeAt(given, at[0]);
    return select(extent == -1.0, all({}) / known({}), extent);
  });
  TensorHandle strides = stridesOf(call, from), steps = stridesOf(call, shape);
  TensorHandle flat = call.define({indices.extent(0)}, [&](const Position& at) {
    return call.sumOver({indices.extent(1)}, [&](const Position& k) {
      return cast(indices({at[0], k[0]}), runtime::Int64) * strides({k[0]});
    });
  });
  call.result([&](const Position& at) {
    Scalar before = maximum(at[1] - 1.0, call.integer(0));
    Scalar rest = select(at[1] > 0.0, floorMod(flat({at[0]}), steps({before})), flat({at[0]}));
    return cast(floorDivide(rest, steps({at[1]})), indices.dtype());
  });
  call.result([&](const Position& at) { return cast(shape(at), given.dtype()); });
}

constexpr OperandRow indicesRow = {
    "sparse_indices", "where the values stand: one index, a vector of them, or one in each row"};
constexpr OperandRow valuesRow = {"sparse_values", "the value of each index"};
constexpr OperandRow defaultRow = {"default_value", "the value of all other elements, of rank 0"};
constexpr OperandRow denseOperands[] = {indicesRow, valuesRow, defaultRow};
constexpr OperandRow dynDenseOperands[] = {
    indicesRow, valuesRow, defaultRow, {"output_shape", "the shape of the result"}};
constexpr OperandRow fillOperands[] = {
    {"sparse_indices", "the coordinates of each value, with rising rows"},
    {"sparse_values", "the values"},
    {"dense_shape", "the extents of the sparse tensor"},
    {"default_value", "the value for empty rows"}};
constexpr OperandRow reshapeOperands[] = {{"sparse_indices", "the coordinates of each value"},
                                          {"prev_shape", "the extents of the sparse tensor"},
                                          {"new_shape", "the new extents; -1 for what is left"}};
constexpr AttributeRow denseAttributes[] = {
    {"output_shape", AttributeKind::IntList, "", "the shape of the result"}};

constexpr Example denseExamples[] = {
    {"sparse_to_dense([[0, 0], [1, 2]], [1f, 2f], 0f, output_shape=[2, 3])",
     "[[1f, 0f, 0f], [0f, 0f, 2f]]"},
    {"sparse_to_dense([1, 5, 1], [1, 2, 3], 9, output_shape=[3])", "[9, 3, 9]"},
    {"sparse_to_dense([1], [5], 0, output_shape=[2, 2])", "[[0, 0], [5, 5]]"}};
constexpr Example dynDenseExamples[] = {
    {"dyn.sparse_to_dense([0, 2], [1f, 2f], 0f, [3])", "[1f, 0f, 2f]"}};
constexpr Example fillExamples[] = {
    {"sparse_fill_empty_rows([[0, 1], [2, 0]], [1, 2], [4, 2], [9])",
     "([[0i64, 1i64], [1i64, 0i64], [2i64, 0i64], [3i64, 0i64]], [1i64, 9i64, 2i64, 9i64], "
     "[0i64, 1i64, 0i64, 1i64])"},
    {"sparse_fill_empty_rows([[1, 2]], [5], [3, 4], 9)",
     "([[0i64, 0i64], [1i64, 2i64], [2i64, 0i64]], [9i64, 5i64, 9i64], [1i64, 0i64, 1i64])"}};
constexpr Example reshapeExamples[] = {
    {"sparse_reshape([[0, 1, 0], [1, 2, 3]], [2, 3, 4], [9, -1])", "([[2, 0], [11, 1]], [9, 2])"}};

/// Each element comes from the default or from the last value at its place: the operator itself
/// tells their numbers, from 1 on.
void denseGradient(GradientCall& d) {
  Term values = d.operand(1);
  Term list = values.rank() == 0 ? reshaped(values, {-1}) : values;
  Term numbers = positionsAlong(list, 0) + 1.0;
  std::vector<Term> operands{d.operand(0), reshapedLike(numbers, values),
                             d.number(runtime::Int64, 0)};
  bool isDynamic = d.operandCount() == 4;
  if (isDynamic)
    operands.push_back(d.operand(3));
  Term sources =
      d.call(isDynamic ? "dyn.sparse_to_dense" : "sparse_to_dense", operands, sameAttributes(d));
  Term none = zerosLike(d.cotangent());
  Term slots = concatenated({reshaped(sumOfAll(none), {1}), zerosLike(list)}, 0);
  Term shares = addedAtPlaces(d.cotangent(), sources, slots);
  give(d, 1, reshapedLike(sliced(shares, 0, 1, toEnd), values));
  give(d, 2, castTo(partAt(shares, 0, 0), d.operand(2).dtype()));
}

constexpr std::string_view denseDetails =
    "An index with fewer coordinates than the result has dimensions writes all elements that begin "
    "with them. Of several values for one element the last counts; indices outside write nothing.";

constexpr OperatorRow rows[] = {
    {.name = "sparse_to_dense",
     .doc = "A tensor with values at given indices and a default elsewhere.",
     .details = denseDetails,
     .operands = denseOperands,
     .attributes = denseAttributes,
     .attributesKey = "relay.attrs.SparseToDenseAttrs",
     .relation = toDenseRelation,
     .native = nativeOf<natives::fillDense, decodeDense>(),
     .gradient = GradientRule{denseGradient},
     .examples = denseExamples},
    {.name = "dyn.sparse_to_dense",
     .doc = "A tensor of computed shape with values at given indices and a default elsewhere.",
     .details = denseDetails,
     .operands = dynDenseOperands,
     .relation = dynToDenseRelation,
     .native = nativeOf<natives::fillDenseByOperand, decodeRank>(),
     .gradient = GradientRule{denseGradient},
     .examples = dynDenseExamples,
     .shapeNeeds = ShapeNeeds::Values},
    {.name = "sparse_fill_empty_rows",
     .doc = "Gives each empty row of a sparse tensor one value, in its first column.",
     .details = "The results are coordinates and values, and for each row 1 if it was empty, all "
                "int64 whatever the operands are.",
     .operands = fillOperands,
     .relation = fillRowsRelation,
     .native = nativeOf<natives::fillEmptyRows>(),
     .gradient = integerValued,
     .examples = fillExamples,
     .shapeNeeds = ShapeNeeds::Values},
    {.name = "sparse_reshape",
     .doc = "The coordinates of the elements of a sparse tensor in another shape.",
     .details = "The results are the new coordinates and the new shape, where -1 is replaced.",
     .operands = reshapeOperands,
     .relation = reshapeRelation,
     .compute = computeReshape,
     .gradient = integerValued,
     .examples = reshapeExamples},
};

} // namespace

OperatorFamily coordinatesFamily() {
  return rows;
}

} // namespace stdlib

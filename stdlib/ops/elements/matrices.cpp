// Products of matrices as numpy has them, and the exchange of the last two dimensions.
//
// A vector counts as a row on the left and as a column on the right, whose dimension the result
// lacks. The dimensions before the last two broadcast.
#include "stdlib/ops/common.h"
#include "stdlib/ops/families.h"
#include "stdlib/ops/fixes.h"
#include "stdlib/ops/simplify.h"

#include <fmt/format.h>
#include <utility>

namespace stdlib {

namespace {

using namespace lang;

constexpr OperandRow factors[] = {
    {"lhs", "a matrix, matrices in any leading dimensions, or a row"},
    {"rhs", "a matrix, matrices in any leading dimensions, or a column"}};
constexpr OperandRow matrices[] = {{"data", "a matrix, or matrices in any leading dimensions"}};

/// The dimensions of a factor before the last two.
template <typename Shape>
Shape leadingOf(const Shape& shape) {
  return {shape.begin(), shape.end() - ptrdiff_t(std::min<size_t>(shape.size(), 2))};
}

RelationResult factorProblem(const RelationCall& call, size_t i) {
  return mended(call.failedAt(i, fmt::format("`{}` must have at least 1 dimension, but it has none",
                                             factors[i].name)),
                {"a number scales a tensor by `*`"});
}

RelationResult clash(const RelationCall& call, std::string_view what, size_t a, size_t b) {
  return call.failedOn({{1, b}, {0, a}},
                       fmt::format("{}: {} of `{}` and {} of `{}`", what, dimText(call.shape(0)[a]),
                                   factors[0].name, dimText(call.shape(1)[b]), factors[1].name));
}

RelationResult matmulRelation(const RelationCall& call) {
  for (size_t i : {0, 1})
    if (call.rank(i) == 0)
      return factorProblem(call, i);
  if (auto problem = requireSameDType(call, factors, 0, 1))
    return *problem;
  Dims left = call.shape(0), right = call.shape(1);
  size_t a = left.size() - 1, b = right.size() < 2 ? 0 : right.size() - 2;
  if (call.differ(left[a], right[b]))
    return clash(call, "the inner dimensions differ", a, b);
  size_t where = 0;
  auto shape = call.broadcastShapes(leadingOf(left), leadingOf(right), &where);
  if (!shape)
    return clash(call, "the leading dimensions do not broadcast", a - 1 - where, b - where);
  if (left.size() > 1)
    shape->push_back(left[a - 1]);
  if (right.size() > 1)
    shape->push_back(right.back());
  return call.solved(*shape, call.dtype(0));
}

Fixes matmulFix(const RelationCall& call) {
  Relation relation = matmulRelation;
  Fixes fixes = firstFixes(
      {transposeFix(call, relation, 1), transposeFix(call, relation, 0), swapFix(call, relation)});
  auto [fewer, more] = std::minmax({call.rank(0), call.rank(1)});
  if (fewer > 2)
    addFallbacks(fixes,
                 fixesOf(newAxesFix(call, relation, call.rank(0) == fewer ? 0 : 1, more - fewer)));
  return fixes;
}

RelationResult matrixTransposeRelation(const RelationCall& call) {
  size_t rank = call.rank(0);
  if (rank < 2)
    return call.failedAt(0, fmt::format("`data` must have at least 2 dimensions, but its shape is "
                                        "`{}`",
                                        shapeText(call.shape(0))));
  DimVector shape(call.shape(0).begin(), call.shape(0).end());
  std::swap(shape[rank - 2], shape[rank - 1]);
  return call.solved(shape, call.dtype(0));
}

Fix matrixTransposeFix(const RelationCall& call) {
  return call.rank(0) == 1 ? newAxesFix(call, matrixTransposeRelation, 0, 1) : std::nullopt;
}

void computeMatmul(ComputeCall& call) {
  TensorHandle a = call.input(0), b = call.input(1);
  bool hasRows = a.rank() > 1, hasColumns = b.rank() > 1;
  Extents whole = call.outputShape();
  size_t leading = whole.size() - size_t(hasRows) - size_t(hasColumns);
  whole.resize(leading);
  call.result([&](const Position& at) {
    Position batch(at.begin(), at.begin() + ptrdiff_t(leading));
    return call.sumOver({b.extent(hasColumns ? b.rank() - 2 : 0)}, [&](const Position& k) {
      Position left = broadcastTo(batch, whole, leadingOf(a.shape()));
      Position right = broadcastTo(batch, whole, leadingOf(b.shape()));
      if (hasRows)
        left.push_back(at[leading]);
      left.push_back(k[0]);
      right.push_back(k[0]);
      if (hasColumns)
        right.push_back(at.back());
      return a(left) * b(right);
    });
  });
}

void computeMatrixTranspose(ComputeCall& call) {
  TensorHandle x = call.input(0);
  call.result([&](Position at) {
    std::swap(at[at.size() - 2], at[at.size() - 1]);
    return x(at);
  });
}

Term matmul(const Term& a, const Term& b) {
  return a.rule().call("matmul", {a, b});
}

Term matrixTransposed(const Term& a) {
  return map("matrix_transpose", a);
}

/// All elements as a vector.
Term flattened(const Term& a) {
  return a.rank() == 1 ? a : reshaped(a, {-1});
}

/// What the left factor of a product gets. A vector there met each column of all matrices.
Term leftCotangent(const Term& a, const Term& b, const Term& g) {
  if (b.rank() == 1)
    return expandDims(g, g.rank()) * b;
  if (a.rank() == 1)
    return matmul(flattened(g), asRows(matrixTransposed(b)));
  return matmul(g, matrixTransposed(b));
}

/// What the right factor gets. One that has no leading dimensions met all rows of the left one.
Term rightCotangent(const Term& a, const Term& b, const Term& g) {
  if (a.rank() == 1)
    return b.rank() == 1 ? a * g : expandDims(a, 1) * expandDims(g, g.rank() - 1);
  if (b.rank() == 1)
    return matmul(flattened(g), asRows(a));
  if (b.rank() == 2)
    return matmul(matrixTransposed(asRows(a)), asRows(g));
  return matmul(matrixTransposed(a), g);
}

void matmulGradient(GradientCall& d) {
  Term a = d.operand(0), b = d.operand(1), g = d.cotangent();
  toBroadcast(d, 0, leftCotangent(a, b, g));
  toBroadcast(d, 1, rightCotangent(a, b, g));
}

void matrixTransposeGradient(GradientCall& d) {
  give(d, 0, matrixTransposed(d.cotangent()));
}

/// The products that take transposed operands as they were.
void simplifyMatmul(SimplifyCall& s) {
  Term a = s.operand(0), b = s.operand(1);
  if (b.rank() == 2)
    s.becomesIfTyped(s.call("nn.matmul", {a, b}, {{"units", AttributeValue{}}}));
  else if (a.rank() == 3 && b.rank() == 3)
    s.becomesIfTyped(s.call("nn.batch_matmul", {a, b}));
}

void simplifyMatrixTranspose(SimplifyCall& s) {
  std::vector<size_t> axes = allAxes(s.operand(0).rank());
  std::swap(axes[axes.size() - 2], axes[axes.size() - 1]);
  s.becomesIfTyped(transposed(s.operand(0), axes));
}

constexpr Example matmulExamples[] = {
    {"matmul([[1f, 2f]], [[3f, 4f], [5f, 6f]])", "[[13f, 16f]]"},
    {"matmul([1f, 2f], [3f, 4f])", "11f"},
    {"matmul([[[1f, 2f]], [[3f, 4f]]], [5f, 6f])", "[[17f], [39f]]"},
    {"matmul([1, 2], [[[3], [4]], [[5], [6]]])", "[[11], [17]]"},
    {"matmul([[[[1f, 2f]]], [[[3f, 4f]]]], [[[5f], [6f]], [[7f], [8f]]])",
     "[[[[17f]], [[23f]]], [[[39f]], [[53f]]]]"}};
constexpr Example matrixTransposeExamples[] = {
    {"matrix_transpose([[1f, 2f], [3f, 4f]])", "[[1f, 3f], [2f, 4f]]"},
    {"matrix_transpose([[[1, 2]], [[3, 4]]])", "[[[1], [2]], [[3], [4]]]"}};

constexpr SimplifyExample matmulSimpler[] = {
    {"matmul(%t, transpose(%x, axes=None))", "nn.matmul(%t, %x, units=None, transpose_b=True)"},
    {"matmul(matrix_transpose(%n), %n)", "nn.matmul(%n, %n, units=None, transpose_a=True)"},
    {"matmul(%t, matrix_transpose(%t))", "nn.batch_matmul(%t, %t, transpose_b=True)"}};
constexpr SimplifyExample matrixTransposeSimpler[] = {
    {"matrix_transpose(%t)", "transpose(%t, axes=[0, 2, 1])"},
    {"matrix_transpose(matrix_transpose(%n))", "%n"}};

constexpr OperatorRow rows[] = {
    {.name = "matmul",
     .synonyms = "@ mm dot",
     .doc = "The product of matrices, with leading dimensions that broadcast.",
     .details = "A vector is a row on the left and a column on the right, and the result lacks "
                "the dimension that it would have by that; two vectors give a number.",
     .operands = factors,
     .relation = withFix<matmulRelation, matmulFix>,
     .compute = computeMatmul,
     .gradient = GradientRule{matmulGradient},
     .simplify = {simplifyMatmul, matmulSimpler},
     .examples = matmulExamples,
     .infix = "@"},
    {.name = "matrix_transpose",
     .synonyms = "mT",
     .doc = "Exchanges the last two dimensions.",
     .operands = matrices,
     .relation = withFix<matrixTransposeRelation, matrixTransposeFix>,
     .compute = computeMatrixTranspose,
     .role = Role::MatrixTranspose,
     .gradient = GradientRule{matrixTransposeGradient},
     .simplify = {simplifyMatrixTranspose, matrixTransposeSimpler},
     .examples = matrixTransposeExamples},
};

} // namespace

OperatorFamily matricesFamily() {
  return rows;
}

} // namespace stdlib

// Products and sums with sparse matrices, whose forms runtime/natives/sparse.h tells.
#include "stdlib/ops/data/sparse.h"

#include "runtime/natives/sparse.h"
#include "stdlib/ops/checks.h"
#include "stdlib/ops/common.h"
#include "stdlib/ops/families.h"
#include "stdlib/ops/shape_rules.h"

#include <fmt/format.h>

namespace stdlib {

namespace {

using namespace lang;

/// The problem of what says where the entries of a sparse matrix stand, operands 2 and 3 (`first`
/// and the one after it), whose values are operand `first - 1`.
std::optional<RelationResult> requireRows(const RelationCall& call, size_t first) {
  for (size_t i = first; i < first + 2; ++i)
    if (call.rank(i) != 1 || !call.dtype(i).isInteger())
      return call.failedAt(
          i, words("expected a vector of integers, but it is `{}`", call.operands[i]));
  if (call.shape(first + 1)[0]->isConstant(0))
    return call.failedAt(first + 1, "the bounds of n rows are n + 1 numbers, but there is none");
  const Dim *entries = call.shape(first - 1)[0], *places = call.shape(first)[0];
  if (call.differ(entries, places))
    return call.failedOn({{first, 0}, {first - 1, 0}},
                         fmt::format("there are {} entries, but {} columns of entries",
                                     dimText(entries), dimText(places)));
  return std::nullopt;
}

/// The problem of a dense and a sparse operand that can't be computed with together.
std::optional<RelationResult> requireNumbers(const RelationCall& call) {
  if (call.dtype(0).isBool())
    return call.failedAt(0, "truth values can't be added up");
  return requireSameDType(call, 0, 1);
}

/// How many rows a sparse matrix has whose bounds are operand 3; null if they are too many.
const Dim* rowCount(const RelationCall& call) {
  const Dim* rows = offsetDim(call.types, call.shape(3)[0], -1);
  size_t rank = call.rank(1);
  return rank == 1 ? rows : timesChecked(call.types, rows, call.shape(1)[1]);
}

/// A result whose row bounds must not be empty.
RelationResult withRows(RelationResult result, const RelationCall& call, size_t bounds) {
  requireAtLeast(result, call.shape(bounds)[0], 1);
  return result;
}

RelationResult sparseDenseRelation(const RelationCall& call) {
  if (call.rank(0) != 2)
    return call.failedAt(
        0, words("the dense operand must be a matrix, but it is `{}`", call.operands[0]));
  if (call.rank(1) != 1 && call.rank(1) != 3)
    return call.failedAt(1, words("the entries must have 1 dimension (CSR) or 3 (BSR), but "
                                  "they are `{}`",
                                  call.operands[1]));
  if (auto problem = requireNumbers(call))
    return *problem;
  if (auto problem = requireRows(call, 2))
    return *problem;
  const Dim *rows = rowCount(call), *others = call.shape(0)[0];
  if (!rows)
    return call.failedForSize("the sparse matrix has too many rows");
  bool isLeft = call.attributes.boolean("sparse_lhs");
  return withRows(call.solved({isLeft ? rows : others, isLeft ? others : rows}, call.dtype(0)),
                  call, 3);
}

RelationResult sparseConvRelation(const RelationCall& call) {
  std::string_view layout = call.attributes.text("layout");
  if (!isOneOf(layout, {"NHWC", "NCHW"}))
    return choiceFailure(call, "layout", "`NHWC` or `NCHW`");
  std::vector<int64_t> window = call.attributes.integers("kernel_size");
  if (window != std::vector<int64_t>{1, 1} && window != std::vector<int64_t>{3, 3})
    return call.failed(fmt::format("`kernel_size` must be [1, 1] or [3, 3], but it is [{}]",
                                   fmt::join(window, ", ")));
  if (call.rank(0) != 4)
    return call.failedAt(0, words("the layout `{}` has 4 dimensions, but the data is `{}`", layout,
                                  call.operands[0]));
  if (call.rank(1) != 2 && call.rank(1) != 3)
    return call.failedAt(
        1, words("the blocks must have 2 or 3 dimensions, but they are `{}`", call.operands[1]));
  if (auto problem = requireNumbers(call))
    return *problem;
  if (auto problem = requireRows(call, 2))
    return *problem;
  const Dim* rows = rowCount(call);
  if (!rows)
    return call.failedForSize("the sparse matrix has too many rows");
  std::vector<const Dim*> shape(call.shape(0).begin(), call.shape(0).end());
  shape[layout == "NHWC" ? 3 : 1] = rows;
  return withRows(call.solved(shape, call.dtype(0)), call, 3);
}

RelationResult sparseAddRelation(const RelationCall& call) {
  if (call.rank(0) != 2 || call.rank(1) != 1)
    return call.failedAt(call.rank(0) != 2 ? 0 : 1,
                         words("expected a dense matrix and a vector of entries, but they "
                               "are `{}` and `{}`",
                               call.operands[0], call.operands[1]));
  if (auto problem = requireNumbers(call))
    return *problem;
  if (auto problem = requireRows(call, 2))
    return *problem;
  const Dim* rows = offsetDim(call.types, call.shape(3)[0], -1);
  if (call.differ(rows, call.shape(0)[0]))
    return call.failedOn({{3, 0}, {0, 0}},
                         fmt::format("the dense matrix has {} rows, but the sparse one has {}",
                                     dimText(call.shape(0)[0]), dimText(rows)));
  RelationResult result = withRows(call.solved(call.operands[0]), call, 3);
  requireSame(result, call.types, rows, call.shape(0)[0]);
  return result;
}

RelationResult sparseTransposeRelation(const RelationCall& call) {
  if (call.rank(0) != 1)
    return call.failedAt(
        0, words("the entries must be a vector, but they are `{}`", call.operands[0]));
  if (auto problem = requireRows(call, 1))
    return *problem;
  return withRows(call.solved(call.types.tuple(call.operands)), call, 2);
}

natives::ProductParameters decodeDense(const Attributes& attributes, Types) {
  return {attributes.boolean("sparse_lhs"), false, false, false};
}

natives::ProductParameters decodeConv(const Attributes& attributes, Types) {
  return {false, true, attributes.text("layout") == "NCHW",
          attributes.integers("kernel_size")[0] == 3};
}

constexpr OperandRow indicesRow = {"sparse_indices", "the column of each entry or block"};
constexpr OperandRow indptrRow = {"sparse_indptr",
                                  "where the entries of each row begin, and where the last end"};
constexpr OperandRow productOperands[] = {{"dense_data", "the dense matrix"},
                                          {"sparse_data", "the entries (CSR) or blocks (BSR)"},
                                          indicesRow,
                                          indptrRow};
constexpr OperandRow paddedOperands[] = {
    {"data", "the dense matrix"},
    {"weight_data", "the entries (CSR) or blocks (BSR)"},
    {"weight_indices", "the column of each entry or block"},
    {"weight_indptr", "where the entries of each row begin, and where the last end"}};
constexpr OperandRow convOperands[] = {
    {"dense_data", "the pictures"},
    {"sparse_data", "the blocks of weights; of 2 dimensions if they are one column wide"},
    indicesRow,
    indptrRow};
constexpr OperandRow addOperands[] = {
    {"dense_data", "the dense matrix"}, {"sparse_data", "the entries"}, indicesRow, indptrRow};
constexpr OperandRow transposeOperands[] = {{"sparse_data", "the entries"}, indicesRow, indptrRow};

constexpr AttributeRow productAttributes[] = {
    {"sparse_lhs", AttributeKind::Bool, "False",
     "whether the sparse matrix stands on the left of the product"}};
constexpr AttributeRow convAttributes[] = {
    {"layout", AttributeKind::String, "\"NHWC\"", "`NHWC` or `NCHW`"},
    {"kernel_size", AttributeKind::IntList, "[1, 1]", "[1, 1] or [3, 3]"}};

constexpr Example productExamples[] = {
    {"nn.sparse_dense([[1f, 2f, 3f], [4f, 5f, 6f]], [1f, 2f, 3f], [0, 2, 1], [0, 2, 3])",
     "[[7f, 6f], [16f, 15f]]"},
    {"nn.sparse_dense([[1f, 2f, 3f], [4f, 5f, 6f]], [1f, 2f, 3f], [0, 2, 1], [0, 2, 3], "
     "sparse_lhs=True)",
     "[[7f, 16f], [6f, 15f]]"},
    {"nn.sparse_dense([[1, 2, 3, 4]], [[[1, 2], [3, 4]]], [1], [0, 1])", "[[11, 25]]"}};
constexpr Example paddedExamples[] = {
    {"nn.internal.sparse_dense_padded([[1f, 2f, 3f]], [1f, 2f, 3f, 0f], [0, 2, 1, 0], [0, 2, 4])",
     "[[7f, 6f]]"}};
constexpr Example convExamples[] = {
    {"nn.sparse_conv2d([[[[1f, 2f], [3f, 4f]]]], [[[2f], [3f]]], [1], [0, 1])",
     "[[[[4f, 6f], [8f, 12f]]]]"},
    {"nn.sparse_conv2d([[[[1f, 2f, 3f]]]], [[1f], [10f]], [3, 5], [0, 2], layout=\"NCHW\", "
     "kernel_size=[3, 3])",
     "[[[[20f, 31f, 2f]]]]"}};
constexpr Example addExamples[] = {
    {"nn.sparse_add([[1f, 2f], [3f, 4f]], [10f, 20f], [1, 0], [0, 1, 2])",
     "[[1f, 12f], [23f, 4f]]"}};
constexpr Example transposeExamples[] = {{"nn.sparse_transpose([1f, 2f, 3f], [0, 1, 0], [0, 2, 3])",
                                          "([1f, 3f, 2f], [0, 1, 0], [0, 2, 3])"}};

constexpr std::string_view productDetails =
    "Row bounds must not fall. Entries before the first row or behind the last one count for "
    "nothing, those at one place are added up.";

constexpr OperatorRow rows[] = {
    {.name = "nn.sparse_dense",
     .doc = "Multiplies a dense matrix with the transpose of a sparse one, or the other way round.",
     .details = productDetails,
     .operands = productOperands,
     .attributes = productAttributes,
     .attributesKey = "relay.attrs.SparseDenseAttrs",
     .relation = sparseDenseRelation,
     .native = nativeOf<natives::multiplySparse, decodeDense>(),
     .gradient = GradientRule{sparseDenseGradient},
     .examples = productExamples},
    {.name = "nn.internal.sparse_dense_padded",
     .doc = "Multiplies like `nn.sparse_dense`, with rows that were filled up with zeros.",
     .operands = paddedOperands,
     .attributes = productAttributes,
     .attributesKey = "relay.attrs.SparseDenseAttrs",
     .relation = sparseDenseRelation,
     .native = nativeOf<natives::multiplySparse, decodeDense>(),
     .gradient = GradientRule{sparseDenseGradient},
     .examples = paddedExamples},
    {.name = "nn.sparse_conv2d",
     .doc = "A convolution of pictures with sparse weights that keeps their height and width.",
     .details = "The weights are a matrix with a row for each channel of the result. With windows "
                "of 3 times 3 its columns are window row, window column and channel in `NHWC`, "
                "and channel, window row and window column in `NCHW`; outside is zero.",
     .operands = convOperands,
     .attributes = convAttributes,
     .attributesKey = "relay.attrs.SparseConv2DAttrs",
     .relation = sparseConvRelation,
     .native = nativeOf<natives::multiplySparse, decodeConv>(),
     .gradient = GradientRule{sparseConvGradient},
     .examples = convExamples},
    {.name = "nn.sparse_add",
     .doc = "Adds a sparse matrix in CSR to a dense one.",
     .details = productDetails,
     .operands = addOperands,
     .relation = sparseAddRelation,
     .native = nativeOf<natives::addSparse>(),
     .gradient = GradientRule{sparseAddGradient},
     .examples = addExamples},
    {.name = "nn.sparse_transpose",
     .doc = "Transposes a square sparse matrix in CSR.",
     .details =
         "Row bounds must rise from 0 to the number of entries. Those of a row keep their order.",
     .operands = transposeOperands,
     .attributesKey = "relay.attrs.SparseTransposeAttrs",
     .relation = sparseTransposeRelation,
     .native = ordering(nativeOf<natives::transposeSparse>()),
     .gradient = GradientRule{sparseTransposeGradient},
     .examples = transposeExamples},
};

} // namespace

OperatorFamily sparseFamily() {
  return rows;
}

} // namespace stdlib

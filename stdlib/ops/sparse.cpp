// Products and sums with sparse matrices: CSR, where single elements are stored, and BSR, where
// blocks are.
//
// Row of blocks i holds blocks `indptr[i]` to `indptr[i + 1]`, block k stands in column of blocks
// `indices[k]`. CSR is BSR with blocks of one element. Products are added up in float64 and rounded
// once; whole numbers wrap.
#include "stdlib/ops/sparse.h"

#include "stdlib/ops/checks.h"
#include "stdlib/ops/common.h"
#include "stdlib/ops/families.h"
#include "stdlib/ops/kernel_data.h"
#include "stdlib/ops/shape_rules.h"

#include <fmt/format.h>

namespace stdlib {

namespace {

using namespace lang;
using runtime::KernelCall;
using runtime::KernelFault;
using runtime::KernelFaultCode;
using runtime::Tensor;

/// The problem of what says where the entries of a sparse matrix stand, operands 2 and 3 (`first`
/// and the one after it), whose values are operand `first - 1`.
std::optional<RelationResult> requireRows(const RelationCall& call, size_t first) {
  for (size_t i = first; i < first + 2; ++i)
    if (call.rank(i) != 1 || !call.dtype(i).isInteger())
      return call.failedAt(i, fmt::format("expected a vector of integers, but it is `{}`",
                                          typeText(call.operands[i])));
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
    return call.failedAt(0, fmt::format("the dense operand must be a matrix, but it is `{}`",
                                        typeText(call.operands[0])));
  if (call.rank(1) != 1 && call.rank(1) != 3)
    return call.failedAt(1, fmt::format("the entries must have 1 dimension (CSR) or 3 (BSR), but "
                                        "they are `{}`",
                                        typeText(call.operands[1])));
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
    return call.failedAt(0, fmt::format("the layout `{}` has 4 dimensions, but the data is `{}`",
                                        layout, typeText(call.operands[0])));
  if (call.rank(1) != 2 && call.rank(1) != 3)
    return call.failedAt(1, fmt::format("the blocks must have 2 or 3 dimensions, but they are `{}`",
                                        typeText(call.operands[1])));
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
                         fmt::format("expected a dense matrix and a vector of entries, but they "
                                     "are `{}` and `{}`",
                                     typeText(call.operands[0]), typeText(call.operands[1])));
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
    return call.failedAt(0, fmt::format("the entries must be a vector, but they are `{}`",
                                        typeText(call.operands[0])));
  if (auto problem = requireRows(call, 1))
    return *problem;
  return withRows(call.solved(call.types.tuple(call.operands)), call, 2);
}

/// Where the blocks of a sparse matrix stand.
struct Rows {
  std::vector<int64_t> bounds, columns;
};

/// Reads where blocks stand in a matrix of `width` columns of blocks, or the fault. Blocks before
/// the first row and behind the last one stand nowhere.
KernelFault readRows(const Tensor& indices, const Tensor& indptr, int64_t width, Rows& rows) {
  auto columns = integerValues(indices), bounds = integerValues(indptr);
  if (!columns || !bounds)
    return {KernelFaultCode::IndexTooLarge};
  int64_t entries = indices.size(), last = 0;
  for (size_t i = 0; i < bounds->size(); ++i) {
    int64_t bound = (*bounds)[i];
    if (bound < last || bound > entries)
      return {KernelFaultCode::RowBounds, {entries, bound, int64_t(i)}};
    last = bound;
  }
  for (int64_t k = bounds->front(); k < bounds->back(); ++k)
    if (int64_t column = (*columns)[size_t(k)]; column < 0 || column >= width)
      return {KernelFaultCode::IndexOutside, {column, width}};
  rows = {std::move(*bounds), std::move(*columns)};
  return {};
}

/// What a sparse matrix is multiplied with: pictures, of which each pixel gives a vector. That is
/// its channels, or those of all pixels in a window of 3 times 3 around it, zero outside. A dense
/// matrix has pictures of one pixel.
struct Pictures {
  int64_t count = 1, channels = 1, height = 1, width = 1;
  bool channelsFirst = false;
  bool isWindow = false;

  int64_t pixels() const { return height * width; }
  int64_t columns() const { return isWindow ? std::min(channels, INT64_MAX / 9) * 9 : channels; }
  int64_t place(int64_t picture, int64_t pixel, int64_t channel, int64_t channelCount) const {
    return channelsFirst ? (picture * channelCount + channel) * pixels() + pixel
                         : (picture * pixels() + pixel) * channelCount + channel;
  }
  /// The place of element `column` of a pixel's vector; -1 outside the picture.
  int64_t source(int64_t picture, int64_t pixel, int64_t column) const {
    if (!isWindow)
      return place(picture, pixel, column, channels);
    int64_t channel = channelsFirst ? column / 9 : column % channels;
    int64_t tap = channelsFirst ? column % 9 : column / channels;
    int64_t y = pixel / width + tap / 3 - 1, x = pixel % width + tap % 3 - 1;
    bool isInside = y >= 0 && y < height && x >= 0 && x < width;
    return isInside ? place(picture, y * width + x, channel, channels) : -1;
  }
};

struct ProductParameters {
  bool isLeft, isConv, channelsFirst, isWindow;
};

ProductParameters decodeDense(const Attributes& attributes, Types) {
  return {attributes.boolean("sparse_lhs"), false, false, false};
}

ProductParameters decodeConv(const Attributes& attributes, Types) {
  return {false, true, attributes.text("layout") == "NCHW",
          attributes.integers("kernel_size")[0] == 3};
}

Pictures picturesOf(const runtime::Shape& shape, const ProductParameters& parameters) {
  if (!parameters.isConv)
    return {shape[0], shape[1]};
  bool first = parameters.channelsFirst;
  return {shape[0], shape[first ? 1 : 3], shape[first ? 2 : 1], shape[first ? 3 : 2],
          first,    parameters.isWindow};
}

/// The sum of the products of one row of a sparse matrix, from `row` of the blocks in row of blocks
/// `blockRow`, with the vector of a pixel.
template <typename T, typename Sum>
Sum rowProduct(const Rows& rows, int64_t blockRow, std::span<const T> row, int64_t blockSize,
               int64_t blockWidth, auto&& element) {
  Sum sum = 0;
  for (int64_t k = rows.bounds[size_t(blockRow)]; k < rows.bounds[size_t(blockRow) + 1]; ++k)
    for (int64_t c = 0; c < blockWidth; ++c)
      sum += Sum(wide(row[size_t(k * blockSize + c)])) *
             Sum(element(rows.columns[size_t(k)] * blockWidth + c));
  return sum;
}

template <typename T>
void multiplyRows(const KernelCall& call, const Rows& rows, const Pictures& pictures, bool isLeft,
                  Tensor& result) {
  using Sum = std::conditional_t<std::is_integral_v<T>, uint64_t, double>;
  const Tensor& blocks = call.inputs[1];
  int64_t height = blocks.rank() > 1 ? blocks.shape()[1] : 1;
  int64_t width = blocks.rank() > 2 ? blocks.shape()[2] : 1;
  int64_t rowCount = (int64_t(rows.bounds.size()) - 1) * height;
  auto data = call.inputs[0].elements<T>();
  auto weights = blocks.elements<T>();
  for (int64_t picture = 0; picture < pictures.count; ++picture)
    for (int64_t pixel = 0; pixel < pictures.pixels(); ++pixel)
      for (int64_t row = 0; row < rowCount; ++row) {
        auto element = [&](int64_t column) {
          int64_t from = pictures.source(picture, pixel, column);
          return from < 0 ? Wide<T>(0) : wide(data[size_t(from)]);
        };
        size_t start = std::min(size_t(row % height * width), weights.size());
        Sum sum = rowProduct<T, Sum>(rows, row / height, weights.subspan(start), height * width,
                                     width, element);
        int64_t to =
            isLeft ? row * pictures.count + picture : pictures.place(picture, pixel, row, rowCount);
        writeSum(result.elements<T>()[size_t(to)], sum);
      }
}

KernelFault multiply(const KernelCall& call, const ProductParameters& parameters) {
  const Tensor &data = call.inputs[0], &blocks = call.inputs[1];
  Pictures pictures = picturesOf(data.shape(), parameters);
  int64_t height = blocks.rank() > 1 ? blocks.shape()[1] : 1;
  int64_t width = blocks.rank() > 2 ? blocks.shape()[2] : 1;
  Rows rows;
  int64_t blockColumns = width > 0 ? pictures.columns() / width : 0;
  if (auto fault = readRows(call.inputs[2], call.inputs[3], blockColumns, rows))
    return fault;
  runtime::Shape shape = data.shape();
  int64_t rowCount = (int64_t(rows.bounds.size()) - 1) * height;
  shape[parameters.channelsFirst ? 1 : shape.size() - 1] = rowCount;
  if (parameters.isLeft)
    std::swap(shape[0], shape[1]);
  Tensor& result = call.outputs.emplace_back(data.dtype(), shape);
  bool isKnown = result.size() == 0 || visitElementType(data.dtype(), [&]<typename T>(T) {
                   multiplyRows<T>(call, rows, pictures, parameters.isLeft, result);
                 });
  return {isKnown ? KernelFaultCode::None : KernelFaultCode::ElementType};
}

KernelFault addEntries(const KernelCall& call) {
  const Tensor &dense = call.inputs[0], &entries = call.inputs[1];
  int64_t width = dense.shape()[1];
  Rows rows;
  if (auto fault = readRows(call.inputs[2], call.inputs[3], width, rows))
    return fault;
  Tensor& result = call.outputs.emplace_back(dense.dtype(), dense.shape());
  copyElements(dense, 0, result, 0, dense.size());
  bool isKnown = visitElementType(dense.dtype(), [&]<typename T>(T) {
    using Sum = std::conditional_t<std::is_integral_v<T>, uint64_t, double>;
    for (int64_t row = 0; row < dense.shape()[0]; ++row)
      for (int64_t k = rows.bounds[size_t(row)]; k < rows.bounds[size_t(row) + 1]; ++k) {
        T& element = result.elements<T>()[size_t(row * width + rows.columns[size_t(k)])];
        writeSum(element, Sum(wide(element)) + Sum(wide(entries.elements<T>()[size_t(k)])));
      }
  });
  return {isKnown ? KernelFaultCode::None : KernelFaultCode::ElementType};
}

/// Sorts the entries by column; those of a column keep the order of their rows.
KernelFault transposeRows(const KernelCall& call) {
  const Tensor &data = call.inputs[0], &indices = call.inputs[1], &indptr = call.inputs[2];
  int64_t count = indptr.size() - 1;
  Rows rows;
  if (auto fault = readRows(indices, indptr, count, rows))
    return fault;
  if (rows.bounds.front() != 0)
    return {KernelFaultCode::RowBounds, {data.size(), rows.bounds.front(), 0}};
  if (rows.bounds.back() != data.size())
    return {KernelFaultCode::RowBounds, {data.size(), rows.bounds.back(), count}};
  std::vector<int64_t> bounds(size_t(count) + 1, 0);
  for (int64_t column : rows.columns)
    ++bounds[size_t(column) + 1];
  for (size_t i = 0; i < size_t(count); ++i)
    bounds[i + 1] += bounds[i];
  Tensor entries(data.dtype(), data.shape()), columns(indices.dtype(), indices.shape());
  Tensor limits(indptr.dtype(), indptr.shape());
  for (size_t i = 0; i < bounds.size(); ++i)
    writeReal(limits, int64_t(i), double(bounds[i]));
  for (int64_t row = 0; row < count; ++row)
    for (int64_t k = rows.bounds[size_t(row)]; k < rows.bounds[size_t(row) + 1]; ++k) {
      int64_t to = bounds[size_t(rows.columns[size_t(k)])]++;
      copyElements(data, k, entries, to, 1);
      writeReal(columns, to, double(row));
    }
  call.outputs = {entries, columns, limits};
  return {};
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
     .kernel = kernelOf<decodeDense, multiply>(),
     .gradient = GradientRule{sparseDenseGradient},
     .examples = productExamples},
    {.name = "nn.internal.sparse_dense_padded",
     .doc = "Multiplies like `nn.sparse_dense`, with rows that were filled up with zeros.",
     .operands = paddedOperands,
     .attributes = productAttributes,
     .attributesKey = "relay.attrs.SparseDenseAttrs",
     .relation = sparseDenseRelation,
     .kernel = kernelOf<decodeDense, multiply>(),
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
     .kernel = kernelOf<decodeConv, multiply>(),
     .gradient = GradientRule{sparseConvGradient},
     .examples = convExamples},
    {.name = "nn.sparse_add",
     .doc = "Adds a sparse matrix in CSR to a dense one.",
     .details = productDetails,
     .operands = addOperands,
     .relation = sparseAddRelation,
     .kernel = kernelOf<addEntries>(),
     .gradient = GradientRule{sparseAddGradient},
     .examples = addExamples},
    {.name = "nn.sparse_transpose",
     .doc = "Transposes a square sparse matrix in CSR.",
     .details =
         "Row bounds must rise from 0 to the number of entries. Those of a row keep their order.",
     .operands = transposeOperands,
     .attributesKey = "relay.attrs.SparseTransposeAttrs",
     .relation = sparseTransposeRelation,
     .kernel = ordering(kernelOf<transposeRows>()),
     .gradient = GradientRule{sparseTransposeGradient},
     .examples = transposeExamples},
};

} // namespace

OperatorFamily sparseFamily() {
  return rows;
}

} // namespace stdlib

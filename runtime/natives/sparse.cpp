// Where the entries stand is read, and looked at, before anything is computed.
#include "runtime/natives/sparse.h"

#include "runtime/natives/elements.h"
#include "runtime/natives/tensor_data.h"

#include <algorithm>

namespace natives {

namespace {

/// Where the blocks of a sparse matrix stand.
struct Rows {
  std::vector<int64_t> bounds, columns;
};

/// Reads where blocks stand in a matrix of `width` columns of blocks, or the fault. Blocks before
/// the first row and behind the last one stand nowhere.
NativeFault readRows(const Tensor& indices, const Tensor& indptr, int64_t width, Rows& rows) {
  auto columns = integerValues(indices), bounds = integerValues(indptr);
  if (!columns || !bounds)
    return {NativeFaultCode::IndexTooLarge};
  int64_t entries = indices.size(), last = 0;
  for (size_t i = 0; i < bounds->size(); ++i) {
    int64_t bound = (*bounds)[i];
    if (bound < last || bound > entries)
      return {NativeFaultCode::RowBounds, {entries, bound, int64_t(i)}};
    last = bound;
  }
  for (int64_t k = bounds->front(); k < bounds->back(); ++k)
    if (int64_t column = (*columns)[size_t(k)]; column < 0 || column >= width)
      return {NativeFaultCode::IndexOutside, {column, width}};
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

Pictures picturesOf(const Shape& shape, const ProductParameters& parameters) {
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
void multiplyRows(const NativeCall& call, const Rows& rows, const Pictures& pictures, bool isLeft,
                  Tensor& result) {
  using Sum = std::conditional_t<std::is_integral_v<T>, uint64_t, double>;
  const Tensor& blocks = call.inputs[1];
  int64_t height = blocks.rank() > 1 ? blocks.shape()[1] : 1;
  int64_t width = blocks.rank() > 2 ? blocks.shape()[2] : 1;
  int64_t rowCount = (int64_t(rows.bounds.size()) - 1) * height;
  auto data = call.inputs[0].elements<T>();
  auto weights = blocks.elements<T>();
  int64_t blockSize = weights.empty() ? 0 : height * width;
  for (int64_t picture = 0; picture < pictures.count; ++picture)
    for (int64_t pixel = 0; pixel < pictures.pixels(); ++pixel)
      for (int64_t row = 0; row < rowCount; ++row) {
        auto element = [&](int64_t column) {
          int64_t from = pictures.source(picture, pixel, column);
          return from < 0 ? Wide<T>(0) : wide(data[size_t(from)]);
        };
        size_t start = std::min(size_t(row % height) * size_t(width), weights.size());
        Sum sum = rowProduct<T, Sum>(rows, row / height, weights.subspan(start), blockSize, width,
                                     element);
        int64_t to =
            isLeft ? row * pictures.count + picture : pictures.place(picture, pixel, row, rowCount);
        writeSum(result.elements<T>()[size_t(to)], sum);
      }
}

bool isIntegerVector(const NativeType& type) {
  return type.dtype.isInteger() && isKnown(type.dtype) && type.rank == 1;
}

/// Whether inputs from `first` on are what says where the entries of the one before them stand.
bool areRows(NativeTypes inputs, size_t first) {
  return inputs.size() == first + 2 && isIntegerVector(inputs[first]) &&
         isIntegerVector(inputs[first + 1]);
}
bool rowsFit(const NativeCall& call, size_t first) {
  return call.inputs[first - 1].shape()[0] == call.inputs[first].size() &&
         call.inputs[first + 1].size() > 0;
}

bool canBeAdded(NativeTypes inputs) {
  return isKnown(inputs[0].dtype) && !inputs[0].dtype.isBool() &&
         inputs[1].dtype == inputs[0].dtype;
}

NativeResults productResults(NativeTypes inputs, const ProductParameters& parameters) {
  auto [isLeft, isConv, channelsFirst, isWindow] = parameters;
  if (!areRows(inputs, 2) || !canBeAdded(inputs))
    return std::nullopt;
  size_t rank = inputs[1].rank;
  bool isGood =
      isConv ? inputs[0].rank == 4 && (rank == 2 || rank == 3) && !isLeft
             : inputs[0].rank == 2 && (rank == 1 || rank == 3) && !channelsFirst && !isWindow;
  return isGood ? NativeResults({inputs[0]}) : std::nullopt;
}

NativeFault multiply(const NativeCall& call, const ProductParameters& parameters) {
  if (!rowsFit(call, 2))
    return {NativeFaultCode::Shapes};
  const Tensor &data = call.inputs[0], &blocks = call.inputs[1];
  Pictures pictures = picturesOf(data.shape(), parameters);
  int64_t height = blocks.rank() > 1 ? blocks.shape()[1] : 1;
  int64_t width = blocks.rank() > 2 ? blocks.shape()[2] : 1;
  Rows rows;
  int64_t blockColumns = width > 0 ? pictures.columns() / width : 0;
  if (auto fault = readRows(call.inputs[2], call.inputs[3], blockColumns, rows))
    return fault;
  Shape shape = data.shape();
  int64_t rowCount = extentTimes(int64_t(rows.bounds.size()) - 1, height);
  shape[parameters.channelsFirst ? 1 : shape.size() - 1] = rowCount;
  if (parameters.isLeft)
    std::swap(shape[0], shape[1]);
  Tensor& result = call.outputs.emplace_back(data.dtype(), shape);
  bool isKnown = result.size() == 0 || visitElementType(data.dtype(), [&]<typename T>(T) {
                   multiplyRows<T>(call, rows, pictures, parameters.isLeft, result);
                 });
  return {isKnown ? NativeFaultCode::None : NativeFaultCode::ElementType};
}

NativeResults sumResults(NativeTypes inputs, const NoParameters&) {
  bool isGood =
      areRows(inputs, 2) && canBeAdded(inputs) && inputs[0].rank == 2 && inputs[1].rank == 1;
  return isGood ? NativeResults({inputs[0]}) : std::nullopt;
}

NativeFault addEntries(const NativeCall& call, const NoParameters&) {
  const Tensor &dense = call.inputs[0], &entries = call.inputs[1];
  if (!rowsFit(call, 2) || call.inputs[3].size() - 1 != dense.shape()[0])
    return {NativeFaultCode::Shapes};
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
  return {isKnown ? NativeFaultCode::None : NativeFaultCode::ElementType};
}

NativeResults transposedResults(NativeTypes inputs, const NoParameters&) {
  bool isGood = areRows(inputs, 1) && isKnown(inputs[0].dtype) && inputs[0].rank == 1;
  return isGood ? NativeResults({inputs[0], inputs[1], inputs[2]}) : std::nullopt;
}

/// Sorts the entries by column; those of a column keep the order of their rows.
NativeFault transposeRows(const NativeCall& call, const NoParameters&) {
  if (!rowsFit(call, 1))
    return {NativeFaultCode::Shapes};
  const Tensor &data = call.inputs[0], &indices = call.inputs[1], &indptr = call.inputs[2];
  int64_t count = indptr.size() - 1;
  Rows rows;
  if (auto fault = readRows(indices, indptr, count, rows))
    return fault;
  if (rows.bounds.front() != 0)
    return {NativeFaultCode::RowBounds, {data.size(), rows.bounds.front(), 0}};
  if (rows.bounds.back() != data.size())
    return {NativeFaultCode::RowBounds, {data.size(), rows.bounds.back(), count}};
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

} // namespace

constinit const NativeOf<ProductParameters> multiplySparse =
    native<ProductParameters, productResults, multiply>("multiplySparse");
constinit const NativeOf<NoParameters> addSparse =
    native<NoParameters, sumResults, addEntries>("addSparse");
constinit const NativeOf<NoParameters> transposeSparse =
    native<NoParameters, transposedResults, transposeRows>("transposeSparse");

} // namespace natives

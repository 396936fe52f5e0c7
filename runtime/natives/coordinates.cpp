// Values are written one by one.
#include "runtime/natives/coordinates.h"

#include "runtime/natives/elements.h"
#include "runtime/natives/tensor_data.h"

#include <algorithm>

namespace natives {

namespace {

bool areIntegers(const NativeType& type) {
  return type.dtype.isInteger() && isKnown(type.dtype);
}

/// Of indices, values and the default; a dense tensor of a rank.
NativeResults filledResults(NativeTypes inputs, size_t rank) {
  bool isGood = areIntegers(inputs[0]) && inputs[0].rank <= 2 &&
                inputs[1].rank == std::min<size_t>(inputs[0].rank, 1) && isKnown(inputs[1].dtype) &&
                isKnown(inputs[2].dtype) && inputs[2].rank == 0;
  return isGood ? NativeResults({{inputs[1].dtype, rank}}) : std::nullopt;
}

NativeResults denseResults(NativeTypes inputs, const DenseParameters& parameters) {
  bool isGood = inputs.size() == 3 && runtime::elementCount(parameters.shape);
  return isGood ? filledResults(inputs, parameters.shape.size()) : std::nullopt;
}

/// Writes the values one by one; an index with few coordinates means all that begin with them.
NativeFault makeDense(const NativeCall& call, Shape shape) {
  const Tensor &indices = call.inputs[0], &values = call.inputs[1];
  auto coordinates = integerValues(indices);
  if (!coordinates)
    return {NativeFaultCode::IndexTooLarge};
  size_t width = indices.rank() == 2 ? size_t(indices.shape()[1]) : 1;
  if (width > shape.size() || !agree(indices.shape(), values.shape(), 0, 1))
    return {NativeFaultCode::Shapes};
  Tensor& result = call.outputs.emplace_back(values.dtype(), shape);
  std::vector<double> fill = readReals(call.inputs[2]);
  if (fill.empty())
    return {NativeFaultCode::ElementType};
  bool isSame = values.dtype() == call.inputs[2].dtype();
  for (int64_t i = 0; i < result.size(); ++i)
    isSame ? copyElements(call.inputs[2], 0, result, i, 1) : writeReal(result, i, fill[0]);
  int64_t block =
      runtime::elementCount(std::span(shape).subspan(std::min(width, shape.size()))).value_or(0);
  for (int64_t k = 0; k < values.size(); ++k) {
    int64_t place = 0;
    bool isInside = result.size() > 0;
    for (size_t i = 0; i < width && isInside; ++i) {
      int64_t at = (*coordinates)[size_t(k) * width + i];
      isInside = at >= 0 && at < shape[i];
      place = isInside ? place * shape[i] + at : 0;
    }
    for (int64_t i = 0; i < block && isInside; ++i)
      copyElements(values, k, result, place * block + i, 1);
  }
  return {};
}

NativeFault toDense(const NativeCall& call, const DenseParameters& parameters) {
  return makeDense(call, parameters.shape);
}

NativeResults denseByOperandResults(NativeTypes inputs, const RankParameters& parameters) {
  bool isGood = inputs.size() == 4 && areIntegers(inputs[3]) && inputs[3].rank == 1;
  return isGood ? filledResults(inputs.first(3), parameters.rank) : std::nullopt;
}

NativeFault dynToDense(const NativeCall& call, const RankParameters& parameters) {
  auto shape = integerValues(call.inputs[3]);
  if (!shape)
    return {NativeFaultCode::IndexTooLarge};
  bool isGood = shape->size() == parameters.rank &&
                std::ranges::all_of(*shape, [](int64_t extent) { return extent >= 0; });
  return isGood ? makeDense(call, *shape) : NativeFault{NativeFaultCode::Shapes};
}

/// The elements as int64; whole numbers keep all digits, floats are cut, and zero
/// beyond int64.
std::optional<std::vector<int64_t>> asInt64(const Tensor& tensor) {
  if (tensor.dtype().isInteger())
    return integerValues(tensor);
  Tensor whole(runtime::Int64, tensor.shape());
  std::vector<double> values = readReals(tensor);
  for (size_t i = 0; i < values.size(); ++i)
    writeReal(whole, int64_t(i), values[i]);
  return integerValues(whole);
}

NativeResults rowsResults(NativeTypes inputs, const NoParameters&) {
  bool isGood = inputs.size() == 4 && areIntegers(inputs[0]) && inputs[0].rank == 2 &&
                isKnown(inputs[1].dtype) && inputs[1].rank == 1 && areIntegers(inputs[2]) &&
                inputs[2].rank == 1 && isKnown(inputs[3].dtype) && inputs[3].rank <= 1;
  const NativeType numbers{runtime::Int64, 1};
  return isGood ? NativeResults({{runtime::Int64, 2}, numbers, numbers}) : std::nullopt;
}

NativeFault fillRows(const NativeCall& call, const NoParameters&) {
  const Tensor &indices = call.inputs[0], &fill = call.inputs[3];
  if (!agree(indices.shape(), call.inputs[1].shape(), 0, 1) || indices.shape()[1] < 1 ||
      indices.shape()[1] != call.inputs[2].size())
    return {NativeFaultCode::Shapes};
  auto coordinates = integerValues(indices), values = asInt64(call.inputs[1]);
  auto filler = asInt64(fill);
  auto counts = countRows(indices, call.inputs[2]);
  if (counts.fault)
    return counts.fault;
  if (!coordinates || !values || !filler)
    return {NativeFaultCode::IndexTooLarge};
  if (fill.size() != 1)
    return {NativeFaultCode::NotOneNumber, {3, fill.size()}};
  int64_t given = indices.shape()[0], width = indices.shape()[1];
  Tensor isEmpty(runtime::Int64, {counts.all});
  int64_t count = given + counts.empty;
  Tensor places(runtime::Int64, {count, width}), entries(runtime::Int64, {count});
  int64_t* place = places.elements<int64_t>().data();
  int64_t* entry = entries.elements<int64_t>().data();
  int64_t from = 0;
  for (int64_t row = 0; row < counts.all; ++row) {
    int64_t first = from;
    for (; from < given && (*coordinates)[size_t(from * width)] == row; ++from, place += width) {
      std::copy_n(coordinates->begin() + from * width, width, place);
      *entry++ = (*values)[size_t(from)];
    }
    if (from > first)
      continue;
    isEmpty.elements<int64_t>()[size_t(row)] = 1;
    *place = row;
    place += width;
    *entry++ = filler->front();
  }
  call.outputs = {places, entries, isEmpty};
  return {};
}

} // namespace

RowCounts countRows(const Tensor& indices, const Tensor& shape) {
  auto coordinates = integerValues(indices), extents = integerValues(shape);
  if (!coordinates || !extents || extents->empty() || extents->front() < 0)
    return {0, 0, {NativeFaultCode::NoRows}};
  RowCounts counts{extents->front(), extents->front()};
  int64_t width = indices.shape()[1], last = -1;
  for (int64_t k = 0; k < indices.shape()[0]; ++k) {
    int64_t row = (*coordinates)[size_t(k * width)], least = std::max<int64_t>(last, 0);
    if (row < least || row >= counts.all)
      return {0, 0, {NativeFaultCode::RowOutside, {k, row, least, counts.all - 1}}};
    counts.empty -= row != last;
    last = row;
  }
  return counts;
}

constinit const NativeOf<DenseParameters> fillDense =
    native<DenseParameters, denseResults, toDense>("fillDense");
constinit const NativeOf<RankParameters> fillDenseByOperand =
    native<RankParameters, denseByOperandResults, dynToDense>("fillDenseByOperand");
constinit const NativeOf<NoParameters> fillEmptyRows =
    native<NoParameters, rowsResults, fillRows>("fillEmptyRows");

} // namespace natives

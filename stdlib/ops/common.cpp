// The rules and constants that families share.
#include "stdlib/ops/common.h"

#include <fmt/format.h>
#include <utility>

namespace stdlib {

using lang::Dim;
using lang::Dims;
using lang::RelationCall;
using lang::RelationResult;
using runtime::DType;

RelationResult sameAsFirst(const RelationCall& call) {
  return call.solved(call.operands[0]);
}

std::optional<RelationResult> requireSameDType(const RelationCall& call, size_t left,
                                               size_t right) {
  if (call.dtype(left) == call.dtype(right))
    return std::nullopt;
  return call.failedAt(right,
                       fmt::format("the element types differ: `{}` and `{}`",
                                   runtime::dtypeName(call.dtype(left)),
                                   runtime::dtypeName(call.dtype(right))),
                       "convert one of them with `cast`");
}

std::optional<RelationResult> requireScalar(const RelationCall& call, size_t i,
                                            std::string_view name) {
  if (call.rank(i) == 0)
    return std::nullopt;
  return call.failedAt(i, fmt::format("`{}` must have rank 0, but its shape is `{}`", name,
                                      lang::shapeText(call.shape(i))));
}

std::string broadcastProblem(Dims left, Dims right, size_t where) {
  return fmt::format("the shapes `{}` and `{}` do not broadcast: {} and {} at dimension -{}",
                     lang::shapeText(left), lang::shapeText(right),
                     lang::dimText(left[left.size() - where]),
                     lang::dimText(right[right.size() - where]), where);
}

bool broadcastsTo(Dims from, Dims to) {
  if (from.size() > to.size())
    return false;
  size_t offset = to.size() - from.size();
  for (size_t i = 0; i < from.size(); ++i)
    if (!from[i]->isConstant(1) && !lang::meetDims(from[i], to[offset + i]))
      return false;
  return true;
}

std::optional<std::vector<const Dim*>> shapeAttribute(const RelationCall& call,
                                                      std::string_view name) {
  const lang::AttributeValue& value = call.attributes.get(name);
  if (value.kind == lang::AttributeValueKind::Null)
    return std::vector<const Dim*>{};
  std::span<const lang::AttributeValue> items =
      value.kind == lang::AttributeValueKind::List ? value.items : std::span(&value, 1);
  std::vector<const Dim*> shape;
  for (const lang::AttributeValue& item : items) {
    if (item.integer < 0)
      return std::nullopt;
    shape.push_back(call.types.constant(item.integer, item.width == 64));
  }
  return shape;
}

namespace {

template <std::integral T>
std::optional<std::vector<int64_t>> widened(const runtime::Tensor& tensor) {
  std::vector<int64_t> result;
  for (T element : tensor.elements<T>()) {
    if (!std::in_range<int64_t>(element))
      return std::nullopt;
    result.push_back(int64_t(element));
  }
  return result;
}

} // namespace

std::optional<std::vector<int64_t>> integerValues(const runtime::Tensor& tensor) {
  DType dtype = tensor.dtype();
  if (!dtype.isInteger() || dtype.lanes != 1)
    return std::nullopt;
  switch (dtype.bits) {
  case 8:
    return dtype.isSigned() ? widened<int8_t>(tensor) : widened<uint8_t>(tensor);
  case 16:
    return dtype.isSigned() ? widened<int16_t>(tensor) : widened<uint16_t>(tensor);
  case 32:
    return dtype.isSigned() ? widened<int32_t>(tensor) : widened<uint32_t>(tensor);
  case 64:
    return dtype.isSigned() ? widened<int64_t>(tensor) : widened<uint64_t>(tensor);
  default:
    return std::nullopt;
  }
}

lang::Scalar constantOf(const lang::ComputeCall& call, DType dtype, double value) {
  return dtype.isFloat() ? call.number(dtype, value)
                         : lang::cast(call.number(runtime::Float64, value), dtype);
}

} // namespace stdlib

// Reading and writing tensors of any element type as doubles.
#include "runtime/natives/tensor_data.h"

#include <utility>

namespace natives {

using runtime::DType;
using runtime::Tensor;

std::vector<double> readReals(const Tensor& tensor) {
  std::vector<double> values;
  visitElementType(tensor.dtype(), [&]<typename T>(T) {
    for (T element : tensor.elements<T>())
      values.push_back(double(wide(element)));
  });
  return values;
}

void writeReal(Tensor& tensor, int64_t at, double value) {
  visitElementType(tensor.dtype(), [&]<typename T>(T) {
    T& element = tensor.elements<T>()[size_t(at)];
    if constexpr (std::is_same_v<T, runtime::Half>)
      element = T(runtime::floatRoundedToOdd(value));
    else if constexpr (isHalf<T>)
      element = T(float(value));
    else if constexpr (std::is_floating_point_v<T>)
      element = T(value);
    else if (tensor.dtype().isBool())
      element = T(value != 0);
    else
      // Negative values wrap in unsigned types; what does not fit 64 bits becomes zero.
      element = std::abs(value) < 0x1p63 ? T(int64_t(value)) : T(0);
  });
}

int64_t extentTimes(int64_t left, int64_t right) {
  int64_t product;
  if (__builtin_mul_overflow(left, right, &product))
    throw std::bad_alloc();
  return product;
}

bool agree(const runtime::Shape& left, const runtime::Shape& right, size_t first, size_t last) {
  for (size_t i = first; i < last && i < left.size() && i < right.size(); ++i)
    if (left[i] != right[i])
      return false;
  return true;
}

Tensor ownElements(Tensor& tensor) {
  if (tensor.isOnlyOwner())
    return std::move(tensor);
  Tensor copy = Tensor::unwritten(tensor.dtype(), tensor.sharedShape());
  if (copy.byteSize() > 0)
    std::memcpy(copy.bytes(), tensor.bytes(), copy.byteSize());
  return copy;
}

void copyElements(const Tensor& from, int64_t fromAt, Tensor& to, int64_t toAt, int64_t count) {
  size_t width = from.dtype().bytes();
  if (count > 0)
    std::memcpy(to.bytes() + size_t(toAt) * width, from.bytes() + size_t(fromAt) * width,
                size_t(count) * width);
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

std::optional<std::vector<int64_t>> wholeValues(const runtime::Tensor& tensor) {
  if (!tensor.dtype().isFloat())
    return integerValues(tensor);
  std::vector<int64_t> values;
  for (double value : readReals(tensor)) {
    if (!(std::abs(value) < 0x1p62))
      return std::nullopt;
    values.push_back(int64_t(value));
  }
  return values;
}

} // namespace natives

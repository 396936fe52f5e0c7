// Reading and writing tensors of any element type as doubles.
#include "stdlib/ops/kernel_data.h"

namespace stdlib {

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

} // namespace stdlib

// The fill rule in one place; tests hold it to published checksums, which any change of the order
// of roundings would break.
#include "runtime/formats/random_fill.h"

#include "runtime/half.h"

#include <cmath>

#include <fmt/format.h>

namespace formats {

using runtime::Error;
using runtime::guarded;
using runtime::Result;

namespace {

template <typename Stored>
Stored fromDouble(double value) {
  if constexpr (sizeof(Stored) == 2 && !std::is_integral_v<Stored>)
    return Stored(runtime::floatRoundedToOdd(value));
  else
    return Stored(value);
}

template <typename Stored, typename FromUniform>
void fill(runtime::Tensor& tensor, uint64_t seed, uint64_t number, FromUniform fromUniform) {
  uint64_t index = 0;
  for (Stored& element : tensor.elements<Stored>())
    element = fromDouble<Stored>(fromUniform(uniformAt(seed, number, index++)));
}

template <typename Stored>
void fillFloats(runtime::Tensor& tensor, uint64_t seed, uint64_t number) {
  if (tensor.rank() < 2)
    return fill<Stored>(tensor, seed, number, [](double u) { return 0.5 + u; });
  int64_t product = 1;
  if (tensor.size() > 0)
    product = tensor.size() / tensor.shape()[0];
  double scale = std::sqrt(3.0 / double(product));
  fill<Stored>(tensor, seed, number, [=](double u) { return (2.0 * u - 1.0) * scale; });
}

template <typename Stored>
void fillIntegers(runtime::Tensor& tensor, uint64_t seed, uint64_t number) {
  fill<Stored>(tensor, seed, number, [](double u) { return std::floor(u * 10.0); });
}

void fillBools(runtime::Tensor& tensor, uint64_t seed, uint64_t number) {
  fill<uint8_t>(tensor, seed, number, [](double u) { return u >= 0.5 ? 1.0 : 0.0; });
}

void fillByType(runtime::Tensor& tensor, uint64_t seed, uint64_t number) {
  runtime::DType dtype = tensor.dtype();
  if (dtype.isBool())
    return fillBools(tensor, seed, number);
  if (dtype == runtime::BFloat16)
    return fillFloats<runtime::BHalf>(tensor, seed, number);
  if (dtype == runtime::Float16)
    return fillFloats<runtime::Half>(tensor, seed, number);
  if (dtype == runtime::Float32)
    return fillFloats<float>(tensor, seed, number);
  if (dtype == runtime::Float64)
    return fillFloats<double>(tensor, seed, number);
  // 0 to 9 has the same bits in signed and unsigned integers.
  switch (dtype.bits) {
  case 8:
    return fillIntegers<uint8_t>(tensor, seed, number);
  case 16:
    return fillIntegers<uint16_t>(tensor, seed, number);
  case 32:
    return fillIntegers<uint32_t>(tensor, seed, number);
  default:
    return fillIntegers<uint64_t>(tensor, seed, number);
  }
}

} // namespace

double uniformAt(uint64_t seed, uint64_t parameterNumber, uint64_t index) {
  uint64_t hash = seed + parameterNumber * 0x9E3779B97F4A7C15u + index;
  hash = (hash ^ (hash >> 30)) * 0xBF58476D1CE4E5B9u;
  hash = (hash ^ (hash >> 27)) * 0x94D049BB133111EBu;
  hash ^= hash >> 31;
  return double(hash >> 40) / 16777216.0;
}

Result<runtime::Tensor> randomTensor(runtime::DType dtype, runtime::Shape shape, uint64_t seed,
                                     uint64_t parameterNumber) {
  return guarded([&]() -> Result<runtime::Tensor> {
    if (!dtype.isComputable())
      return Error{fmt::format("there is no random fill for the element type `{}`",
                               runtime::dtypeName(dtype))};
    runtime::Tensor tensor(dtype, std::move(shape));
    fillByType(tensor, seed, parameterNumber);
    return tensor;
  });
}

} // namespace formats

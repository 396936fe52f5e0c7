// Sizes are compared before memory is taken, so a lying header cannot ask for more than its file
// holds.
#include "runtime/formats/tensor_bytes.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace formats {

using runtime::Done;
using runtime::Error;
using runtime::guarded;
using runtime::Result;

static_assert(std::endian::native == std::endian::little, "tensor files are little-endian");

std::string shapeText(const runtime::Shape& shape) {
  if (shape.size() == 1)
    return fmt::format("({},)", shape[0]);
  return fmt::format("({})", fmt::join(shape, ", "));
}

Result<Done> checkByteSize(runtime::DType dtype, const runtime::Shape& shape, uint64_t available) {
  if (shape.size() > largestRank)
    return Error{
        fmt::format("the shape has {} dimensions, more than {}", shape.size(), largestRank)};
  auto count = runtime::elementCount(shape);
  constexpr int64_t limit = int64_t(1) << 62;
  if (!count || *count > limit / int64_t(dtype.bytes()))
    return Error{fmt::format("the shape {} of {} passes all sizes, but there are {} bytes",
                             shapeText(shape), runtime::dtypeName(dtype), available)};
  uint64_t needed = uint64_t(*count) * dtype.bytes();
  if (needed != available)
    return Error{fmt::format("the shape {} of {} takes {} bytes, but there are {}",
                             shapeText(shape), runtime::dtypeName(dtype), needed, available)};
  return Done{};
}

Result<runtime::Tensor> tensorFromBytes(runtime::DType dtype, runtime::Shape shape,
                                        std::string_view data) {
  return guarded([&]() -> Result<runtime::Tensor> {
    if (auto checked = checkByteSize(dtype, shape, data.size()); !checked)
      return checked.failure();
    runtime::Tensor tensor(dtype, std::move(shape));
    if (!data.empty())
      std::memcpy(tensor.bytes(), data.data(), data.size());
    if (auto checked = checkBools(tensor); !checked)
      return checked.failure();
    return tensor;
  });
}

std::string_view bytesOf(const runtime::Tensor& tensor) {
  return {reinterpret_cast<const char*>(tensor.bytes()), tensor.byteSize()};
}

Result<Done> checkBools(const runtime::Tensor& tensor) {
  if (!tensor.dtype().isBool())
    return Done{};
  auto elements = tensor.elements<uint8_t>();
  auto wrong = std::find_if(elements.begin(), elements.end(), [](uint8_t b) { return b > 1; });
  if (wrong == elements.end())
    return Done{};
  return Error{fmt::format("element {} of a bool tensor is the byte {}, but must be 0 or 1",
                           wrong - elements.begin(), *wrong)};
}

} // namespace formats

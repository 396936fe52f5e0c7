// Words for faults.
#include "runtime/fault.h"

#include "runtime/shape_text.h"

#include <fmt/format.h>

namespace runtime {

namespace {

std::string byteCountText(DType dtype, std::span<const int64_t> shape) {
  uint64_t bytes = dtype.bytes();
  for (int64_t extent : shape)
    if (__builtin_mul_overflow(bytes, uint64_t(extent), &bytes))
      return "2^64 or more";
  return fmt::format("{}", bytes);
}

} // namespace

Fault memoryFault(DType dtype, std::span<const int64_t> shape) {
  return {FaultKind::Memory, fmt::format("out of memory: {} bytes for a tensor of {}",
                                         byteCountText(dtype, shape), shapeText(dtype, shape))};
}

std::string shapeText(DType dtype, std::span<const int64_t> shape) {
  return fmt::format("shape {} and type {}", shapeText(shape), dtypeName(dtype));
}

} // namespace runtime

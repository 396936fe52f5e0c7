// Words for faults.
#include "runtime/fault.h"

#include "runtime/shape_text.h"

namespace runtime {

namespace {

std::string byteCountText(DType dtype, std::span<const int64_t> shape) {
  uint64_t bytes = dtype.bytes();
  for (int64_t extent : shape)
    if (__builtin_mul_overflow(bytes, uint64_t(extent), &bytes))
      return "2^64 or more";
  return std::to_string(bytes);
}

} // namespace

Fault memoryFault(DType dtype, std::span<const int64_t> shape) {
  return {FaultKind::Memory, "out of memory: " + byteCountText(dtype, shape) +
                                 " bytes for a tensor of " + shapeText(dtype, shape)};
}

std::string shapeText(DType dtype, std::span<const int64_t> shape) {
  return "shape " + shapeText(shape) + " and type " + dtypeName(dtype);
}

} // namespace runtime

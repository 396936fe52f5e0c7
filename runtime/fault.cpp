// Words for faults.
#include "runtime/fault.h"

#include "runtime/shape_text.h"

#include <algorithm>

namespace runtime {

Fault memoryFault(DType dtype, std::span<const int64_t> shape) {
  double bytes = double(dtype.bytes());
  for (int64_t extent : shape)
    bytes *= double(extent);
  return {FaultKind::Memory, "out of memory: " + std::to_string(uint64_t(std::min(bytes, 1e19))) +
                                 " bytes for a tensor of " + shapeText(dtype, shape)};
}

std::string shapeText(DType dtype, std::span<const int64_t> shape) {
  return "shape " + shapeText(shape) + " and type " + dtypeName(dtype);
}

} // namespace runtime

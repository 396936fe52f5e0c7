// The words for a read outside of a tensor, which every engine uses.
#pragma once

#include <cstdint>
#include <fmt/format.h>
#include <string>

namespace tensor {

/// In an empty dimension it is no matter which index was asked for, and indices that are clipped to
/// it are none that anybody wrote.
inline std::string outsideText(int64_t index, size_t axis, int64_t extent) {
  if (extent == 0)
    return fmt::format("axis {} has extent 0, so there is no element to read", axis);
  return fmt::format("index {} is outside axis {} of extent {}", index, axis, extent);
}

} // namespace tensor

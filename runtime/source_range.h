// A place in source texts, as a number.
#pragma once

#include <cstdint>

namespace runtime {

/// A half-open range of bytes in an address space that all texts share. Offset 0 belongs to no
/// text, so a default range means "nowhere".
struct SourceRange {
  uint32_t begin = 0;
  uint32_t end = 0;

  bool isValid() const { return begin != 0; }
  friend bool operator==(SourceRange, SourceRange) = default;
};

} // namespace runtime

// What values hold, counted as they are made and released.
#pragma once

#include <cstdint>

namespace runtime {

/// The values of one thread that live, the bytes of their tensors, where a tensor that several
/// values show counts for each, and all bytes that count for the limit to memory, if there is one.
struct Holdings {
  int64_t values = 0;
  int64_t tensorBytes = 0;
  int64_t bytes = 0;
};

/// What the values that this thread made and has not released hold now. After a run has given up
/// all that it had, more than before the run is what cycles through references keep.
Holdings held();

} // namespace runtime

// What values hold, counted as they are made and released.
#pragma once

#include <cstdint>

namespace runtime {

/// The values of one thread that live, and the bytes of their tensors; a tensor that several values
/// show counts for each.
struct Holdings {
  int64_t values = 0;
  int64_t tensorBytes = 0;
};

/// What the values that this thread made and has not released hold now. After a run has given up
/// all that it had, more than before the run is what cycles through references keep.
Holdings held();

} // namespace runtime

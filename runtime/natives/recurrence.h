// A linear recurrence along a dimension: each element is a factor times the one before, plus a
// term.
#pragma once

#include "runtime/natives/parameters.h"

namespace natives {

struct RecurrenceParameters {
  size_t axis;
  bool isReverse;

  void list(auto& each) { each(axis, isReverse); }
};

extern const NativeOf<RecurrenceParameters> linearRecurrence;

} // namespace natives
